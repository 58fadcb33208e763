/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_counters.c: checks cross-core counters at the end. Sets that nobody waited for do not
 * depend on the times; a counter overflow does depend on the estimated times.
 */
#include "model/engine/engine_cross.h"

#define COUNTER_MAX 15u
#define SHARED_IDS 16u /* an AIV has no others */

struct counter { /* counter of one core, and the cores whose sets it counts */
	const struct core *c;
	unsigned id, n_from;
	struct xsource from[BLOCK_CORES];
};

/* The k-th set that it counts, i.e. the latest of the k-th sets of its sources; or NULL. */
static const struct fired *kth_set(const struct engine *g, const struct counter *n, size_t k)
{
	const struct fired *last = NULL;

	for (unsigned i = 0; i < n->n_from; i++) {
		const struct xflag *x = &g->cores[n->from[i].core].x[n->from[i].id];

		if (x->fired.n <= k)
			return NULL;
		if (!last || x->fired.v[k].cyc > last->cyc)
			last = &x->fired.v[k];
	}
	return last;
}

static struct finding_op op_of(const struct engine *g, const struct fired *f)
{
	return (struct finding_op){g->out->cores.v[f->lane / ENGINE_PIPES].stream, f->op,
		(uint8_t)(f->lane % ENGINE_PIPES)};
}

/* Returns the finding about the set; starts its text if it is new. */
static struct model_finding *begin(
	struct engine *g, enum finding_kind kind, const struct fired *set, struct strbuf *text)
{
	struct finding_op a = op_of(g, set), none = {0, NO_OP, 0};
	struct model_finding *x = finding_add(g->out, g->set, kind, &a, &none);

	if (x && !x->message)
		finding_put_op(g->set, &a, text);
	return x;
}

static bool end(struct engine *g, struct model_finding *x, struct strbuf *text)
{
	x->message = text->failed ? NULL : arena_strdup(&g->out->arena, text->p);
	sb_free(text);
	return x->message ? true : err_nomem(g->e);
}

static bool check_left(struct engine *g, const struct counter *n)
{
	size_t waits = n->c->x[n->id].taken.n, sets = waits;
	const struct fired *first = kth_set(g, n, waits);
	struct model_finding *x;
	struct strbuf text = {0};

	if (!first)
		return true;
	while (kth_set(g, n, sets))
		sets++;
	x = begin(g, FIND_LEFT_SET, first, &text);
	if (!x)
		return err_nomem(g->e);
	if (x->message)
		return true;
	sb_printf(&text,
		" leaves cross-core id %u set at exit: %s counts %zu sets and %zu waits; what is left would reach the next kernel on that core",
		n->id, opstream_core_name(n->c->s), sets, waits);
	return end(g, x, &text);
}

static bool check_full(struct engine *g, const struct counter *n)
{
	const struct xflag *own = &n->c->x[n->id];
	const struct fired *set;

	for (size_t k = COUNTER_MAX; (set = kth_set(g, n, k)); k++) {
		size_t due = k - COUNTER_MAX; /* this wait must have made room */
		struct strbuf text = {0};
		struct model_finding *x;

		if (due < own->taken.n && own->taken.v[due] <= set->cyc)
			continue;
		x = begin(g, FIND_COUNTER_FULL, set, &text);
		if (!x)
			return err_nomem(g->e);
		if (x->message)
			return true;
		sb_printf(&text,
			" is set number %zu of cross-core id %u, and %s has waited %zu times by then (at these times): a counter holds at most %u",
			k + 1, n->id, opstream_core_name(n->c->s),
			due < own->taken.n ? due : own->taken.n, COUNTER_MAX);
		return end(g, x, &text);
	}
	return true;
}

bool engine_counters(struct engine *g)
{
	for (uint32_t i = 0; i < g->n_cores; i++) {
		struct counter n = {.c = &g->cores[i]};
		unsigned ids = n.c->s->core == CORE_AIC ? N_XIDS : SHARED_IDS;

		for (; n.c->is_done && n.id < ids; n.id++) {
			n.n_from = engine_xsources(g, n.c, n.id, n.from);
			if (!check_left(g, &n) || !check_full(g, &n))
				return false;
		}
	}
	return true;
}
