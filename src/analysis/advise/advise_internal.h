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
};

struct advise_hits {
	struct advise_hit *v;
	size_t n, cap;
};

/* A row of it; what does not fit is counted. */
void advise_add_row(struct advice *a, code_idx row);
/* A row that is asked about; of more than fit the costliest. */
void advise_ask_row(struct advice *a, code_idx row);
/* Copies it with the evidence; false on lack of memory. */
bool advise_add(struct advise_list *l, const struct advice *a, const struct strbuf *evidence);
/* Descending by exposed cycles; ADVISE_MOST stay. */
void advise_sort(struct advise_list *l);
