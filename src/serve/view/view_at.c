/* SPDX-License-Identifier: Apache-2.0 */
/* view_at.c: details of one slice: what it is, what it cost and why, who waited for whom. */
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"

#define RELATED_MAX 64u

struct at {
	const struct view *v;
	track_idx track;
	uint32_t slice;
	const struct lane *lane; /* lane that contains it */
	uint32_t i;
	struct view_track k;
	uint64_t buckets[BUCKET_COUNT];
};

/* --- finding the slice --- */

static bool view_at_find_time(struct at *a, uint64_t t, uint64_t sub)
{
	const struct columns *c = a->v->columns;

	for (uint32_t x = c->first_lane[a->track]; x < c->first_lane[a->track + 1]; x++) {
		const struct lane *l = &c->lanes[x];

		for (uint32_t i = lane_first_after(l, t); i < l->n && lane_start(l, i) <= t; i++) {
			if (lane_start(l, i) + l->dur[i] <= t &&
				!(l->dur[i] == 0 && lane_start(l, i) == t))
				continue;
			if (sub != UINT64_MAX && l->sub && l->sub[i] != sub)
				continue;
			a->lane = l;
			a->i = i;
			a->slice = l->first + i;
			return true;
		}
	}
	return false;
}

/* Finds the n-th execution (from 1) of a row on the track. */
static bool find_execution(struct at *a, code_idx code, uint64_t n)
{
	const struct columns *c = a->v->columns;

	for (uint32_t x = c->first_lane[a->track]; x < c->first_lane[a->track + 1]; x++) {
		const struct lane *l = &c->lanes[x];

		for (uint32_t i = 0; i < l->n; i++) {
			if (l->code[i] != code || --n)
				continue;
			a->lane = l;
			a->i = i;
			a->slice = l->first + i;
			return true;
		}
	}
	return false;
}

static bool view_at_find(struct at *a, const struct query *q, bool *found, struct incore_error *e)
{
	uint64_t x, n, sub;

	if (query_text(q, "slice")) {
		if (!query_number(q, "slice", QUERY_NEEDED, UINT32_MAX, &x, e))
			return false;
		a->slice = (uint32_t)x;
		a->lane = columns_slice(a->v->columns, a->track, a->slice, &a->i);
		*found = a->lane != NULL;
	} else if (query_text(q, "code")) {
		if (!query_number(q, "code", QUERY_NEEDED, UINT32_MAX, &x, e) ||
			!query_number(q, "execution", 1, UINT32_MAX, &n, e))
			return false;
		*found = n > 0 && find_execution(a, (code_idx)x, n);
	} else {
		if (!query_number(q, "t", QUERY_NEEDED, INT64_MAX, &x, e) ||
			!query_number(q, "sub", UINT64_MAX - 1, UINT32_MAX, &sub, e))
			return false;
		*found = view_at_find_time(a, x, query_text(q, "sub") ? sub : UINT64_MAX);
	}
	return true;
}

/* --- its description --- */

static void put_or_null(struct json_writer *w, const char *key, uint32_t v)
{
	if (v == UINT32_MAX)
		json_w_kv_null(w, key);
	else
		json_w_kv_u64(w, key, v);
}

static void view_at_put_code(const struct at *a, code_idx code, struct json_writer *w)
{
	const struct trace *t = a->v->trace;
	const struct code_row *r = code < t->n_code ? &t->code[code] : NULL;

	put_or_null(w, "code", r ? code : UINT32_MAX);
	if (r) {
		json_w_kv_u64(w, "address", r->address);
		json_w_kv_i64(w, "number", r->number);
		json_w_kv_str(w, "text", (struct str){r->text, r->text_len});
	} else {
		json_w_kv_null(w, "address");
		json_w_kv_null(w, "number");
		json_w_kv_cstr(w, "text", "(unknown code)");
	}
}

/* Writes which execution of its row on this track it is, and the previous and next ones. */
static void put_execution(const struct at *a, struct json_writer *w)
{
	const struct track_data *d = &a->k.data;
	uint32_t n = 0, all = 0, previous = UINT32_MAX, next = UINT32_MAX;

	for (uint32_t i = 0; i < d->n; i++) {
		if (d->code[i] != d->code[a->slice])
			continue;
		all++;
		if (i < a->slice)
			previous = i;
		if (i <= a->slice)
			n++;
		else if (next == UINT32_MAX)
			next = i;
	}
	json_w_kv_u64(w, "execution", n);
	json_w_kv_u64(w, "executions", all);
	put_or_null(w, "previous", previous);
	put_or_null(w, "next", next);
}

