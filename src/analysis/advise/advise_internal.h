/* SPDX-License-Identifier: Apache-2.0 */
/* advise_internal.h: shared by the rules for waves and the rules for pipes. */
#pragma once

#include "analysis/advise/advise.h"
#include "base/vec.h"

#define ADVISE_LEAST 0.01 /* least exposed share of all lifetimes that is worth advice */

struct advise_hit { /* one cause on one row that matches a rule */
	enum advise_rule_id rule;
	code_idx code, of;
	uint32_t cause;
	uint64_t cyc, exposed_cyc, hits;
	uint64_t line, line_cyc; /* sampled data: its source line, and the exposed cycles of all
				    hits of the rule in that line */
};

struct advise_hits {
	struct advise_hit *v;
	size_t n, cap;
};

struct blame { /* edges by waiting row, costliest first */
	const struct summary *s;
	uint32_t *first, *next; /* position + 1 */
	uint32_t n_sampled;	/* rows with samples */
};

/* Adds a row to the advice; rows that do not fit are only counted. */
void advise_add_row(struct advice *a, code_idx row);
/* Adds a row to ask whatif about, the costliest first. Lack of memory shows in advise_add(). */
void advise_ask_row(struct advise_list *l, struct advice *a, code_idx row);
/* Adds a copy of the advice and its evidence; false on lack of memory. */
bool advise_add(struct advise_list *l, const struct advice *a, const struct strbuf *evidence);
/* Sorts descending by exposed cycles and keeps the first ADVISE_MOST. */
void advise_sort(struct advise_list *l);
