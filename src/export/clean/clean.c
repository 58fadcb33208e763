/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean.c: a run that is made readable: its slices on lanes, in rows, with arrows and sums. Parts:
 * lanes; slices of a trace; rows; sums of pipes; arrows.
 */
#include "export/clean/clean.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/pipes/pipe_sweep.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "codec/json_writer.h"
#include "codec/trace_events.h"
#include "isa/ascend.h"
#include "trace/trace_text.h"

/* --- lanes ------------------------------------------------------------------------------------ */

/*
 * Lanes, their order and names; creates and frees the list that all of clean works on.
 */

void clean_init(struct clean *c, const struct clean_options *o)
{
	*c = (struct clean){.options = *o, .time_name = "us", .ticks_per_unit = 1};
	arena_init(&c->arena);
	intern_init(&c->lane_keys);
	intern_init(&c->sync_keys);
}

void clean_deinit(struct clean *c)
{
	arena_deinit(&c->arena);
	intern_deinit(&c->lane_keys);
	intern_deinit(&c->sync_keys);
	VEC_FREE(&c->lanes);
	VEC_FREE(&c->slices);
	mem_free(c->row_of);
	mem_free(c->rows);
	VEC_FREE(&c->heads);
	VEC_FREE(&c->syncs);
	VEC_FREE(&c->keys);
	VEC_FREE(&c->arrows);
	VEC_FREE(&c->waits);
	VEC_FREE(&c->counters);
	VEC_FREE(&c->span_pool);
	sb_free(&c->unmatched);
}

/* --- names --- */

static bool clean_is_kept(const struct clean_options *o, struct str pipe)
{
	if (o->keep_all)
		return true;
	if (str_is(pipe, "SCALAR"))
		return o->keep_scalar;
	return !str_is(pipe, "FLOWCTRL") && !str_is(pipe, "CACHEMISS") && !str_is(pipe, "ALL");
}

static bool clean_add_lanes(struct clean *c, struct str pid, struct str pipe)
{
	enum ascend_pipe number = ascend_pipe_of_lane(pipe);
	struct clean_lane k = {.order = ascend_lane(number)->dataflow * 1000 + number,
		.is_kept = clean_is_kept(&c->options, pipe)};
	char *a = arena_strndup(&c->arena, pid.p ? pid.p : "", pid.n);
	char *b = arena_strndup(&c->arena, pipe.p ? pipe.p : "", pipe.n);

	if (!a || !b)
		return false;
	k.pid = (struct str){a, pid.n};
	k.pipe = (struct str){b, pipe.n};
	if (!VEC_PUSH(&c->lanes, k))
		return false;
	k.is_wait = true;
	return VEC_PUSH(&c->lanes, k);
}

static bool put_lane_key(struct strbuf *b, struct str pid, struct str pipe)
{
	sb_add(b, pid.p ? pid.p : "", pid.n);
	sb_putc(b, 0);
	sb_add(b, pipe.p ? pipe.p : "", pipe.n);
	return !b->failed;
}

/* The lane of (pid, pipe), created on first use; the next one is its sync lane. UINT32_MAX: no
 * memory. */
static uint32_t clean_lane_of(struct clean *c, struct str pid, struct str pipe)
{
	struct strbuf b = {0};
	uint32_t n = c->lane_keys.n, k = INTERN_NONE;

	if (put_lane_key(&b, pid, pipe))
		k = intern_add(&c->lane_keys, (struct str){b.p, b.n});
	sb_free(&b);
	if (k == INTERN_NONE || (k == n && !clean_add_lanes(c, pid, pipe)))
		return UINT32_MAX;
	return 2 * k;
}

/* Finds the lane of (pid, pipe); UINT32_MAX: it does not exist. */
static uint32_t clean_find_lane(const struct clean *c, struct str pid, struct str pipe)
{
	struct strbuf b = {0};
	uint32_t k = INTERN_NONE;

	if (put_lane_key(&b, pid, pipe))
		k = intern_find(&c->lane_keys, (struct str){b.p, b.n});
	sb_free(&b);
	return k == INTERN_NONE ? UINT32_MAX : 2 * k;
}

int clean_compare_lanes(const struct clean *c, uint32_t x, uint32_t y)
{
	const struct clean_lane *a = &c->lanes.v[x], *b = &c->lanes.v[y];

	RETURN_UNLESS_EQUAL(a->group, b->group);
	RETURN_UNLESS_EQUAL(a->order, b->order);
	return COMPARE(x, y);
}

/* --- slices of a trace ------------------------------------------------------------------------ */

/*
 * The slices of a trace of pipes as the list that clean works on. If the trace has its text, times
 * are those written there and slices remember their event; otherwise (dumps, packed files, files
 * for viewers) times are cycles, shown as 1 ns each.
 */

#define CYCLE_SHOWN 0.001 /* microseconds */

/* Describes a slice of the text in four bytes: tracks are read one after the other, each with
 * slices all over the text, but the slices are made in the order of the text. */
