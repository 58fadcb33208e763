/* SPDX-License-Identifier: Apache-2.0 */
/* isa_listing.h: the annotated listing, as text with style marks. */
#pragma once

#include "answer/isa.h"

/*
 * Appends the rows that the answer shows, with cycles as the mean of n_waves (0: sums of all) and
 * n_notes in the footer. *hottest_line is the line of the hottest row, from 1; 0: none.
 */
bool isa_listing_make(const struct isa_answer *a, uint64_t n_waves, uint32_t n_notes,
	struct strbuf *out, unsigned *hottest_line, struct incore_error *e);
