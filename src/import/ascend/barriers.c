/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barriers.c: finds the instruction that a barrier waited for: the one that ended last before the
 * barrier ended, on its own pipe or, for a barrier of all pipes, on any pipe of its core.
 */
#include "base/mem.h"
#include "import/ascend/ascend.h"

/*
 * Finds the instruction that a barrier waited for: the one that ended last before the barrier
 * ended, on its own pipe or, for a barrier of all pipes, on any pipe of its core.
 */

struct last_end { /* the last end among the slices of one track passed so far */
	uint32_t next;
	uint32_t slice; /* UINT32_MAX: none yet */
	uint64_t end;
};

struct matched_barriers {
	struct asc_build *b;
	uint8_t *sync; /* enum ascend_sync by code row */
	struct asc_links *out;
};

static bool is_of_all_pipes(enum ascend_pipe pipe)
{
	return pipe == PIPE_ALL || pipe == PIPE_SCALAR || pipe == PIPE_FLOWCTRL;
}

/* Passes the slices of track i that start before `start` and keeps the one that ends last. */
static void pass_before(
	const struct matched_barriers *x, track_idx i, uint64_t start, struct last_end *last)
{
	const struct track_slice *recs = mem_tracks_at(x->b->trace, i);
	uint32_t n = x->b->trace->tracks[i].n_slices;

	for (; last->next < n && recs[last->next].start < start; last->next++) {
		const struct track_slice *r = &recs[last->next];

		mem_step(last->next);
		if (x->sync[r->code] != SYNC_NONE)
			continue;
		if (last->slice == UINT32_MAX || r->start + r->dur >= last->end) {
			last->slice = last->next;
			last->end = r->start + r->dur;
		}
	}
}

static bool is_same_unit(const struct trace *t, track_idx a, track_idx c)
{
	return t->tracks[a].coord[0] == t->tracks[c].coord[0] &&
	       t->tracks[a].coord[1] == t->tracks[c].coord[1];
}

/* Links one barrier with the latest end on the tracks [from, end). */
static bool ascend_finish_link_barrier(const struct matched_barriers *x, track_idx from,
	track_idx end, const struct track_slice *bar, struct last_end *last, struct link *k)
{
	uint64_t best = 0;

	k->kind = LINK_BARRIER;
	k->from_track = NO_TRACK;
	for (track_idx i = from; i < end; i++) {
		struct last_end *l = &last[i - from];

		pass_before(x, i, bar->start + bar->dur, l);
		if (l->slice != UINT32_MAX && l->end <= bar->start + bar->dur && l->end >= best) {
			best = l->end;
			k->from_track = i;
			k->from_slice = l->slice;
		}
	}
	return k->from_track != NO_TRACK;
}

/* Links the barriers of one track, which wait for the tracks [from, end). */
static bool link_track(
	const struct matched_barriers *x, track_idx at, track_idx from, track_idx end)
{
	const struct track_slice *recs = mem_tracks_at(x->b->trace, at);
	struct last_end *last = mem_zalloc(end - from, sizeof(*last));
	bool ok = last != NULL;

	for (track_idx i = 0; ok && i < end - from; i++)
		last[i].slice = UINT32_MAX;
	for (uint32_t s = 0; ok && s < x->b->trace->tracks[at].n_slices; s++) {
		struct link k = {.to_track = at, .to_slice = s};

		mem_step(s);
		if (x->sync[recs[s].code] == SYNC_BARRIER &&
			ascend_finish_link_barrier(x, from, end, &recs[s], last, &k))
			ok = VEC_PUSH(&x->out->v, k);
	}
	mem_free(last);
	return ok;
}

static bool link_units(const struct matched_barriers *x)
{
	const struct trace *t = x->b->trace;

	for (track_idx from = 0, end; from < t->n_tracks; from = end) {
		for (end = from + 1; end < t->n_tracks && is_same_unit(t, from, end);)
			end++;
		for (track_idx i = from; i < end; i++) {
			bool is_all = is_of_all_pipes((enum ascend_pipe)t->tracks[i].coord[2]);

			if (!link_track(x, i, is_all ? from : i, is_all ? end : i + 1))
				return false;
		}
	}
	return true;
}

bool asc_link_barriers(struct asc_build *b, struct asc_links *out)
{
	struct matched_barriers x = {.b = b, .out = out};
	bool has_any = false, ok;

	x.sync = mem_zalloc(b->code.n + 1, 1);
	if (!x.sync)
		return false;
	for (size_t i = 0; i < b->code.n; i++) {
		x.sync[i] = (uint8_t)ascend_sync_of(b->opcodes.strs[b->code.v[i].opcode]);
		has_any |= x.sync[i] == SYNC_BARRIER;
	}
	ok = !has_any || link_units(&x);
	mem_free(x.sync);
	return ok;
}