#define PLACE(lane, is_sync, kind) ((lane) << 4 | (uint32_t)(is_sync) << 3 | (uint32_t)(kind))
#define PLACE_LANE(p) ((p) >> 4)
#define PLACE_IS_SYNC(p) ((p)&8)
#define PLACE_KIND(p) ((enum pipe_kind)((p)&7))

struct source {
	struct clean *c;
	const struct trace *t;
	const struct trace_text *text; /* NULL: times are cycles */
	uint8_t *kinds;		       /* by code row: enum pipe_kind */
	uint32_t *first_sync;	       /* by track: range in c->syncs */
	uint32_t *end_sync;
	VEC(uint32_t) slice_of; /* by sync: its slice in the track */
	uint32_t *place; /* by number in the text: PLACE(), later its slice; or CLEAN_NO_SLICE */
	struct track_data data;
	uint32_t n_slices; /* read so far */
};

/* --- words of the code table, where there is no text --- */

static bool clean_trace_make_row(struct source *k, code_idx code)
{
	const struct code_row *r = &k->t->code[code];
	struct clean_row *out = &k->c->rows[code];
	struct json_writer w;
	struct strbuf b = {0};
	struct str text = {r->text, r->text_len}, opcode = str_of(k->t->opcodes[r->opcode]);
	char pc[24];
	char *copy;

	json_w_buf(&w, &b, 0);
	json_w_str(&w, opcode);
	out->name_len = (uint32_t)b.n;
	snprintf(pc, sizeof(pc), "0x%llx", (unsigned long long)r->address);
	json_w_buf(&w, &b, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "code", r->source ? r->source : "");
	json_w_kv_str(
		&w, "detail", text.n > opcode.n ? str_sub(text, opcode.n + 1, text.n) : STR(""));
	json_w_kv_cstr(&w, "pc_addr", pc);
	json_w_end(&w);
	out->args_len = (uint32_t)b.n - out->name_len;
	copy = b.failed ? NULL : arena_strndup(&k->c->arena, b.p, b.n);
	sb_free(&b);
	out->p = copy;
	return copy != NULL;
}

/* --- flags --- */

static bool add_key(const struct source *k, struct str text, uint32_t *key)
{
	struct ascend_flag f = ascend_flag_of(text);
	struct str *const part[3] = {&f.producer, &f.consumer, &f.id};
	struct clean *c = k->c;
	struct strbuf b = {0};
	uint32_t n = c->sync_keys.n;
	const char *p;

	for (unsigned i = 0; i < 3; i++)
		if (k->text && !part[i]->n)
			*part[i] = STR("?");
	sb_printf(&b, "%.*s\t%.*s\t%.*s", STR_ARG(f.producer), STR_ARG(f.consumer), STR_ARG(f.id));
	*key = b.failed ? INTERN_NONE : intern_add(&c->sync_keys, (struct str){b.p, b.n});
	sb_free(&b);
	if (*key == INTERN_NONE || *key < n)
		return *key != INTERN_NONE;
	p = c->sync_keys.strs[*key].p;
	return VEC_PUSH(&c->keys,
		(struct clean_key){{p, f.producer.n}, {p + f.producer.n + 1, f.consumer.n},
			{p + f.producer.n + f.consumer.n + 2, f.id.n}});
}

static bool clean_trace_add_sync(struct source *k, uint32_t i, uint32_t lane, struct clean_sync s)
{
	const struct code_row *r = &k->t->code[k->data.code[i]];
	struct clean *c = k->c;

	s.lane = lane;
	s.slice = CLEAN_NO_SLICE;
	if (c->lanes.v[lane].is_kept && !(k->text && c->options.is_legacy))
		s.slice = k->text ? s.number : (uint32_t)c->slices.n;
	s.id = UINT64_MAX - c->syncs.n; /* unique: no partner yet */
	return add_key(k, (struct str){r->text, r->text_len}, &s.key) && VEC_PUSH(&c->syncs, s) &&
	       VEC_PUSH(&k->slice_of, i);
}

static struct clean_sync *find_sync(struct source *k, track_idx track, uint32_t slice)
{
	uint32_t lo = k->first_sync[track], hi = k->end_sync[track];

	if (!k->slice_of.n)
		return NULL;
	BISECT(lo, hi, i, k->slice_of.v[i] < slice);
	return lo < k->end_sync[track] && k->slice_of.v[lo] == slice ? &k->c->syncs.v[lo] : NULL;
}

static bool has_partner(const struct source *k, const struct clean_sync *s)
{
	return s->id <= k->t->n_links;
}

/* Gives partners the same id. An arrow of a viewer's file (LINK_FLOW) only lies near its slices, so
 * it counts only for flags without another partner. */
static void join_syncs(struct source *k, bool is_flow)
{
	for (uint32_t i = 0; i < k->t->n_links; i++) {
		const struct link *l = &k->t->links[i];
		struct clean_sync *a = find_sync(k, l->from_track, l->from_slice);
		struct clean_sync *b = find_sync(k, l->to_track, l->to_slice);

		mem_step(i);
		if ((l->kind == LINK_FLOW) == is_flow && a && b && a->is_set && !b->is_set &&
			!(is_flow && (has_partner(k, a) || has_partner(k, b))))
			a->id = b->id = (uint64_t)i + 1;
	}
}

