/* SPDX-License-Identifier: Apache-2.0 */
/* report_code.h: what a written report says of the code: the costliest rows among their
 * neighbours, stall reasons of samples, which addresses belong to which source line. Figures are
 * those of `incore isa` and `incore summary`. */
#pragma once

#include "cli/cli.h"
#include "serve/report/report.h"

#define REPORT_TOP_ROWS 5u

struct report_code {
	struct report_cost *costs; /* by code row of the trace */
	uint64_t all_cost;
	const char *unit;
	int64_t top[REPORT_TOP_ROWS]; /* the producer's numbers, costliest first */
	unsigned n_top;
	struct strbuf text;
};

/* From the answers isa and summary. */
bool report_code_make(struct report_code *p, const struct trace *t, const struct answer *isa,
	const struct answer *summary, struct incore_error *e);
void report_code_deinit(struct report_code *p);

/* Facts on the report itself: how to make it again, from what, by which version. */
bool report_again_make(struct cli *c, const struct view *v, struct strbuf *out);
