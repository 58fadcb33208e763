/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_links.c: arrows from the producer to the slice that waited. For one slice, one row, or a
 * box; the costliest come first, and if there are too many, the others are left out.
 */
#include "base/search.h"
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"

enum arrow_kind {
	ARROW_WAIT,
	ARROW_FLAG,
	ARROW_BARRIER,
	ARROW_CROSS_CORE,
	ARROW_FLOW,
	ARROW_BRANCH
};
#define ARROW_LAST 1u
#define ARROW_CANDIDATE 2u
#define TRACK_MASK 0xffffffu
#define NO_SLICE_ASKED UINT32_MAX

struct arrow {
	track_idx from_track, to_track;
	uint32_t from_slice, to_slice;
	enum arrow_kind kind;
	unsigned flags;
	unsigned slot; /* colour of the producer */
	uint64_t cost; /* cycles lost at its end, if it was the last producer */
	uint64_t order;
};

struct view_links_asked {
	const struct view *v;
	uint32_t slice;	 /* in the track; or NO_SLICE_ASKED */
	code_idx code;	 /* or NO_CODE: any */
	uint64_t t0, t1; /* arrows must end in this range */
	VEC(struct arrow) arrows;
	uint64_t left_out, seen;
	bool has_failed;
};

static int compare_arrows(const void *p, const void *q)
{
	const struct arrow *x = p, *y = q;

	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keeps the costliest arrows, as many as an answer can have. */
static void keep_dearest(struct view_links_asked *a)
{
	SORT(a->arrows.v, a->arrows.n, compare_arrows);
	if (a->arrows.n <= VIEW_MAX_LINKS)
		return;
	a->left_out += a->arrows.n - VIEW_MAX_LINKS;
	a->arrows.n = VIEW_MAX_LINKS;
}

static void weigh(const struct view *v, struct arrow *x)
{
	uint32_t i;
	const struct lane *l = columns_slice(v->columns, x->from_track, x->from_slice, &i);

	x->slot = l ? l->slot[l->inst_class[i]] : SLOT_OTHER;
	l = columns_slice(v->columns, x->to_track, x->to_slice, &i);
	if (l && x->kind != ARROW_BRANCH && x->flags)
		x->cost = class_issue_bucket(l->inst_class[i]) == BUCKET_WAIT ? l->dur[i]
									      : l->stall[i];
}

static void view_links_add(struct view_links_asked *a, struct arrow x)
{
	weigh(a->v, &x);
	x.order = a->seen++;
	if (a->arrows.n / 8 >= VIEW_MAX_LINKS)
		keep_dearest(a);
	if (!VEC_PUSH(&a->arrows, x))
		a->has_failed = true;
}

static bool view_links_is_wanted(
	const struct view_links_asked *a, const struct track_data *d, uint32_t from, uint32_t to)
{
	uint64_t end = d->start_cyc[to] + d->dur_cyc[to];

	if (a->slice != NO_SLICE_ASKED)
		return a->slice == from || a->slice == to;
	if (a->code != NO_CODE && d->code[from] != a->code && d->code[to] != a->code)
		return false;
	return end >= a->t0 && d->start_cyc[to] < a->t1;
}

static void view_links_add_side(struct view_links_asked *a, const struct view_track *k,
	track_idx track, const struct wait_event *ev, const struct wait_side *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t from = k->waits.producers.v[s->first + i].slice;
		unsigned flags = from == s->youngest ? ARROW_LAST : 0;

		if (s->resolution != WAIT_EXACT)
			flags = ARROW_CANDIDATE;
		if (view_links_is_wanted(a, &k->data, from, ev->slice))
			view_links_add(a, (struct arrow){track, track, from, ev->slice, ARROW_WAIT,
						  flags, 0, 0, 0});
	}
}

/* Adds the waits and taken branches of one track. */
static bool view_links_add_track(
	struct view_links_asked *a, track_idx track, struct view_track *k, struct incore_error *e)
{
	const struct track_data *d = &k->data;

	if (!view_track_load(a->v, a->v->index->waits, track, k, e))
		return false;
	EACH (const struct wait_event, ev, k->waits.events.v, k->waits.events.n) {
		for (unsigned s = 0; s < ev->n_sides; s++)
			view_links_add_side(a, k, track, ev, &k->waits.sides.v[ev->first_side + s]);
	}
	for (uint32_t i = 0; i + 1 < d->n; i++)
		if (d->inst_class[i] == CLASS_BRANCH && d->tag[i] == 7 &&
			view_links_is_wanted(a, d, i, i + 1))
			view_links_add(a,
				(struct arrow){track, track, i, i + 1, ARROW_BRANCH, 0, 0, 0, 0});
	return !a->has_failed || err_nomem(e);
}

static uint64_t slice_time(const struct view *v, track_idx track, uint32_t slice, bool is_end)
{
	uint32_t i;
	const struct lane *l = columns_slice(v->columns, track, slice, &i);

	return l ? lane_start(l, i) + (is_end ? l->dur[i] : 0) : 0;
}

static code_idx slice_code(const struct view *v, track_idx track, uint32_t slice)
{
	uint32_t i;
	const struct lane *l = columns_slice(v->columns, track, slice, &i);

	return l ? l->code[i] : NO_CODE;
}