/* --- slices --- */

/* Did the older cleaner treat it as synchronisation and leave it out, as it did with pairs? */
static bool is_legacy_sync(const struct source *k, code_idx code)
{
	struct str name = str_of(k->t->opcodes[k->t->code[code].opcode]);

	return str_is(name, "SET_FLAG") || str_is(name, "WAIT_FLAG") || str_is(name, "BAR");
}

static bool is_flag(enum pipe_kind kind)
{
	return kind == KIND_SET || kind == KIND_WAIT;
}

/* Records the slice at its place in the text, and for a flag also its times. */
static bool note_text_slice(struct source *k, track_idx track, uint32_t i, uint32_t lane)
{
	uint32_t number = k->text->of_track[track][i];
	enum pipe_kind kind = k->kinds[k->data.code[i]];
	bool is_legacy = k->c->options.is_legacy;
	const struct text_event *at;

	k->place[number] = PLACE(lane, is_legacy && is_legacy_sync(k, k->data.code[i]), kind);
	if (!is_flag(kind))
		return true;
	at = &k->text->slices.v[number];
	return (!at->is_pair && is_legacy) ||
	       clean_trace_add_sync(k, i, lane,
		       (struct clean_sync){.begin = at->ts,
			       .end = at->is_pair ? at->dur : at->ts + at->dur,
			       .is_set = kind == KIND_SET,
			       .number = number});
}

/* Adds a slice with the times of its text; k->place then has its index. */
static bool add_text_slice(struct source *k, uint32_t number)
{
	const struct text_event *at = &k->text->slices.v[number];
	uint32_t p = k->place[number], lane = PLACE_LANE(p);
	bool is_legacy = k->c->options.is_legacy;
	double end = at->is_pair ? at->dur : at->ts + at->dur;
	struct clean_slice s = {.at = at->offset,
		.ts = at->ts,
		.dur = at->is_pair ? (end > at->ts ? end - at->ts : 0) : at->dur,
		.lane = lane,
		.is_cut = at->is_pair};

	k->place[number] = CLEAN_NO_SLICE;
	if (p == CLEAN_NO_SLICE)
		return true;
	if (is_legacy && (at->is_pair || PLACE_IS_SYNC(p))) {
		k->c->lanes.v[lane + 1].n++;
		return true;
	}
	if (!is_legacy && !pipe_kind_is_work(PLACE_KIND(p))) {
		s.kind = (uint8_t)PLACE_KIND(p);
		s.lane++;
	}
	k->c->lanes.v[s.lane].n++;
	if (!k->c->lanes.v[s.lane].is_kept)
		return true;
	k->place[number] = (uint32_t)k->c->slices.n;
	return VEC_PUSH(&k->c->slices, s);
}

static bool clean_trace_add_head(struct source *k, track_idx track, uint32_t i)
{
	double stall = k->data.stall_cyc[i], cache = trace_cache_cyc(k->t, track, i);

	return VEC_PUSH(
		&k->c->heads, (struct clean_head){(uint32_t)k->c->slices.n, cache, stall - cache});
}

/* Adds a slice whose times are cycles. */
static bool clean_trace_add_slice(struct source *k, track_idx track, uint32_t i, uint32_t lane)
{
	const struct track_data *d = &k->data;
	code_idx code = d->code[i] < k->t->n_code ? d->code[i] : k->t->n_code;
	enum pipe_kind kind = k->kinds[code];
	struct clean_slice s = {.at = code,
		.ts = (double)(d->start_cyc[i] + d->stall_cyc[i]),
		.dur = (double)(d->dur_cyc[i] - d->stall_cyc[i]),
		.lane = lane + !pipe_kind_is_work(kind),
		.kind = (uint8_t)kind};

	if (!k->c->rows[code].p && !clean_trace_make_row(k, code))
		return false;
	if (is_flag(kind) && !clean_trace_add_sync(k, i, lane,
				     (struct clean_sync){.begin = s.ts,
					     .end = (double)(d->start_cyc[i] + d->dur_cyc[i]),
					     .is_set = kind == KIND_SET,
					     .number = (uint32_t)k->c->syncs.n}))
		return false;
	k->c->lanes.v[s.lane].n++;
	if (!k->c->lanes.v[s.lane].is_kept || (k->c->options.is_legacy && !pipe_kind_is_work(kind)))
		return true;
	return (!d->stall_cyc[i] || clean_trace_add_head(k, track, i)) &&
	       k->c->slices.n < UINT32_MAX - 1 && VEC_PUSH(&k->c->slices, s);
}

static bool clean_trace_add_track(struct source *k, track_idx i, struct incore_error *e)
{
	struct str name = str_of(k->t->tracks[i].name), pid = name, pipe = STR("?");
	ptrdiff_t slash = str_rfind_char(name, '/');
	bool ok = true;
	uint32_t lane;

	if (slash > 0) {
		pid = str_sub(name, 0, (size_t)slash);
		pipe = str_sub(name, (size_t)slash + 1, name.n);
	}
	if (!trace_load_track(k->t, i, 0, &k->data, e))
		return false;
	lane = clean_lane_of(k->c, pid, pipe);
	if (lane == UINT32_MAX)
		return err_nomem(e);
	k->first_sync[i] = (uint32_t)k->c->syncs.n;
	for (uint32_t s = 0; ok && s < k->data.n; s++) {
		ok = k->text ? note_text_slice(k, i, s, lane)
			     : clean_trace_add_slice(k, i, s, lane);
		mem_step(s);
	}
	k->end_sync[i] = (uint32_t)k->c->syncs.n;
	k->n_slices += k->data.n;
	return ok || err_nomem(e);
}

