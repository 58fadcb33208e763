/* SPDX-License-Identifier: Apache-2.0 */
/* busy.c: the union of issue intervals of each SIMD. */
#include "analysis/waves/busy.h"

#include <string.h>

#include "base/mem.h"
#include "trace/account.h"

static int busy_simd_level(const struct trace *t)
{
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++)
		if (strcmp(t->levels[i], "simd") == 0)
			return i;
	return -1;
}

/* Tracks are sorted by coordinates, so the waves of a SIMD are adjacent. */
static void number_groups(struct busy *b, int level)
{
	const struct trace *t = b->trace;

	for (uint32_t i = 0; i < t->n_tracks; i++) {
		bool is_new = i == 0;

		for (int k = 0; k <= level && !is_new; k++)
			is_new = t->tracks[i].coord[k] != t->tracks[i - 1].coord[k];
		b->n_groups += is_new;
		b->group[i] = b->n_groups - 1;
	}
}

struct busy *busy_new(const struct trace *t, struct incore_error *e)
{
	struct busy *b = mem_zalloc(1, sizeof(*b));
	int level = busy_simd_level(t);

	if (b) {
		b->trace = t;
		b->has_groups = level >= 0;
		b->group = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*b->group));
		if (b->group && b->has_groups)
			number_groups(b, level);
		b->sets = mem_zalloc((size_t)b->n_groups + 1, sizeof(*b->sets));
		if (b->group && b->sets)
			return b;
	}
	busy_free(b);
	return err_nomem_null(e);
}

void busy_free(struct busy *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; b->sets && i < b->n_groups; i++)
		spans_deinit(&b->sets[i]);
	mem_free(b->sets);
	mem_free(b->group);
	mem_free(b);
}

static bool busy_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct busy *b = self;
	struct spans *set = simd_sets_of(&b->at_hand, mine, w->idx);
	struct account a;

	if (!set)
		return err_nomem(e);
	for (account_begin(&a, w->data, w->from_cyc, w->to_cyc); account_next(&a);)
		if (a.issue_cyc && class_is_busy(w->data->inst_class[a.i]) &&
			!spans_add(set, a.at.issue, a.at.end))
			return err_nomem(e);
	return true;
}

static bool busy_merge(void *self, void *mine, struct incore_error *e)
{
	return simd_sets_hand_in(&((struct busy *)self)->at_hand, mine) || err_nomem(e);
}

static void busy_worker_deinit(void *self, void *mine)
{
	simd_worker_deinit(&((struct busy *)self)->at_hand, mine);
}

static bool keep_union(void *self, uint32_t group, struct spans *sets)
{
	struct busy *b = self;

	b->sets[group] = *sets;
	*sets = (struct spans){0};
	return spans_index(&b->sets[group]);
}

/* A shallow copy of `in` (may be NULL) without its slot, wave and kernel filters; never freed. */
static struct selection busy_selection(const struct selection *in, const struct trace *t)
{
	struct selection s = {0};
	int level = busy_simd_level(t);

	if (!in)
		return s;
	s = *in;
	for (int i = level + 1; i < TRACK_LEVELS; i++)
		s.level[i] = (struct number_set){0};
	s.kernel_ids = (struct number_set){0};
	s.has_kernel_filter = false;
	return s;
}

bool busy_walk(struct busy *b, const struct walk_options *o, struct incore_error *e)
{
	struct selection wide = busy_selection(o->selection, b->trace);
	struct walk_options wo = {.selection = &wide, .pool = o->pool, .progress = o->progress};
	struct collector c = {
		b, sizeof(struct simd_worker), NULL, busy_track, busy_merge, busy_worker_deinit};
	const struct collector *list[] = {&c};
	struct walk_result r;
	bool ok;

	if (!b->has_groups)
		return true;
	b->at_hand = (struct simd_sets){.self = b,
		.done = keep_union,
		.n_kinds = 1,
		.group = b->group,
		.n_groups = b->n_groups};
	if (!simd_sets_init(&b->at_hand, b->trace->n_tracks))
		return err_nomem(e);
	ok = walk_tracks(b->trace, &wo, list, 1, &r, e);
	if (ok)
		walk_result_deinit(&r); /* the second walk reports damaged tracks */
	ok = ok && (simd_sets_finish(&b->at_hand) || err_nomem(e));
	simd_sets_deinit(&b->at_hand);
	return ok;
}

void busy_view_init(struct busy_view *v, const struct busy *b, track_idx track)
{
	*v = (struct busy_view){0};
	if (!b || !b->has_groups || !b->sets[b->group[track]].once.lengths)
		return;
	v->once.list = &b->sets[b->group[track]].once;
	v->twice.list = &b->sets[b->group[track]].twice;
}
