/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_code.h: the part of a static report about the code: the costliest rows and the rows around
 * them, stall reasons of samples, addresses of each source line. Figures are those of `incore isa`
 * and `incore summary`. Owner: report_code_deinit() frees.
 */
#pragma once

#include "serve/report/report.h"

#define REPORT_TOP_ROWS 5u

struct report_code {
	struct report_cost *costs; /* by code row of the trace */
	uint64_t all_cost;
	const char *unit;
	int64_t top[REPORT_TOP_ROWS]; /* the producer's numbers, costliest first */
	unsigned n_top;
};

/* Takes the figures from the answers isa and summary, and writes them to the page. */
bool report_code_make(struct report_code *x, const struct trace *t, const struct answer *isa,
	const struct answer *summary, struct page *p, struct incore_error *e);
void report_code_deinit(struct report_code *x);