/* --- data only in the text --- */

static uint32_t lane_in_text(struct source *k, const struct text_event *at)
{
	const char *p = (const char *)k->c->file->data;
	struct trace_event ev;

	return at->offset < k->c->file->size &&
			       trace_event_at(p + at->offset, p + k->c->file->size, &ev)
		       ? clean_lane_of(k->c, ev.pid, ev.tid)
		       : UINT32_MAX;
}

/* Adds a head cost that names no instruction: alone, after all other slices. */
static bool add_lone_head(struct source *k, uint32_t i)
{
	const struct text_event *at = &k->text->lone_heads.v[i];
	struct clean_slice s = {.at = at->offset, .ts = at->ts, .dur = at->dur};

	s.lane = lane_in_text(k, at);
	if (s.lane == UINT32_MAX)
		return false;
	k->c->lanes.v[s.lane].n++;
	if (!k->c->lanes.v[s.lane].is_kept)
		return true;
	k->c->n_heads_left++;
	return VEC_PUSH(&k->c->slices, s);
}

ORDER(by_slice, struct clean_head, UP(slice))

static bool add_text_slices(struct source *k)
{
	struct clean *c = k->c;
	const struct trace_text *x = k->text;
	bool ok = true;

	for (size_t i = 0; ok && i < x->slices.n; i++) {
		ok = add_text_slice(k, (uint32_t)i);
		mem_step(i);
	}
	for (size_t i = 0; ok && i < c->syncs.n; i++) {
		mem_step(i);
		if (c->syncs.v[i].slice != CLEAN_NO_SLICE)
			c->syncs.v[i].slice = k->place[c->syncs.v[i].slice];
	}
	for (size_t i = 0; ok && i < x->heads.n; i++) {
		struct clean_head h = {
			k->place[x->heads.v[i].event], x->heads.v[i].cache, x->heads.v[i].ccu};

		mem_step(i);
		ok = h.slice == CLEAN_NO_SLICE || VEC_PUSH(&c->heads, h);
	}
	return ok && SORT_LONG(c->heads.v, c->heads.n, by_slice);
}

static bool add_rest_of_text(struct source *k)
{
	const struct trace_text *x = k->text;
	struct clean *c = k->c;
	bool ok = add_text_slices(k);

	for (uint32_t i = 0; ok && i < x->lone_heads.n; i++)
		ok = add_lone_head(k, i);
	for (size_t i = 0; ok && i < x->counters.n; i++) {
		uint32_t lane = lane_in_text(k, &x->counters.v[i]);

		c->n_moved_samples += !(x->counters.v[i].ts > 0);
		ok = lane != UINT32_MAX &&
		     VEC_PUSH(&c->counters, (struct clean_event){x->counters.v[i].offset,
						    x->counters.v[i].ts, lane});
	}
	c->n_events = x->n_events;
	c->schema_version = x->schema_version;
	if (x->profiling_type)
		c->profiling_type = arena_strdup(&c->arena, x->profiling_type);
	return ok && (c->profiling_type || !x->profiling_type);
}

/* --- the whole trace --- */

struct first_event {
	uint32_t number;
	track_idx track;
};

ORDER(by_first_event, struct first_event, UP(number))

/* Orders tracks by their first event in the text, or keeps the order without a text. */
static struct first_event *order_tracks(const struct source *k)
{
	uint32_t n = k->t->n_tracks;
	struct first_event *v = mem_resize(NULL, (size_t)n + 1, sizeof(*v));

	for (track_idx i = 0; v && i < n; i++) {
		v[i] = (struct first_event){i, i};
		if (!k->text)
			continue;
		v[i].number = UINT32_MAX;
		for (uint32_t s = 0; s < k->t->tracks[i].n_slices; s++) {
			mem_step(s);
			if (k->text->of_track[i][s] < v[i].number)
				v[i].number = k->text->of_track[i][s];
		}
	}
	if (v && n)
		SORT(v, n, by_first_event);
	return v;
}

static bool begin_reading(struct source *k)
{
	struct clean *c = k->c;
	size_t n = k->text ? k->text->slices.n + k->text->lone_heads.n : 0;

	k->first_sync = mem_zalloc((size_t)k->t->n_tracks + 1, sizeof(*k->first_sync));
	k->end_sync = mem_zalloc((size_t)k->t->n_tracks + 1, sizeof(*k->end_sync));
	k->kinds = pipe_kinds_new(k->t);
	if (!k->first_sync || !k->end_sync || !k->kinds)
		return false;
	if (k->text) {
		c->is_text = true;
		k->place = n < UINT32_MAX ? mem_resize(NULL, n + 1, sizeof(*k->place)) : NULL;
		for (size_t i = 0; k->place && i < n; i++) {
			mem_step(i);
			k->place[i] = CLEAN_NO_SLICE;
		}
		return k->place != NULL;
	}
	c->time_name = "cycles";
	c->ticks_per_unit = CYCLE_SHOWN;
	c->rows = mem_zalloc((size_t)k->t->n_code + 1, sizeof(*c->rows));
	if (c->rows)
		c->rows[k->t->n_code] = (struct clean_row){"\"?\"", 3, 0};
	return c->rows != NULL;
}