static bool view_at_add_piece(void *ctx, const struct pipe_piece *p)
{
	struct at *a = ctx;

	if (p->slice == a->slice)
		a->buckets[p->bucket] += p->to_cyc - p->from_cyc;
	return true;
}

static bool view_at_load(struct at *a, struct incore_error *e)
{
	if (!view_track_load(a->v, a->v->index->waits, a->track, &a->k, e))
		return false;
	if (a->v->has_pipes)
		return pipe_pieces_of(a->v, a->track, &a->k.data, view_at_add_piece, a, e);
	slice_buckets(a->v, a->lane, a->i, a->buckets);
	return true;
}

static void put_buckets(const struct at *a, struct json_writer *w)
{
	json_w_kv_row_object(w, "buckets");
	for (unsigned i = 0; i < BUCKET_COUNT; i++)
		json_w_kv_u64(w, bucket_name(i), a->buckets[i]);
	json_w_end(w);
}

static void view_at_put_cause(const struct at *a, struct json_writer *w)
{
	enum inst_class c = a->k.data.inst_class[a->slice];
	const struct wait_event *ev = view_track_wait(&a->k, a->slice);
	char key[WAIT_KEY_LEN];
	struct strbuf name = {0};

	if (a->lane->stall[a->i] == 0 && class_issue_bucket(c) != BUCKET_WAIT) {
		json_w_kv_null(w, "cause");
		return;
	}
	if (c == CLASS_WAIT && !a->v->has_pipes)
		sb_printf(&name, "wait:%s", wait_key_name(ev ? ev->key : 0, key));
	else
		sb_puts(&name, family_name(slice_stall_family(c, ev)));
	json_w_kv_cstr(w, "cause", name.p);
	sb_free(&name);
}

static void view_at_put_frames(const struct at *a, struct json_writer *w)
{
	const struct trace *t = a->v->trace;
	code_idx code = a->k.data.code[a->slice];
	const struct code_row *r = code < t->n_code ? &t->code[code] : NULL;

	json_w_kv_array(w, "frames");
	for (unsigned i = 0; r && i < r->n_frames; i++) {
		const struct frame *f = &t->frames[r->first_frame + i];

		json_w_row_object(w);
		json_w_kv_cstr(
			w, "file", f->source < t->n_sources ? t->sources[f->source].path : NULL);
		put_or_null(w, "source", f->source < t->n_sources ? f->source : UINT32_MAX);
		json_w_kv_u64(w, "line", f->line);
		json_w_end(w);
	}
	json_w_end(w);
}

/* --- who waited for whom --- */

struct related {
	track_idx track;
	uint32_t slice;
	bool is_producer; /* it is a producer of the slice in question */
	bool is_last, is_certain;
};

/* Writes a related slice. Latency: from the issue of the producer to the end of the wait. */
static void view_at_put_related(const struct at *a, const struct related *r, struct json_writer *w)
{
	const struct columns *c = a->v->columns;
	uint32_t i, own = a->i;
	const struct lane *l = columns_slice(c, r->track, r->slice, &i), *from, *to;
	uint64_t issue, release;

	if (!l)
		return;
	from = r->is_producer ? l : a->lane;
	to = r->is_producer ? a->lane : l;
	issue = r->is_producer ? lane_start(from, i) + from->stall[i]
			       : lane_start(from, own) + from->stall[own];
	release = r->is_producer ? lane_start(to, own) + to->dur[own]
				 : lane_start(to, i) + to->dur[i];
	json_w_row_object(w);
	json_w_kv_u64(w, "track", r->track);
	json_w_kv_u64(w, "slice", r->slice);
	json_w_kv_u64(w, "start", lane_start(l, i));
	view_at_put_code(a, l->code[i], w);
	json_w_kv_u64(w, "latency", release > issue ? release - issue : 0);
	json_w_kv_bool(w, "is_last", r->is_last);
	json_w_kv_bool(w, "is_certain", r->is_certain);
	json_w_end(w);
}

static unsigned view_at_put_side(const struct at *a, const struct wait_event *ev,
	const struct wait_side *s, bool is_producer, struct json_writer *w)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n && n < RELATED_MAX; i++) {
		uint32_t from = a->k.waits.producers.v[s->first + i].slice;
		bool is_certain = s->resolution == WAIT_EXACT; /* else the last is not known */
		struct related r = {a->track, is_producer ? from : ev->slice, is_producer,
			is_certain && from == s->youngest, is_certain};

		if (!is_producer && from != a->slice)
			continue;
		view_at_put_related(a, &r, w);
		n++;
	}
	return n;
}

