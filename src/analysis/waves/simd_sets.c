/* SPDX-License-Identifier: Apache-2.0 */
/* simd_sets.c: sets of intervals by SIMD, which workers hand in and which are freed when complete. */
#include "analysis/waves/simd_sets.h"

#include <pthread.h>

#include "base/mem.h"

struct simd_open {
	pthread_mutex_t lock;
	uint32_t n_left;    /* tracks not yet handed in */
	struct spans *sets; /* NULL: nothing handed in yet, or done */
};

static void free_sets(const struct simd_sets *s, struct spans *sets)
{
	for (unsigned i = 0; sets && i < s->n_kinds; i++)
		spans_deinit(&sets[i]);
	mem_free(sets);
}

bool simd_sets_init(struct simd_sets *s, uint32_t n_tracks)
{
	s->open = mem_zalloc((size_t)s->n_groups + 1, sizeof(*s->open));
	if (!s->open)
		return false;
	for (uint32_t i = 0; i < s->n_groups; i++)
		pthread_mutex_init(&s->open[i].lock, NULL);
	for (track_idx i = 0; s->n_groups && i < n_tracks; i++)
		s->open[s->group[i]].n_left++;
	return true;
}

void simd_sets_deinit(struct simd_sets *s)
{
	for (uint32_t i = 0; s->open && i < s->n_groups; i++) {
		free_sets(s, s->open[i].sets);
		pthread_mutex_destroy(&s->open[i].lock);
	}
	mem_free(s->open);
	s->open = NULL;
}

static bool finish_group(struct simd_sets *s, uint32_t group)
{
	struct spans *sets = s->open[group].sets;
	bool ok = s->done(s->self, group, sets);

	s->open[group].sets = NULL;
	free_sets(s, sets);
	return ok;
}

bool simd_sets_hand_in(struct simd_sets *s, struct simd_worker *w)
{
	struct simd_open *o = &s->open[w->group];
	bool ok = true, is_last;

	if (!w->sets)
		return true;
	pthread_mutex_lock(&o->lock);
	if (!o->sets) {
		o->sets = w->sets;
		w->sets = NULL;
	}
	for (unsigned i = 0; ok && w->sets && i < s->n_kinds; i++)
		ok = spans_merge(&o->sets[i], &w->sets[i]);
	o->n_left -= w->n_tracks;
	is_last = o->n_left == 0;
	pthread_mutex_unlock(&o->lock);
	simd_worker_deinit(s, w);
	return ok && (!is_last || finish_group(s, (uint32_t)(o - s->open)));
}

void simd_worker_deinit(const struct simd_sets *s, struct simd_worker *w)
{
	free_sets(s, w->sets);
	*w = (struct simd_worker){0};
}

struct spans *simd_sets_of(struct simd_sets *s, struct simd_worker *w, track_idx track)
{
	if (w->sets && w->group != s->group[track] && !simd_sets_hand_in(s, w))
		return NULL;
	if (!w->sets) {
		w->sets = mem_zalloc((size_t)s->n_kinds, sizeof(*w->sets));
		for (unsigned i = 0; w->sets && i < s->n_kinds; i++)
			w->sets[i].is_flat = s->is_flat;
	}
	w->group = s->group[track];
	w->n_tracks++;
	return w->sets;
}

bool simd_sets_finish(struct simd_sets *s)
{
	for (uint32_t i = 0; i < s->n_groups; i++)
		if (s->open[i].sets && !finish_group(s, i))
			return false;
	return true;
}