static bool read_tracks(struct source *k, struct incore_error *e)
{
	struct first_event *order = order_tracks(k);
	bool ok = order || err_nomem(e);

	progress_begin(k->c->options.progress, "pipes", k->t->n_tracks);
	for (uint32_t i = 0; ok && i < k->t->n_tracks; i++) {
		progress_add(k->c->options.progress, 1);
		ok = clean_trace_add_track(k, order[i].track, e);
	}
	progress_end(k->c->options.progress);
	mem_free(order);
	return ok;
}

bool clean_read_trace(struct clean *c, const struct trace *t, const struct file_data *file,
	struct incore_error *e)
{
	struct source k = {.c = c, .t = t};
	bool ok;

	if (t->text && !t->text->has_numbered_lanes)
		k.text = t->text;
	c->file = file;
	ok = (begin_reading(&k) || err_nomem(e)) && read_tracks(&k, e);
	c->n_events = k.n_slices;
	if (ok && k.text && !add_rest_of_text(&k))
		ok = err_nomem(e);
	if (ok) {
		join_syncs(&k, false);
		join_syncs(&k, true);
	}
	track_data_deinit(&k.data);
	VEC_FREE(&k.slice_of);
	mem_free(k.place);
	mem_free(k.first_sync);
	mem_free(k.end_sync);
	mem_free(k.kinds);
	return ok;
}

/* --- rows ------------------------------------------------------------------------------------- */

/*
 * Assigns each slice a row of its lane, and sums up each lane.
 */

/* Times were stored as float32: the end of a slice may be later than the start of the next adjacent
 * one by less than half a cycle (microseconds; 0.27 ns at 1.85 GHz). The older form compares
 * exactly. */
#define TOUCH_SLACK 0.00025

static int compare_pids(const void *pa, const void *pb)
{
	const struct clean_lane *const *a = pa, *const *b = pb;

	return str_cmp((*a)->pid, (*b)->pid);
}

/* Numbers the pids in string order. */
static bool clean_layout_number_groups(struct clean *c)
{
	size_t n = c->lanes.n;
	struct clean_lane **order = mem_resize(NULL, n ? n : 1, sizeof(struct clean_lane *));
	uint32_t group = 0;

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = &c->lanes.v[i];
	qsort(order, n, sizeof(struct clean_lane *), compare_pids);
	for (size_t i = 0; i < n; i++) {
		group += i && !str_eq(order[i]->pid, order[i - 1]->pid);
		order[i]->group = group;
	}
	mem_free(order);
	return true;
}

/* The spans of all lanes in one array, lane after lane, in the order they were read. */
static bool gather_spans(struct clean *c)
{
	size_t n = c->slices.n, at = 0;

	if (!VEC_RESERVE(&c->span_pool, n + 1))
		return false;
	c->span_pool.n = n;
	for (size_t i = 0; i < c->lanes.n; i++)
		c->lanes.v[i].n_spans = 0;
	for (size_t i = 0; i < n; i++) {
		mem_step(i);
		c->lanes.v[c->slices.v[i].lane].n_spans++;
	}
	for (size_t i = 0; i < c->lanes.n; i++) {
		c->lanes.v[i].spans = c->span_pool.v + at;
		at += c->lanes.v[i].n_spans;
		c->lanes.v[i].n_spans = 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct clean_slice *s = &c->slices.v[i];
		struct clean_lane *k = &c->lanes.v[s->lane];

		mem_step(i);
		k->spans[k->n_spans++] = (struct clean_span){s->ts, s->dur, (uint32_t)i};
	}
	return true;
}

/* Cuts the slice of a span at the start of the next one on its row; the span stays unchanged. */
static void cut_before(struct clean *c, const struct clean_span *x, double start)
{
	struct clean_slice *p;

	if (!(x->start + x->length > start))
		return;
	p = &c->slices.v[x->index];
	p->dur = start > p->ts ? start - p->ts : 0;
	p->is_cut = true;
	c->n_clipped++;
}

static bool clean_layout_put_rows(struct clean *c, struct clean_lane *k, struct clean_rows *rows)
{
	double slack = c->options.is_legacy ? 0 : TOUCH_SLACK * c->ticks_per_unit;
	VEC(size_t) last = {0}; /* last span on each row */
	bool ok = true;

	if (c->ticks_per_unit != 1)
		slack = 0; /* times are whole cycles */
	clean_rows_clear(rows);
	for (size_t i = 0; ok && i < k->n_spans; i++) {
		const struct clean_span *s = &k->spans[i];
		uint32_t row = clean_rows_put(rows, s->start, s->start + s->length, slack);

		mem_step(i);
		if (row == CLEAN_NO_ROW || (row >= last.n && !VEC_PUSH(&last, 0))) {
			ok = false;
			break;
		}
		if (rows->n_rows > k->n_rows)
			k->n_rows = rows->n_rows;
		else if (slack > 0)
			cut_before(c, &k->spans[last.v[row]], s->start);
		c->row_of[s->index] = row;
		last.v[row] = i;
	}
	VEC_FREE(&last);
	return ok;
}

