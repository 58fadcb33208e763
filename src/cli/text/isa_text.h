/* SPDX-License-Identifier: Apache-2.0 */
/* isa_text.h: the annotated listing as text, for cmd_isa.c alone. */
#pragma once

#include "analysis/code/listing.h"
#include "cli/cli.h"

struct isa_text {
	const struct cli *cli; /* width and colour */
	const struct listing *listing;
	const uint8_t *shown; /* by code_idx */
	uint32_t n_notes;
	bool is_ascii;
};

/* Appends the listing; *hottest_line is the output line of the hottest row shown, 1-based, 0 if
 * none. */
bool isa_text_make(const struct isa_text *t, struct strbuf *out, unsigned *hottest_line,
	struct incore_error *e);
