/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_trace.c: the slices of a trace of pipes as the list that clean works on. If the trace has
 * its text, times are those written there and slices remember their event; otherwise (dumps, packed
 * files, files for viewers) times are cycles, shown as 1 ns each.
 */

#include "analysis/pipes/pipe_sweep.h"
#include "base/mem.h"
#include "base/search.h"
#include "codec/json_writer.h"
#include "codec/trace_events.h"
#include "export/clean/clean.h"
#include "isa/ascend.h"
#include "trace/trace_text.h"

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

static bool make_row(struct source *k, code_idx code)
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

static bool add_sync(struct source *k, uint32_t i, uint32_t lane, struct clean_sync s)
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
	       add_sync(k, i, lane,
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

static bool add_head(struct source *k, track_idx track, uint32_t i)
{
	double stall = k->data.stall_cyc[i], cache = trace_cache_cyc(k->t, track, i);

	return VEC_PUSH(
		&k->c->heads, (struct clean_head){(uint32_t)k->c->slices.n, cache, stall - cache});
}

/* Adds a slice whose times are cycles. */
static bool add_slice(struct source *k, track_idx track, uint32_t i, uint32_t lane)
{
	const struct track_data *d = &k->data;
	code_idx code = d->code[i] < k->t->n_code ? d->code[i] : k->t->n_code;
	enum pipe_kind kind = k->kinds[code];
	struct clean_slice s = {.at = code,
		.ts = (double)(d->start_cyc[i] + d->stall_cyc[i]),
		.dur = (double)(d->dur_cyc[i] - d->stall_cyc[i]),
		.lane = lane + !pipe_kind_is_work(kind),
		.kind = (uint8_t)kind};

	if (!k->c->rows[code].p && !make_row(k, code))
		return false;
	if (is_flag(kind) && !add_sync(k, i, lane,
				     (struct clean_sync){.begin = s.ts,
					     .end = (double)(d->start_cyc[i] + d->dur_cyc[i]),
					     .is_set = kind == KIND_SET,
					     .number = (uint32_t)k->c->syncs.n}))
		return false;
	k->c->lanes.v[s.lane].n++;
	if (!k->c->lanes.v[s.lane].is_kept || (k->c->options.is_legacy && !pipe_kind_is_work(kind)))
		return true;
	return (!d->stall_cyc[i] || add_head(k, track, i)) && k->c->slices.n < UINT32_MAX - 1 &&
	       VEC_PUSH(&k->c->slices, s);
}

static bool add_track(struct source *k, track_idx i, struct incore_error *e)
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
		ok = k->text ? note_text_slice(k, i, s, lane) : add_slice(k, i, s, lane);
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
		ok = add_track(k, order[i].track, e);
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