bool clean_layout(struct clean *c, struct incore_error *e)
{
	struct clean_rows rows;
	bool ok;

	c->row_of = mem_resize(NULL, c->slices.n + 1, sizeof(*c->row_of));
	ok = c->row_of && clean_layout_number_groups(c) && gather_spans(c);
	clean_rows_init(&rows);
	progress_begin(c->options.progress, "lanes", c->lanes.n);
	for (size_t i = 0; ok && i < c->lanes.n; i++) {
		struct clean_lane *k = &c->lanes.v[i];

		ok = clean_sort(k->spans, k->n_spans) && clean_layout_put_rows(c, k, &rows) &&
		     clean_sum(k->spans, k->n_spans, &k->sum);
		progress_add(c->options.progress, 1);
	}
	progress_end(c->options.progress);
	clean_rows_deinit(&rows);
	return ok || err_nomem(e);
}

/* --- sums of pipes ---------------------------------------------------------------------------- */

/*
 * How long each pipe was busy and what it waited for. This uses the accounting of pipes
 * (pipe_sweep.h), so that the summary of a cleaned trace and the verbs agree; slices are only
 * converted to the columns that it reads. Microseconds become whole picoseconds.
 */

#define TICKS_PER_US 1000000.0
#define SHORT_BARRIER_US 0.002 /* PIPE_BARRIER_SHOWN_CYC of any clock */

/* Code rows for the columns: one row per kind. */
static const uint8_t kinds[] = {[KIND_WORK] = KIND_WORK,
	[KIND_CONFIG] = KIND_CONFIG,
	[KIND_SET] = KIND_SET,
	[KIND_WAIT] = KIND_WAIT,
	[KIND_BUFFER] = KIND_BUFFER,
	[KIND_BARRIER] = KIND_BARRIER,
	[KIND_NOTHING] = KIND_NOTHING,
	[KIND_NOTHING + 1] = KIND_NOTHING};

struct sums {
	struct clean *c;
	double scale; /* ticks of the columns per unit of time */
	struct trace trace;
	struct track_data data;
	struct pipe_sweep sweep;
	uint32_t *producer;   /* by slice: lane of the SET, or CLEAN_BY_... */
	VEC(uint32_t) slices; /* slice of each entry of the columns */
	struct u64_map wait_at;
	uint32_t lane;
	uint64_t busy, waiting;
};

static enum pipe_kind clean_sums_kind_of(const struct clean *c, const struct clean_slice *s)
{
	bool is_shown_only = c->ticks_per_unit == 1 && s->dur <= SHORT_BARRIER_US;

	return s->kind == KIND_BARRIER && is_shown_only ? KIND_NOTHING : (enum pipe_kind)s->kind;
}

/* --- waits --- */

static struct clean_wait *wait_of(struct sums *x, uint32_t producer)
{
	uint64_t *k = u64_map_at(&x->wait_at, (uint64_t)x->lane << 32 | producer);

	if (!k)
		return NULL;
	if (!*k) {
		if (!VEC_PUSH(&x->c->waits,
			    (struct clean_wait){.lane = x->lane, .producer = producer}))
			return NULL;
		*k = x->c->waits.n;
	}
	return &x->c->waits.v[*k - 1];
}

static bool clean_sums_take_piece(void *ctx, const struct pipe_piece *p)
{
	struct sums *x = ctx;
	uint64_t n = p->to_cyc - p->from_cyc;
	struct clean_wait *w;

	if (p->bucket == BUCKET_ISSUE)
		x->busy += n;
	if (p->bucket != BUCKET_WAIT)
		return true;
	x->waiting += n;
	w = wait_of(x, x->producer[x->slices.v[p->slice]]);
	if (w)
		w->exposed += (double)n / x->scale;
	return w != NULL;
}

/* --- columns --- */

/* Rounds a time to the nearest cycle, clamped to the valid range. */
static uint64_t cycle_of(double v)
{
	const double most = 0x1p62;

	return v > 0 ? (uint64_t)nearbyint(v < most ? v : most) : 0;
}