static void view_at_put_waits(const struct at *a, bool is_producer, struct json_writer *w)
{
	unsigned n = 0;

	for (size_t x = 0; x < a->k.waits.events.n && n < RELATED_MAX; x++) {
		const struct wait_event *ev = &a->k.waits.events.v[x];

		if (is_producer ? ev->slice != a->slice : ev->slice <= a->slice)
			continue;
		for (unsigned s = 0; s < ev->n_sides; s++)
			n += view_at_put_side(
				a, ev, &a->k.waits.sides.v[ev->first_side + s], is_producer, w);
	}
}

static void view_at_put_links(const struct at *a, bool is_producer, struct json_writer *w)
{
	const struct trace *t = a->v->trace;
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_links && n < RELATED_MAX; i++) {
		const struct link *x = &t->links[i];
		struct related r = {is_producer ? x->from_track : x->to_track,
			is_producer ? x->from_slice : x->to_slice, is_producer, true, true};

		if (is_producer ? x->to_track != a->track || x->to_slice != a->slice
				: x->from_track != a->track || x->from_slice != a->slice)
			continue;
		view_at_put_related(a, &r, w);
		n++;
	}
}

static void put_both(const struct at *a, struct json_writer *w)
{
	json_w_kv_array(w, "producers");
	view_at_put_waits(a, true, w);
	view_at_put_links(a, true, w);
	json_w_end(w);
	json_w_kv_array(w, "consumers");
	view_at_put_waits(a, false, w);
	view_at_put_links(a, false, w);
	json_w_end(w);
}

static void put_raw(const struct at *a, struct json_writer *w)
{
	const struct track *k = &a->v->trace->tracks[a->track];
	int64_t shift = trace_aligned(a->v->trace, k->clock, 0) - a->v->origin_cyc;

	json_w_kv_row_object(w, "raw");
	json_w_kv_i64(w, "time", (int64_t)lane_start(a->lane, a->i) - shift);
	json_w_kv_u64(w, "tag", a->lane->tag[a->i]);
	json_w_kv_u64(w, "class", class_plain(a->lane->inst_class[a->i]));
	json_w_kv_cstr(w, "file", k->name);
	json_w_end(w);
}

static void view_at_put_slice(const struct at *a, struct json_writer *w)
{
	const struct trace *t = a->v->trace;
	const struct track_data *d = &a->k.data;
	const struct lane *l = a->lane;

	json_w_kv_u64(w, "slice", a->slice);
	json_w_kv_u64(w, "slices", d->n);
	json_w_kv_u64(w, "start", lane_start(l, a->i));
	json_w_kv_u64(w, "duration", l->dur[a->i]);
	json_w_kv_u64(w, "stall", l->stall[a->i]);
	json_w_kv_u64(w, "issue", l->dur[a->i] - l->stall[a->i]);
	json_w_kv_u64(w, "sub_lane", l->sub ? l->sub[a->i] : 0);
	json_w_kv_cstr(w, "class", class_name(d->inst_class[a->slice]));
	json_w_kv_u64(w, "slot", l->slot[l->inst_class[a->i]]);
	view_at_put_code(a, l->code[a->i], w);
	put_execution(a, w);
	json_w_kv_row(w, "wave");
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++)
		json_w_u64(w, t->tracks[a->track].coord[i]);
	json_w_end(w);
	json_w_kv_cstr(w, "name", t->tracks[a->track].name);
	put_buckets(a, w);
	view_at_put_cause(a, w);
	view_at_put_frames(a, w);
	put_both(a, w);
	put_raw(a, w);
}

bool view_at(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	uint32_t n = v->columns->n_tracks;
	struct at a = {.v = v};
	struct json_writer w;
	uint64_t track;
	bool found, ok = true;

	if (!query_number(q, "track", QUERY_NEEDED, n ? n - 1 : 0, &track, e))
		return false;
	if (n == 0)
		return err_set(e, INCORE_USAGE, "bad-query", "there is no track");
	a.track = (track_idx)track;
	if (!view_at_find(&a, q, &found, e))
		return false;
	if (found)
		ok = view_at_load(&a, e);
	if (ok) {
		json_w_buf(&w, out, 1);
		json_w_object(&w);
		json_w_kv_cstr(&w, "schema", "incore.view.at/1");
		json_w_kv_u64(&w, "track", track);
		if (found)
			view_at_put_slice(&a, &w);
		else
			json_w_kv_null(&w, "slice");
		json_w_end(&w);
		ok = json_w_finish(&w, e);
	}
	view_track_deinit(&a.k);
	return ok;
}
