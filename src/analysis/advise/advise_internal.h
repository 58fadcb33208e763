/* SPDX-License-Identifier: Apache-2.0 */
/* advise_internal.h: what the rules of waves and of pipes share. */
#pragma once

#include "analysis/advise/advise.h"
#include "base/vec.h"

#define ADVISE_LEAST 0.01 /* of all lifetimes, exposed: below, nothing is said */

struct advise_hit { /* one cause on one row that a rule takes */
	enum advise_rule_id rule;
	code_idx code, of;
	uint32_t cause;
	uint64_t cyc, exposed_cyc, hits;
	uint64_t line, line_cyc; /* of samples: its source line, and what all hits of the rule in it
				    are exposed for */
};

struct advise_hits {
	struct advise_hit *v;
	size_t n, cap;
};

struct blame { /* edges by waiting row, the costliest first */
	const struct summary *s;
	uint32_t *first, *next; /* position + 1 */
	uint32_t n_sampled;	/* rows with samples */
};

/* A row of it; what does not fit is counted. */
void advise_add_row(struct advice *a, code_idx row);
/* A row that is asked about; of more than fit the costliest. */
void advise_ask_row(struct advice *a, code_idx row);
/* Copies it with the evidence; false on lack of memory. */
bool advise_add(struct advise_list *l, const struct advice *a, const struct strbuf *evidence);
/* The share of all lifetimes that a rule needs to speak. */
double advise_least(enum advise_rule_id rule, bool is_sampled);
/* The question for the hits of a rule, the costliest first; false on lack of memory. */
bool advise_ask(const struct blame *b, const struct advise_hit *h, size_t n, struct arena *arena,
	struct advice *a);
/* Descending by exposed cycles; ADVISE_MOST stay. */
void advise_sort(struct advise_list *l);