static bool clean_sums_add_lane(struct sums *x, const struct clean_lane *k)
{
	struct track_data *d = &x->data;

	EACH (const struct clean_span, s, k->spans, k->n_spans) {
		enum pipe_kind kind = k->is_wait
					      ? clean_sums_kind_of(x->c, &x->c->slices.v[s->index])
					      : KIND_WORK;
		uint64_t from = cycle_of(s->start * x->scale);
		uint64_t to = cycle_of((s->start + s->length) * x->scale);
		uint64_t length = to > from ? to - from : 0;

		d->start_cyc[d->n] = from;
		d->dur_cyc[d->n] = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
		d->stall_cyc[d->n] = 0;
		d->code[d->n] = kind;
		if (to > d->end_cyc)
			d->end_cyc = to;
		d->n++;
		mem_step(x->slices.n);
		x->slices.v[x->slices.n++] = s->index;
		if (!pipe_kind_is_wait(kind))
			continue;
		if (kind != KIND_WAIT)
			x->producer[s->index] =
				kind == KIND_BARRIER ? CLEAN_BY_BARRIER : CLEAN_BY_BUFFER;
		if (!wait_of(x, x->producer[s->index]))
			return false;
		wait_of(x, x->producer[s->index])->n++;
	}
	return true;
}

static bool sum_pipe(struct sums *x, uint32_t lane, struct incore_error *e)
{
	struct clean_lane *k = &x->c->lanes.v[lane];
	struct walk_track w = {.trace = &x->trace, .data = &x->data, .to_cyc = UINT64_MAX};
	size_t n = k->n_spans + k[1].n_spans;

	if (!k->is_kept || n == 0)
		return true;
	track_data_reset(&x->data);
	x->slices.n = 0;
	x->lane = lane;
	x->busy = x->waiting = 0;
	if (n > UINT32_MAX || !track_data_reserve(&x->data, (uint32_t)n) ||
		!VEC_RESERVE(&x->slices, n) || !clean_sums_add_lane(x, k) ||
		!clean_sums_add_lane(x, k + 1))
		return err_nomem(e);
	if (!pipe_sweep_track(&x->sweep, &w, kinds, clean_sums_take_piece, x, e))
		return false;
	k->busy = (double)x->busy / x->scale;
	k[1].busy = (double)x->waiting / x->scale;
	return true;
}

/* --- all of them --- */

ORDER(by_exposed, struct clean_wait, UP(lane) DOWN(exposed) UP(producer))

/* Lengths have 32 bits: if a slice takes more than 4 ms, all get a coarser scale. */
static double scale_for(const struct clean *c)
{
	double most = 0, scale = c->ticks_per_unit == 1 ? TICKS_PER_US : 1;

	for (size_t i = 0; i < c->slices.n; i++) {
		mem_step(i);
		most = c->slices.v[i].dur > most ? c->slices.v[i].dur : most;
	}
	while (most * scale >= UINT32_MAX)
		scale /= 10;
	return scale;
}

/* Computes busy time and exposed waits of every kept pipe, by the same accounting as the verbs
 * (pipe_sweep.h). partner: by sync, the lane of a WAIT's SET. */
static bool clean_sum_pipes(struct clean *c, const uint32_t *partner, struct incore_error *e)
{
	struct sums x = {.c = c, .scale = scale_for(c)};
	bool ok;

	x.trace.n_code = KIND_NOTHING + 1;
	x.producer = mem_resize(NULL, c->slices.n + 1, sizeof(*x.producer));
	ok = x.producer != NULL || err_nomem(e);
	for (size_t i = 0; ok && i < c->slices.n; i++) {
		mem_step(i);
		x.producer[i] = CLEAN_BY_NOBODY;
	}
	for (size_t i = 0; ok && i < c->syncs.n; i++) {
		mem_step(i);
		if (c->syncs.v[i].slice < c->slices.n)
			x.producer[c->syncs.v[i].slice] = partner[i];
	}
	for (uint32_t i = 0; ok && i + 1 < c->lanes.n; i += 2)
		ok = sum_pipe(&x, i, e);
	if (ok && c->waits.n)
		SORT(c->waits.v, c->waits.n, by_exposed);
	u64_map_deinit(&x.wait_at);
	VEC_FREE(&x.slices);
	track_data_deinit(&x.data);
	pipe_sweep_deinit(&x.sweep);
	mem_free(x.producer);
	return ok;
}

/* --- arrows ----------------------------------------------------------------------------------- */

/*
 * Matches each SET with its WAIT, and chooses the instructions at the ends of arrows. Partners
 * share an id, as the trace has linked them. The older form does not use that: it matches the k-th
 * SET of a flag on a core with its k-th WAIT.
 */

#define NAMED_UNMATCHED 5

struct clean_link_entry { /* one end of a flag, in the order in which they are matched */
	uint64_t group;
	double begin;
	uint32_t sync, number;
	bool is_wait;
};

ORDER(by_group, struct clean_link_entry, UP(group) UP(is_wait) UP(begin) UP(number))

static uint64_t group_of(const struct clean *c, const struct clean_sync *s)
{
	if (!c->options.is_legacy)
		return s->id;
	return hash_mix64((uint64_t)c->lanes.v[s->lane].group << 32 | s->key);
}

/* The lane of a pipe named in a detail, on the core of the lane `beside`; UINT32_MAX: no lane. */
static uint32_t lane_named(const struct clean *c, uint32_t beside, struct str name)
{
	return clean_find_lane(
		c, c->lanes.v[beside].pid, str_is(name, "VEC") ? STR("VECTOR") : name);
}

