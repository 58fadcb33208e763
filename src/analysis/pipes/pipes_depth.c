/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_depth.c: how many instructions of a pipe were in flight at once, and for how long? */

#include "analysis/pipes/pipes_internal.h"
#include "base/mem.h"
#include "base/search.h"

/* Insertion sort: the times are mostly in order already. */
static void sort_times(uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] < v[i - 1]) {
			SORT(v, n, compare_u64);
			return;
		}
}

/* Starts and ends of the work slices that have a length, cut to [lo, hi). */
static size_t gather(const struct walk_track *w, const uint8_t *kinds, bool with_config,
	uint64_t *from, uint64_t *to)
{
	const struct track_data *d = w->data;
	uint64_t lo = d->begin_cyc > w->from_cyc ? d->begin_cyc : w->from_cyc;
	uint64_t hi = d->end_cyc < w->to_cyc ? d->end_cyc : w->to_cyc;
	size_t n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		enum pipe_kind kind = pipe_kind_of(kinds, w->trace, d, i);
		uint64_t start = d->start_cyc[i] + d->stall_cyc[i];
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i];

		if (kind != KIND_WORK && !(with_config && kind == KIND_CONFIG))
			continue;
		from[n] = start > lo ? start : lo;
		to[n] = end < hi ? end : hi;
		n += to[n] > from[n];
	}
	sort_times(from, n);
	sort_times(to, n);
	return n;
}

/* Returns the cycles with anything in flight; also fills the depths if a row is given. */
static uint64_t sweep(const uint64_t *from, const uint64_t *to, size_t n, struct pipe_row *r)
{
	uint64_t depth = 0, pos = 0, busy = 0;

	for (size_t i = 0, k = 0; k < n;) {
		uint64_t at = i < n && from[i] < to[k] ? from[i] : to[k];

		if (depth) {
			busy += at - pos;
			if (r)
				r->depth_cyc[(depth < PIPE_DEPTHS ? depth : PIPE_DEPTHS) - 1] +=
					at - pos;
		}
		pos = at;
		if (i < n && from[i] < to[k]) {
			depth++;
			i++;
		} else {
			depth--;
			k++;
		}
		if (r && depth > r->depth_max)
			r->depth_max = depth;
	}
	return busy;
}

static bool has_config(const struct walk_track *w, const uint8_t *kinds)
{
	for (uint32_t i = 0; i < w->data->n; i++)
		if (pipe_kind_of(kinds, w->trace, w->data, i) == KIND_CONFIG)
			return true;
	return false;
}

bool pipes_measure_depth(struct pipe_row *r, const struct walk_track *w, const uint8_t *kinds,
	struct incore_error *e)
{
	size_t room = (size_t)w->data->n + 1;
	uint64_t *from = mem_alloc(room * sizeof(*from)), *to = mem_alloc(room * sizeof(*to));
	bool ok = from && to;

	if (ok)
		sweep(from, to, gather(w, kinds, true, from, to), r);
	if (ok && has_config(w, kinds))
		r->config_cyc =
			r->busy_cyc - sweep(from, to, gather(w, kinds, false, from, to), NULL);
	mem_free(from);
	mem_free(to);
	return ok || err_nomem(e);
}