/* Adds links that the capture contains (flags, barriers, other cores). */
static void view_links_add_stated(struct view_links_asked *a, track_idx first, track_idx last)
{
	const struct trace *t = a->v->trace;

	EACH (const struct link, x, t->links, t->n_links) {
		bool is_to = x->to_track >= first && x->to_track <= last;
		bool is_from = x->from_track >= first && x->from_track <= last;

		if (!is_to && !is_from)
			continue;
		if (a->slice != NO_SLICE_ASKED) {
			if (!(is_to && x->to_slice == a->slice) &&
				!(is_from && x->from_slice == a->slice))
				continue;
		} else if (a->code != NO_CODE) {
			if (slice_code(a->v, x->from_track, x->from_slice) != a->code &&
				slice_code(a->v, x->to_track, x->to_slice) != a->code)
				continue;
		}
		if (a->slice == NO_SLICE_ASKED &&
			(slice_time(a->v, x->to_track, x->to_slice, true) < a->t0 ||
				slice_time(a->v, x->to_track, x->to_slice, false) >= a->t1))
			continue;
		view_links_add(
			a, (struct arrow){x->from_track, x->to_track, x->from_slice, x->to_slice,
				   (enum arrow_kind)(ARROW_FLAG + x->kind), ARROW_LAST, 0, 0, 0});
	}
}

static void view_links_put_links(const struct view_links_asked *a, struct strbuf *out)
{
	const struct view *v = a->v;
	uint64_t t0 = UINT64_MAX;

	EACH (const struct arrow, x, a->arrows.v, a->arrows.n) {
		uint64_t from = slice_time(v, x->from_track, x->from_slice, false);
		uint64_t to = slice_time(v, x->to_track, x->to_slice, false);

		t0 = from < t0 ? from : t0;
		t0 = to < t0 ? to : t0;
	}
	sb_puts(out, "ICL1");
	put_u16(out, 1);
	put_u16(out, 0);
	put_u32(out, (uint32_t)a->arrows.n);
	put_u32(out, a->left_out > UINT32_MAX ? UINT32_MAX : (uint32_t)a->left_out);
	put_u64(out, a->arrows.n ? t0 : 0);
	put_u64(out, 0);
	EACH (const struct arrow, x, a->arrows.v, a->arrows.n) {
		bool is_branch = x->kind == ARROW_BRANCH;

		put_u32(out, (x->from_track & TRACK_MASK) | (uint32_t)x->kind << 24);
		put_u32(out, (x->to_track & TRACK_MASK) | (x->flags | x->slot << 4) << 24);
		put_u32(out, x->from_slice);
		put_u32(out, x->to_slice);
		put_u32(out,
			(uint32_t)(slice_time(v, x->from_track, x->from_slice, is_branch) - t0));
		put_u32(out, (uint32_t)(slice_time(v, x->to_track, x->to_slice, !is_branch) - t0));
	}
}

static bool view_links_collect(
	struct view_links_asked *a, const struct query_ranges *r, struct incore_error *e)
{
	struct view_track k = {0};
	bool ok = true;

	for (unsigned i = 0; ok && i < r->n; i++) {
		view_links_add_stated(a, r->v[i].first, r->v[i].last);
		for (track_idx t = r->v[i].first; ok && !a->v->has_pipes && t <= r->v[i].last; t++)
			ok = view_links_add_track(a, t, &k, e);
	}
	view_track_deinit(&k);
	return ok && (!a->has_failed || err_nomem(e));
}

/* Parses a slice: "3.17" is slice 17 of track 3. */
static bool parse_slice(const struct query *q, uint64_t *track, uint64_t *slice)
{
	struct str rest = str_of(query_text(q, "slice")), part;

	if (!query_text(q, "slice") || str_find(rest, ".") < 0)
		return false;
	return str_cut(&rest, ".", &part) && str_to_u64(part, track) && str_to_u64(rest, slice);
}

static bool view_links_parse(const struct view *v, const struct query *q,
	struct view_links_asked *a, struct query_ranges *r, struct incore_error *e)
{
	uint32_t n = v->columns->n_tracks;
	uint64_t track, slice, code, last = n ? n - 1 : 0;

	*a = (struct view_links_asked){
		.v = v, .slice = NO_SLICE_ASKED, .code = NO_CODE, .t1 = INT64_MAX};
	if (parse_slice(q, &track, &slice)) {
		if (track > last || slice >= NO_SLICE_ASKED)
			return err_set(e, INCORE_USAGE, "bad-query", "slice expects TRACK.SLICE");
	} else if (query_text(q, "slice")) {
		if (!query_number(q, "track", QUERY_NEEDED, last, &track, e) ||
			!query_number(q, "slice", QUERY_NEEDED, NO_SLICE_ASKED - 1, &slice, e))
			return false;
	} else {
		if (!query_number(q, "code", NO_CODE, NO_CODE, &code, e) ||
			!query_number(q, "t0", 0, INT64_MAX, &a->t0, e) ||
			!query_number(q, "t1", INT64_MAX, INT64_MAX, &a->t1, e))
			return false;
		a->code = (code_idx)code;
		return query_set(q, "tracks", n, r, e);
	}
	a->slice = (uint32_t)slice;
	*r = (struct query_ranges){.n = n > 0, .v = {{(uint32_t)track, (uint32_t)track}}};
	return true;
}

bool view_links(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct query_ranges r;
	struct view_links_asked a;
	bool ok;

	if (!view_links_parse(v, q, &a, &r, e))
		return false;
	ok = view_links_collect(&a, &r, e);
	keep_dearest(&a);
	if (ok)
		view_links_put_links(&a, out);
	VEC_FREE(&a.arrows);
	return ok;
}
