/* SPDX-License-Identifier: Apache-2.0 */
/* isa_text.h: the annotated listing as text, for cmd_isa.c alone. */
#ifndef CLI_TEXT_ISA_TEXT_H
#define CLI_TEXT_ISA_TEXT_H

#include "analysis/code/listing.h"
#include "cli/cli.h"

struct isa_text {
	const struct cli *cli; /* width and colour */
	const struct listing *listing;
	const uint8_t *shown; /* by code_idx */
	uint32_t n_notes;
	uint64_t n_waves; /* figures of the mean of so many; 0: of all together */
	bool is_ascii;
};

/* Appends the listing; *hottest_line is the output line of the hottest row shown, 1-based, 0 if
 * none. */
bool isa_text_make(const struct isa_text *t, struct strbuf *out, unsigned *hottest_line,
	struct incore_error *e);

#endif
