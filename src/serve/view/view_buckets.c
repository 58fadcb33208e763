/* SPDX-License-Identifier: Apache-2.0 */
/* view_buckets.c: the buckets on which all waves (or pipes) spent each pixel of a time range. */
#include "serve/view/view_index.h"

#include "base/mem.h"

#define MAX_WIDTH 8192u
#define MAX_LOOKUPS (1u << 22)

struct view_buckets_axis {
	uint64_t t0, t1;
	uint32_t width;
};

/* Start of pixel i in whole cycles, so that pixels have neither overlaps nor gaps. */
static uint64_t edge(const struct view_buckets_axis *x, uint32_t i)
{
	uint64_t span = x->t1 - x->t0;

	return x->t0 + span / x->width * i + span % x->width * i / x->width;
}

static void view_buckets_add_track(
	const struct view *v, const struct view_buckets_axis *x, track_idx track, double *sums)
{
	struct split_cursor k;
	uint64_t at[2][LANE_SUMS];
	uint32_t begun;

	view_split_begin(v, TILE_BUCKET, track, &k);
	split_at(&k, x->t0, at[0], &begun);
	for (uint32_t i = 0; i < x->width; i++, sums += BUCKET_COUNT) {
		const uint64_t *a = at[i % 2];
		uint64_t *b = at[(i + 1) % 2];

		split_at(&k, edge(x, i + 1), b, &begun);
		for (unsigned n = 0; n < BUCKET_COUNT; n++)
			sums[n] += (double)(b[n] - a[n]);
	}
}

static bool view_buckets_parse(const struct view *v, const struct query *q,
	struct view_buckets_axis *x, struct incore_error *e)
{
	uint64_t width;
	uint32_t most = MAX_LOOKUPS / (v->columns->n_tracks + 1);

	if (!query_number(q, "t0", 0, INT64_MAX, &x->t0, e) ||
		!query_number(q, "t1", v->columns->end_cyc, INT64_MAX, &x->t1, e) ||
		!query_number(q, "w", 512, MAX_WIDTH, &width, e))
		return false;
	if (x->t1 <= x->t0 || width == 0)
		return err_set(e, INCORE_USAGE, "bad-query",
			"t1 must come after t0, and w must be above 0");
	width = width < most ? width : most;
	width = width < x->t1 - x->t0 ? width : x->t1 - x->t0;
	x->width = width ? (uint32_t)width : 1;
	return true;
}

bool view_buckets(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct view_buckets_axis x;
	size_t n;
	double *sums;

	if (!view_buckets_parse(v, q, &x, e))
		return false;
	n = (size_t)x.width * BUCKET_COUNT;
	sums = mem_zalloc(n, sizeof(*sums));
	if (!sums)
		return err_nomem(e);
	for (track_idx i = 0; i < v->columns->n_tracks; i++) {
		const struct lane *l = &v->columns->lanes[v->columns->first_lane[i]];

		if (l->begin_cyc < x.t1 && l->end_cyc > x.t0)
			view_buckets_add_track(v, &x, i, sums);
	}
	sb_puts(out, "ICB1");
	put_u16(out, 1);
	put_u16(out, BUCKET_COUNT);
	put_u32(out, x.width);
	put_u32(out, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;

		memcpy(&bits, &sums[i], sizeof(bits));
		put_u64(out, bits);
	}
	mem_free(sums);
	return !out->failed || err_nomem(e);
}
