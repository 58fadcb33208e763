/* SPDX-License-Identifier: Apache-2.0 */
/* cause_sums.c: the cause family of each piece of each slice, then sums of them. */
#include "base/mem.h"
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"

/* Cause family of the issue of a slice, by class; classes not listed are useful work. */
static const uint8_t issue_families[256] = {
	[CLASS_DRAIN] = FAMILY_MEMORY, [CLASS_FLAG_WAIT] = FAMILY_SYNC, [CLASS_SYNC] = FAMILY_SYNC};

static void fill(const struct view_track *k, uint8_t *keys)
{
	const struct track_data *d = &k->data;
	size_t ev = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		const struct wait_event *hit = NULL;

		while (ev < k->waits.events.n && k->waits.events.v[ev].slice < i)
			ev++;
		if (ev < k->waits.events.n && k->waits.events.v[ev].slice == i)
			hit = &k->waits.events.v[ev];
		keys[i] = (uint8_t)(cause_family_of(cause_of_gap(d, i), 0) << 4 |
				    slice_stall_family(d->inst_class[i], hit));
	}
}

bool cause_sums_make(struct view *v, struct incore_error *e)
{
	const struct columns *c = v->columns;
	struct split_sums *s = &v->index->cause;
	struct view_track k = {0};
	uint64_t at = 0;
	bool ok = true;

	s->splits = mem_zalloc((size_t)c->n_lanes + 1, sizeof(*s->splits));
	s->keys = mem_alloc((size_t)c->n_slices + 1);
	if (!s->splits || !s->keys)
		return err_nomem(e);
	for (track_idx t = 0; ok && t < c->n_tracks; t++) {
		ok = view_track_load(v, v->index->waits, t, &k, e);
		if (!ok)
			break;
		fill(&k, s->keys + at);
		for (uint32_t x = c->first_lane[t]; x < c->first_lane[t + 1]; x++) {
			s->splits[x] = (struct lane_split){.mode = SPLIT_CAUSE,
				.width = SPLIT_WIDTH,
				.is_pipe = v->has_pipes,
				.keys = s->keys + at,
				.issue_key = issue_families,
				.tail_key = FAMILY_LAUNCH};
			at += c->lanes[x].n;
		}
	}
	view_track_deinit(&k);
	return ok && (split_sums_build(s, c) || err_nomem(e));
}