/* The instruction before a SET: the last one that began by then. */
static uint32_t clean_link_producer_of(const struct clean *c, const struct clean_sync *s)
{
	uint32_t lane =
		c->options.is_legacy ? lane_named(c, s->lane, c->keys.v[s->key].pipe) : s->lane;
	const struct clean_lane *k;
	size_t i;

	if (lane == UINT32_MAX)
		return CLEAN_NO_SLICE;
	k = &c->lanes.v[lane];
	i = clean_last_before(k->spans, k->n_spans, s->begin);
	return i < k->n_spans ? k->spans[i].index : s->slice;
}

static uint32_t consumer_of(const struct clean *c, const struct clean_sync *s)
{
	uint32_t lane =
		c->options.is_legacy ? lane_named(c, s->lane, c->keys.v[s->key].trigger) : s->lane;
	const struct clean_lane *k;
	size_t i;

	if (lane == UINT32_MAX)
		return CLEAN_NO_SLICE;
	k = &c->lanes.v[lane];
	i = clean_first_after(k->spans, k->n_spans, s->end);
	return i < k->n_spans ? k->spans[i].index : s->slice;
}

static bool add_arrow(struct clean *c, uint32_t set, uint32_t wait)
{
	const struct clean_sync *s = &c->syncs.v[set], *w = &c->syncs.v[wait];
	struct clean_arrow a = {.from = clean_link_producer_of(c, s),
		.to = consumer_of(c, w),
		.key = s->key,
		.number = s->number};

	if (a.from != CLEAN_NO_SLICE && a.to != CLEAN_NO_SLICE)
		return VEC_PUSH(&c->arrows, a);
	if (!c->lanes.v[s->lane].is_kept || !c->lanes.v[w->lane].is_kept)
		c->n_hidden_arrows++;
	else
		c->n_no_anchor++;
	return true;
}

static void name_unmatched(struct clean *c, const struct clean_sync *s)
{
	const struct clean_key *k = &c->keys.v[s->key];
	const struct clean_lane *lane = &c->lanes.v[s->lane];
	uint64_t n = s->is_set ? c->n_unmatched_sets : c->n_unmatched_waits;

	if (n > NAMED_UNMATCHED)
		return;
	sb_printf(&c->unmatched, "%s%s of %.*s/%.*s at %.6g (%.*s->%.*s flag %.*s)",
		c->unmatched.n ? "; " : "", s->is_set ? "SET" : "WAIT", STR_ARG(lane->pid),
		STR_ARG(lane->pipe), s->begin * c->ticks_per_unit, STR_ARG(k->pipe),
		STR_ARG(k->trigger), STR_ARG(k->flag));
}

static bool add_unmatched(struct clean *c, uint32_t sync)
{
	const struct clean_sync *s = &c->syncs.v[sync];

	if (s->is_set)
		c->n_unmatched_sets++;
	else
		c->n_unmatched_waits++;
	name_unmatched(c, s);
	return !c->unmatched.failed;
}

/* Matches the k-th SET of a group with its k-th WAIT. */
static bool match_group(struct clean *c, const struct clean_link_entry *v, size_t n_sets,
	size_t n_waits, uint32_t *partner)
{
	for (size_t i = 0; i < n_sets || i < n_waits; i++) {
		mem_step(i);
		if (i >= n_waits      ? !add_unmatched(c, v[i].sync)
			: i >= n_sets ? !add_unmatched(c, v[n_sets + i].sync)
				      : !add_arrow(c, v[i].sync, v[n_sets + i].sync))
			return false;
		if (i < n_sets && i < n_waits)
			partner[v[n_sets + i].sync] = c->syncs.v[v[i].sync].lane;
	}
	return true;
}

static bool clean_link_match(
	struct clean *c, const struct clean_link_entry *v, size_t n, uint32_t *partner)
{
	size_t n_groups = 0;

	for (size_t i = 0; i < n;) {
		size_t from = i, sets;

		mem_step(n_groups++);
		while (i < n && v[i].group == v[from].group && !v[i].is_wait)
			i++;
		sets = i - from;
		while (i < n && v[i].group == v[from].group)
			i++;
		if (!match_group(c, v + from, sets, i - from - sets, partner))
			return false;
	}
	return true;
}

ORDER(by_number, struct clean_arrow, UP(number))

bool clean_link(struct clean *c, struct incore_error *e)
{
	size_t n = c->syncs.n;
	struct clean_link_entry *v = mem_resize(NULL, n + 1, sizeof(*v));
	uint32_t *partner = mem_resize(NULL, n + 1, sizeof(*partner));
	bool ok = v && partner;

	for (size_t i = 0; ok && i < n; i++) {
		const struct clean_sync *s = &c->syncs.v[i];

		v[i] = (struct clean_link_entry){
			group_of(c, s), s->begin, (uint32_t)i, s->number, !s->is_set};
		partner[i] = UINT32_MAX;
		mem_step(i);
	}
	ok = ok && SORT_LONG(v, n, by_group) && clean_link_match(c, v, n, partner);
	mem_free(v);
	if (!ok)
		err_nomem(e);
	ok = ok && clean_sum_pipes(c, partner, e);
	mem_free(partner);
	return ok && (SORT_LONG(c->arrows.v, c->arrows.n, by_number) || err_nomem(e));
}
