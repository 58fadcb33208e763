/* SPDX-License-Identifier: Apache-2.0 */
/* advise.c: the list that rules add to. */
#include "analysis/advise/advise_internal.h"
#include "base/search.h"

void advise_add_row(struct advice *a, code_idx row)
{
	for (uint32_t i = 0; i < a->n_rows; i++)
		if (a->rows[i] == row)
			return;
	a->n_found++;
	if (a->n_rows < ADVISE_PLACES)
		a->rows[a->n_rows++] = row;
}

void advise_ask_row(struct advise_list *l, struct advice *a, code_idx row)
{
	if (a->n_asked == a->asked_cap) {
		uint32_t cap = a->asked_cap ? 2 * a->asked_cap : 16;
		code_idx *v = arena_zalloc(l->arena, cap, sizeof(*v));

		if (!v) {
			a->is_failed = true;
			return;
		}
		if (a->n_asked)
			memcpy(v, a->asked, a->n_asked * sizeof(*v));
		a->asked = v;
		a->asked_cap = cap;
	}
	a->asked[a->n_asked++] = row;
}

/* Each once, in the order of the code. */
static void sort_asked(struct advice *a)
{
	uint32_t n = 0;

	SORT(a->asked, a->n_asked, compare_u32);
	for (uint32_t i = 0; i < a->n_asked; i++)
		if (!n || a->asked[n - 1] != a->asked[i])
			a->asked[n++] = a->asked[i];
	a->n_asked = n;
}

const char *advise_question_name(enum advise_question q)
{
	static const char *const names[] = {
		"", "ahead", "faster", "remove", "waves", "even", "sooner"};

	return names[q];
}

bool advise_add(struct advise_list *l, const struct advice *a, const struct strbuf *evidence)
{
	char *text = evidence->failed ? NULL : arena_strdup(l->arena, evidence->p);

	if (!text || a->is_failed || !VEC_PUSH(l, *a))
		return false;
	sort_asked(&l->v[l->n - 1]);
	l->v[l->n - 1].evidence = text;
	return true;
}

ORDER(by_exposed, struct advice, DOWN(exposed_cyc) UP(rule))

void advise_sort(struct advise_list *l)
{
	SORT(l->v, l->n, by_exposed);
	l->n = l->n < ADVISE_MOST ? l->n : ADVISE_MOST;
}

void advise_list_deinit(struct advise_list *l)
{
	VEC_FREE(l);
}
