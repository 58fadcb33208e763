/* SPDX-License-Identifier: Apache-2.0 */
/* view_slices.c: the slices of a track that touch [t0, t1). */
#include "base/search.h"
#include "serve/view/view.h"

#define ROW_TAKEN 1u
#define ROW_NOT_TAKEN 2u
#define ROW_LINK 4u
#define ROW_WAITS 8u
#define ROW_UNKNOWN 16u
#define TAG_TAKEN 7u
#define TAG_NOT_TAKEN 8u

/* Does a link of the capture end at this slice? Links are sorted by their ends. */
static bool has_link(const struct trace *t, track_idx track, uint32_t slice)
{
	uint32_t lo = 0, hi = t->n_links;

	BISECT(lo, hi, i,
		t->links[i].to_track < track ||
			(t->links[i].to_track == track && t->links[i].to_slice < slice));
	return lo < t->n_links && t->links[lo].to_track == track && t->links[lo].to_slice == slice;
}

static uint8_t flags_of(const struct view *v, const struct lane *l, uint32_t i)
{
	unsigned flags = 0, c = class_plain(l->inst_class[i]);

	if (c == CLASS_BRANCH && l->tag[i] == TAG_TAKEN)
		flags |= ROW_TAKEN;
	if (c == CLASS_BRANCH && l->tag[i] == TAG_NOT_TAKEN)
		flags |= ROW_NOT_TAKEN;
	if (v->trace->n_links && has_link(v->trace, l->track, l->first + i))
		flags |= ROW_LINK;
	if (class_stall_bucket(c) == BUCKET_WAIT)
		flags |= ROW_WAITS;
	if (l->code[i] >= v->trace->n_code)
		flags |= ROW_UNKNOWN;
	return (uint8_t)flags;
}

struct view_slices_range {
	uint64_t t0, t1, left_out;
	uint32_t first, n, max;
};

static void view_slices_put_row(
	struct strbuf *out, const struct view *v, const struct lane *l, uint32_t i, uint64_t t0)
{
	put_u32(out, (uint32_t)(lane_start(l, i) - t0));
	put_u32(out, l->dur[i]);
	put_u32(out, l->stall[i]);
	put_u32(out, l->code[i]);
	sb_putc(out, (char)class_plain(l->inst_class[i]));
	sb_putc(out, (char)flags_of(v, l, i));
	sb_putc(out, (char)(l->sub ? l->sub[i] : 0));
	sb_putc(out, (char)l->slot[l->inst_class[i]]);
}

static void view_slices_put_lane(struct strbuf *rows, const struct view *v, const struct lane *l,
	struct view_slices_range *r)
{
	uint32_t i = lane_first_after(l, r->t0);

	for (; i < l->n && lane_start(l, i) < r->t1; i++) {
		/* if slices overlap, an earlier one may already have ended */
		if (lane_start(l, i) + l->dur[i] <= r->t0 && lane_start(l, i) < r->t0 && r->n == 0)
			continue;
		if (r->n == 0 && lane_start(l, i) < r->t0)
			r->t0 = lane_start(l, i);
		if (r->n == r->max || lane_start(l, i) - r->t0 > UINT32_MAX) {
			r->left_out++;
			continue;
		}
		if (r->n == 0)
			r->first = l->first + i;
		view_slices_put_row(rows, v, l, i, r->t0);
		r->n++;
	}
}

bool view_slices(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct columns *c = v->columns;
	struct strbuf rows = {0};
	struct view_slices_range r = {0};
	uint64_t track, max;

	if (!query_number(q, "track", QUERY_NEEDED, c->n_tracks ? c->n_tracks - 1 : 0, &track, e) ||
		!query_number(q, "t0", 0, INT64_MAX, &r.t0, e) ||
		!query_number(q, "t1", INT64_MAX, INT64_MAX, &r.t1, e) ||
		!query_number(q, "n", VIEW_MAX_ROWS, VIEW_MAX_ROWS, &max, e))
		return false;
	if (c->n_tracks == 0)
		return err_set(e, INCORE_USAGE, "bad-query", "there is no track");
	r.max = (uint32_t)max;
	for (uint32_t k = c->first_lane[track]; k < c->first_lane[track + 1]; k++)
		view_slices_put_lane(&rows, v, &c->lanes[k], &r);
	sb_puts(out, "ICS1");
	put_u16(out, 1);
	put_u16(out, 0);
	put_u32(out, (uint32_t)track);
	put_u32(out, r.n);
	put_u64(out, r.t0);
	put_u32(out, r.first);
	put_u32(out, r.left_out > UINT32_MAX ? UINT32_MAX : (uint32_t)r.left_out);
	if (rows.n)
		sb_add(out, rows.p, rows.n);
	if (rows.failed)
		err_nomem(e);
	bool ok = !rows.failed;
	sb_free(&rows);
	return ok;
}
