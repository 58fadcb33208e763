/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested.c: a timeline as a profile: the self cycles of each stack of slices. A slice of a lane
 * lies inside the slice that the lane above in its thread has at that time; its cycles are
 * subtracted from the outer slice. So the stacks of a thread add up to its outermost slices.
 */
#include "base/map.h"
#include "export/profile/profile.h"
#include "export/writer.h"

#define NO_STACK UINT32_MAX

struct stack {
	uint32_t parent;
	code_idx code;
	uint64_t self_cyc, hits;
};

struct nesting {
	const struct export *x;
	VEC(struct stack) stacks;
	struct u64_map at; /* parent, code -> index + 1 */
	/* Stacks by slice, for the lane above and the current one; swapped after each lane. */
	VEC(uint32_t) above, here;
	struct track_data data[2];
};

static uint32_t stack_of(struct nesting *g, uint32_t parent, code_idx code)
{
	uint64_t *at = u64_map_at(&g->at, (uint64_t)parent << 32 | code);

	if (!at)
		return NO_STACK;
	if (*at == 0) {
		if (g->stacks.n >= NO_STACK ||
			!VEC_PUSH(&g->stacks, (struct stack){.parent = parent, .code = code}))
			return NO_STACK;
		*at = g->stacks.n;
	}
	return (uint32_t)(*at - 1);
}

/* Adds the slices of a lane, each inside a slice of `up`, the lane above; NULL: outermost lane. */
static bool add_lane(struct nesting *g, const struct track_data *d, const struct track_data *up)
{
	uint64_t covered = 0; /* cycles before this are already counted */
	uint32_t k = 0;

	g->here.n = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		uint64_t from = d->start_cyc[i] > covered ? d->start_cyc[i] : covered;
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i], up_end = end;
		uint32_t parent = NO_STACK, mine;

		while (up && k + 1 < up->n && up->start_cyc[k + 1] <= d->start_cyc[i])
			k++;
		if (up && up->n && up->start_cyc[k] <= d->start_cyc[i]) {
			parent = g->above.v[k];
			up_end = up->start_cyc[k] + up->dur_cyc[k];
		}
		end = end < up_end ? end : up_end;
		covered = end > from ? end : from;
		mine = stack_of(g, parent, d->code[i]);
		if (mine == NO_STACK || !VEC_PUSH(&g->here, mine))
			return false;
		if (parent != NO_STACK)
			g->stacks.v[parent].self_cyc -= covered - from;
		g->stacks.v[mine].self_cyc += covered - from;
		g->stacks.v[mine].hits++;
	}
	return true;
}

static bool add_thread(
	struct nesting *g, track_idx first, track_idx end, struct export *x, struct incore_error *e)
{
	for (track_idx i = first; i < end; i++) {
		struct track_data *d = &g->data[i & 1], *up = &g->data[~i & 1];

		if (!trace_load_track(x->trace, i, 0, d, e))
			return false;
		if (!add_lane(g, d, i > first ? up : NULL))
			return err_nomem(e);
		VEC_FREE(&g->above);
		g->above.v = g->here.v;
		g->above.n = g->here.n;
		g->above.cap = g->here.cap;
		g->here.v = NULL;
		g->here.n = g->here.cap = 0;
		x->result->n_slices += d->n;
	}
	return true;
}

static bool put_lines(struct profile *p, const struct nesting *g, struct incore_error *e)
{
	for (size_t i = 0; i < g->stacks.n; i++) {
		const struct stack *s = &g->stacks.v[i];
		struct profile_line l = {
			.code = s->code, .cause = "self", .cyc = s->self_cyc, .hits = s->hits};

		l.first_caller = (uint32_t)p->callers.n;
		for (uint32_t k = s->parent; k != NO_STACK; k = g->stacks.v[k].parent)
			if (!VEC_PUSH(&p->callers, (struct frame){g->stacks.v[k].code, 0}))
				return err_nomem(e);
		l.n_callers = (uint32_t)p->callers.n - l.first_caller;
		p->total += l.cyc;
		if (!VEC_PUSH(&p->lines, l))
			return err_nomem(e);
	}
	return true;
}

bool profile_nested(struct profile *p, struct export *x, struct incore_error *e)
{
	const struct selection *s = x->options->walk.selection;
	const struct trace *t = x->trace;
	struct nesting g = {.x = x};
	bool ok = true;

	if (s && !selection_is_all(s))
		return err_set(e, INCORE_USAGE, "whole-capture",
			"%s of a timeline has all of it: its slices are nested", x->ops->name);
	for (track_idx i = 0, end; ok && i < t->n_tracks; i = end) {
		for (end = i + 1; end < t->n_tracks &&
				  t->tracks[end].coord[0] == t->tracks[i].coord[0] &&
				  t->tracks[end].coord[1] == t->tracks[i].coord[1];)
			end++;
		ok = add_thread(&g, i, end, x, e);
	}
	x->result->n_tracks = t->n_tracks;
	ok = ok && put_lines(p, &g, e);
	track_data_deinit(&g.data[0]);
	track_data_deinit(&g.data[1]);
	VEC_FREE(&g.stacks);
	VEC_FREE(&g.above);
	VEC_FREE(&g.here);
	u64_map_deinit(&g.at);
	return ok;
}
