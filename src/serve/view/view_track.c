/* SPDX-License-Identifier: Apache-2.0 */
/* view_track.c: makes a track from the columns, and finds what its waits waited for. */
#include "serve/view/view_track.h"

#include "base/mem.h"
#include "base/search.h"

bool view_track_load(const struct view *v, const struct wait_tables *tables, track_idx track,
	struct view_track *k, struct incore_error *e)
{
	const struct columns *c = v->columns;
	struct track_data *d = &k->data;
	struct walk_track w = {.trace = v->trace,
		.idx = track,
		.track = &v->trace->tracks[track],
		.data = d,
		.to_cyc = UINT64_MAX};
	uint32_t n = columns_count(c, track);

	track_data_reset(d);
	if (!track_data_reserve(d, n))
		return err_nomem(e);
	for (uint32_t x = c->first_lane[track]; x < c->first_lane[track + 1]; x++) {
		const struct lane *l = &c->lanes[x];

		d->begin_cyc = l->begin_cyc;
		d->end_cyc = l->end_cyc;
		if (l->n == 0)
			continue;
		for (uint32_t i = 0; i < l->n; i++)
			d->start_cyc[d->n + i] = lane_start(l, i);
		memcpy(d->dur_cyc + d->n, l->dur, l->n * sizeof(*l->dur));
		memcpy(d->stall_cyc + d->n, l->stall, l->n * sizeof(*l->stall));
		memcpy(d->code + d->n, l->code, l->n * sizeof(*l->code));
		for (uint32_t i = 0; i < l->n; i++)
			d->inst_class[d->n + i] = class_plain(l->inst_class[i]);
		memcpy(d->tag + d->n, l->tag, l->n);
		d->n += l->n;
	}
	for (uint32_t i = 0; i < d->n; i++) {
		if (d->code[i] >= v->trace->n_code)
			d->code[i] = NO_CODE;
		if (d->inst_class[i] >= CLASS_COUNT)
			d->inst_class[i] = CLASS_OTHER;
	}
	k->waits.events.n = 0;
	return !tables || tables->gfx_major == 0 || waits_resolve(&k->waits, tables, &w, 0, e);
}

void view_track_deinit(struct view_track *k)
{
	waits_deinit(&k->waits);
	track_data_deinit(&k->data);
}

const struct wait_event *view_track_wait(const struct view_track *k, uint32_t slice)
{
	size_t lo = 0, hi = k->waits.events.n;

	BISECT(lo, hi, i, k->waits.events.v[i].slice < slice);
	if (lo < k->waits.events.n && k->waits.events.v[lo].slice == slice)
		return &k->waits.events.v[lo];
	return NULL;
}

enum cause_family slice_stall_family(enum inst_class c, const struct wait_event *ev)
{
	if (c == CLASS_FLAG_WAIT || c == CLASS_SYNC)
		return FAMILY_SYNC;
	if (cause_of_stall(c) == CAUSE_PIPE_STALL)
		return cause_family_of_stall(c);
	return cause_family_of(cause_of_stall(c), ev ? ev->key : 0);
}

void slice_buckets(
	const struct view *v, const struct lane *l, uint32_t i, uint64_t sums[BUCKET_COUNT])
{
	struct pieces p = pieces_cut(lane_pieces_of(l, i), 0, lane_end(l));
	enum inst_class c = class_plain(l->inst_class[i]);
	uint64_t end = l->base_cyc + p.end;

	sums[BUCKET_IDLE] += p.stall - p.gap;
	sums[class_stall_bucket(c)] += p.issue - p.stall;
	sums[class_issue_bucket(c)] += p.end - p.issue;
	if (l->first + i + 1 == columns_count(v->columns, l->track) && l->end_cyc > end)
		sums[BUCKET_IDLE] += l->end_cyc - end;
}
