/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_lane.c: what is kept of a pipe for the questions that look across pipes. */
#include <stdlib.h>
#include <string.h>

#include "analysis/pipes/pipes_internal.h"
#include "base/mem.h"
#include "base/search.h"

void pipe_lane_deinit(struct pipe_lane *l)
{
	mem_free(l->start_cyc);
	mem_free(l->dur_cyc);
	mem_free(l->stall_cyc);
	mem_free(l->code);
	mem_free(l->last_work);
	mem_free(l->latest);
	mem_free(l->by_end);
	VEC_FREE(&l->waits);
	*l = (struct pipe_lane){0};
}

static int compare_ends(const void *pa, const void *pb, void *ctx)
{
	const struct pipe_lane *l = ctx;
	const uint32_t *a = pa, *b = pb;
	uint64_t ea = lane_end(l, *a), eb = lane_end(l, *b);

	RETURN_UNLESS_EQUAL(ea, eb);
	return COMPARE(*a, *b);
}

/* Instructions of most pipes end in the order they start. */
static bool order_ends(struct pipe_lane *l)
{
	uint32_t i = 1;

	while (i < l->n && lane_end(l, i) >= lane_end(l, i - 1))
		i++;
	if (i >= l->n)
		return true;
	l->by_end = mem_alloc((size_t)l->n * sizeof(*l->by_end));
	for (i = 0; l->by_end && i < l->n; i++)
		l->by_end[i] = i;
	if (l->by_end)
		qsort_r(l->by_end, l->n, sizeof(*l->by_end), compare_ends, l);
	return l->by_end != NULL;
}

bool pipe_lane_keep(struct pipe_lane *l, const struct walk_track *w, const uint8_t *kinds)
{
	const struct track_data *d = w->data;
	size_t n = d->n ? d->n : 1;
	uint32_t last = NO_SLICE;

	l->start_cyc = mem_alloc(n * sizeof(*l->start_cyc));
	l->dur_cyc = mem_alloc(n * sizeof(*l->dur_cyc));
	l->stall_cyc = mem_alloc(n * sizeof(*l->stall_cyc));
	l->code = mem_alloc(n * sizeof(*l->code));
	l->last_work = mem_alloc(n * sizeof(*l->last_work));
	l->latest = mem_alloc(n * sizeof(*l->latest));
	if (!l->start_cyc || !l->dur_cyc || !l->stall_cyc || !l->code || !l->last_work ||
		!l->latest)
		return false;
	l->n = d->n;
	if (d->n) {
		memcpy(l->start_cyc, d->start_cyc, n * sizeof(*l->start_cyc));
		memcpy(l->dur_cyc, d->dur_cyc, n * sizeof(*l->dur_cyc));
		memcpy(l->stall_cyc, d->stall_cyc, n * sizeof(*l->stall_cyc));
		memcpy(l->code, d->code, n * sizeof(*l->code));
	}
	for (uint32_t i = 0; i < d->n; i++)
		l->latest[i] =
			i && lane_end(l, l->latest[i - 1]) > lane_end(l, i) ? l->latest[i - 1] : i;
	if (!order_ends(l))
		return false;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t k = l->by_end ? l->by_end[i] : i;

		if (pipe_kind_is_work(pipe_kind_of(kinds, w->trace, d, k)))
			last = k;
		l->last_work[i] = last;
	}
	return true;
}

/* Does slice k end before that time, or at that time with a lower index than the slice? */
static bool has_ended(const struct pipe_lane *l, uint32_t k, uint64_t time_cyc, uint32_t slice)
{
	uint64_t end = lane_end(l, k);

	return end < time_cyc || (end == time_cyc && k < slice);
}

uint32_t pipe_lane_ended(const struct pipe_lane *l, uint64_t time_cyc, uint32_t slice)
{
	uint32_t lo = 0, hi = l->n;

	BISECT(lo, hi, i, has_ended(l, l->by_end ? l->by_end[i] : i, time_cyc, slice));
	return lo;
}
