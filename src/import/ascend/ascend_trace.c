/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_trace.c: a single trace.json of the op simulator: of a run, of one core, or cleaned.
 *
 * Parts: what we state in a trace.json; events; the format.
 */
#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "import/ascend/ascend.h"
#include "import/event_lanes.h"

/* --- what we state in a trace.json ------------------------------------------------------------ */

/*
 * The object "metadata" (insight) or "otherData" (chrome, clean) of a trace.json that we wrote: the
 * kind of evidence, the kernel, SoC and clock, and the producer's labels. Files of other tools have
 * no such object, or one without these keys.
 */

static bool ascend_trace_keep_text(struct asc_build *b, struct str raw, const char **out)
{
	sb_reset(&b->scratch);
	if (str_is(raw, "null"))
		return true;
	if (!trace_event_text(&b->scratch, raw))
		return false;
	if (b->scratch.n)
		*out = arena_strndup(&b->trace->arena, b->scratch.p, b->scratch.n);
	return !b->scratch.n || *out;
}

static bool read_labels(struct asc_build *b, struct str object, const char *path)
{
	struct asc_table k;
	struct str key, value;
	size_t pos = 0;

	asc_table_open(b, &k, ASCEND_TABLE_LABELS, path, "key|value");
	while (trace_event_member(object, &pos, &key, &value)) {
		struct str *const part[2] = {&key, &value};

		for (int i = 0; i < 2; i++) {
			sb_reset(&b->scratch);
			if (!trace_event_text(&b->scratch, *part[i]))
				k.is_failed = true;
			asc_put(b, &k,
				(struct str){b->scratch.p ? b->scratch.p : "", b->scratch.n});
		}
	}
	return asc_table_close(b, &k);
}

static uint64_t ascend_trace_number(struct str object, const char *key)
{
	uint64_t v;

	return str_to_u64(trace_event_find(object, key), &v) ? v : 0;
}

/* Finds the length of a cycle as written: insight states the clock as a fraction, or no clock and
 * writes 1 ns; chrome and clean describe "time" in words. Cleaned microseconds are the
 * simulator's. */
static void ascend_trace_read_clock(struct asc_build *b, struct str object)
{
	struct str time = trace_event_find(object, "time");
	struct str clock = trace_event_find(object, "clock_mhz");
	double mhz = 0;

	b->clock_hz_num = ascend_trace_number(object, "clock_hz_num");
	b->clock_hz_den = ascend_trace_number(object, "clock_hz_den");
	if (clock.n && trace_event_number(clock, &mhz) && mhz > 0 && mhz < 1e5) {
		b->clock_hz_num = (uint64_t)(mhz * 1e6 + 0.5);
		b->clock_hz_den = 1;
	}
	b->is_cycle_1ns = time.p ? str_has(time, "cycle") : !b->clock_hz_den;
	b->has_metadata = b->is_cycle_1ns || b->clock_hz_den;
}

/* Reads "metadata" or "otherData" of a trace.json, if our exporter wrote it. False when out of
 * memory. */
static bool asc_read_metadata(struct asc_build *b, struct str object, const char *path)
{
	struct trace_meta *m = &b->trace->meta;
	struct str evidence = trace_event_find(object, "evidence");

	/* Several TRACE blocks are one run: the first one has its metadata. */
	if (!trace_event_find(object, "incore").p || b->has_metadata)
		return true;
	ascend_trace_read_clock(b, object);
	if (evidence_of(evidence) != EVIDENCE_UNKNOWN)
		m->evidence = evidence_of(evidence);
	if (!ascend_trace_keep_text(b, trace_event_find(object, "soc"), &m->arch) ||
		!ascend_trace_keep_text(b, trace_event_find(object, "arch"), &m->arch) ||
		(!m->kernel &&
			!ascend_trace_keep_text(b, trace_event_find(object, "kernel"), &m->kernel)))
		return false;
	if (m->arch)
		m->arch_source = "metadata";
	return read_labels(b, trace_event_find(object, "labels"), path);
}

/* --- events ----------------------------------------------------------------------------------- */

/*
 * The events of a trace.json, or of a TRACE block, one pass, in any order. Flags come as B and E
 * with an id (per-run schema) or as X (per-core schema); cache_time and ccu_time are the head cost
 * of the instruction with the same group.
 */

/* Later times are not exact: 2^53 ps. */
#define MAX_US 4.0e12
#define NO_OPEN UINT32_MAX
/* Number of closed pairs whose names are remembered. */
#define MOST_CLOSED 4096
/* From here on the step of a 32-bit float may be noticeable in cycles. */
#define LATE_US 1024.0

static bool is_head_name(struct str name)
{
	return (name.n == 10 && memcmp(name.p, "cache_time", 10) == 0) ||
	       (name.n == 8 && memcmp(name.p, "ccu_time", 8) == 0);
}

static uint64_t parse_pc(struct str s)
{
	uint64_t v = 0;

	return s.n && str_to_u64(s, &v) ? v : 0;
}

/* Sets the kind of core: from the pid, or of the file. */
static void set_kind(struct asc_build *b, struct str pid, struct asc_op *op)
{
	struct ascend_unit u;

	op->is_kind_known =
		ascend_unit_of(pid, &u) || (b->unit && ascend_unit_of(str_of(b->unit), &u));
	op->kind = op->is_kind_known ? u.kind : ASCEND_PLAIN;
}

/* A viewer shows only one text, so our chrome export appends the operands of a flag to its name. */
static void split_name(struct trace_event *ev)
{
	ptrdiff_t blank = ev->detail.p ? -1 : str_find(ev->name, " ");

	if (blank <= 0 || ascend_sync_of(str_sub(ev->name, 0, (size_t)blank)) == SYNC_NONE)
		return;
	ev->detail = str_sub(ev->name, (size_t)blank + 1, ev->name.n);
	ev->name.n = (size_t)blank;
}

/* A miss is named by its address; its opcode is the lane's word. */
static uint32_t code_of_event(struct asc_build *b, const struct trace_event *ev)
{
	struct asc_op op = {.pc = parse_pc(ev->pc_addr),
		.name = ev->name,
		.detail = ev->detail,
		.code = ev->code};

	uint64_t own;

	set_kind(b, ev->pid, &op);
	/* A flag that is unknown to the viewer has another name in the files we write. */
	if (ev->ph == 'B') {
		struct str name = trace_event_find(ev->args, "true_name");

		op.name = name.n ? name : op.name;
	}
	if (b->own && ev->row.n && str_to_u64(ev->row, &own) && own < b->own->n_code)
		op.own = own + 1;
	if (str_is(ev->tid, "CACHEMISS") && str_starts(ev->name, "0x")) {
		op.pc = parse_pc(ev->name);
		op.name = STR("CACHEMISS");
		op.detail = ev->name;
	}
	return asc_code(b, &op);
}

static bool ascend_trace_note_time(struct asc_build *b, const struct trace_event *ev)
{
	double ns = ev->ts * 1000.0;

	if (!ev->has_ts) {
		b->counts[ev->is_ts_bad ? ASC_BAD_TS : ASC_NO_TS]++;
		return false;
	}
	if (ev->ts < 0 || ev->ts > MAX_US) {
		b->counts[ASC_BAD_TS]++;
		return false;
	}
	/* A 32-bit float of that size is off by up to half a step. */
	if (fabs(ns - nearbyint(ns)) > ns * 6e-8 + 1e-6)
		b->is_inexact = true;
	else
		b->is_quantised = true;
	if (ev->ts > LATE_US) {
		b->has_late_double |= (double)(float)ev->ts != ev->ts;
		b->float_us = ev->ts > b->float_us ? ev->ts : b->float_us;
	}
	return true;
}

/* Joins the slice with the head slices of its group, past or future. */
static bool ascend_trace_join_group(
	struct asc_build *b, uint32_t lane, struct track_slice *r, struct str group)
{
	/* by lane, too: the SET and the WAIT of a pair share an id, but each has its own head */
	uint64_t *at = u64_map_at(&b->head_at, hash_bytes(group.p, group.n, (uint64_t)lane + 3));
	struct asc_extra *x;

	if (!at)
		return false;
	if (*at && b->extras.v[*at - 1].lane == NO_TRACK && !(r->flags & REC_EXTRA)) {
		b->extras.v[*at - 1].event = r->stall;
		r->stall = (uint32_t)(*at - 1);
		r->flags |= REC_EXTRA;
		b->extras.v[r->stall].lane = lane;
		b->extras.v[r->stall].code = r->code;
		return true;
	}
	if (*at && b->extras.v[*at - 1].lane == NO_TRACK) {
		x = &b->extras.v[r->stall];
		x->cache += b->extras.v[*at - 1].cache;
		x->ccu += b->extras.v[*at - 1].ccu;
		b->extras.v[*at - 1].cache = b->extras.v[*at - 1].ccu = 0;
		b->extras.v[*at - 1].is_linked = true;
		*at = (uint64_t)r->stall + 1;
		return true;
	}
	if (*at) /* the group already has its instruction */
		return true;
	x = asc_extra_of(b, r, lane);
	if (x)
		*at = (uint64_t)r->stall + 1;
	return x != NULL;
}

/* For IMPORT_TEXT: stores the place of a slice that has no extra yet. */
static bool set_place(struct asc_build *b, struct track_slice *r, const struct text_event *at)
{
	if (!b->trace->text)
		return true;
	r->stall = (uint32_t)b->trace->text->slices.n;
	return b->trace->text->slices.n < UINT32_MAX - 1 && VEC_PUSH(&b->trace->text->slices, *at);
}

/* Whether it names an instruction is known at the end (keep_lone_heads() of finish.c). */
static bool place_head(
	struct asc_build *b, const struct trace_event *ev, double dur, uint32_t extra)
{
	struct text_event at = {.offset = b->text_base + ev->offset, .ts = ev->ts, .dur = dur};

	return !b->trace->text ||
	       (VEC_PUSH(&b->trace->text->lone_heads, at) && VEC_PUSH(&b->head_extras, extra));
}

static bool ascend_trace_add_head(struct asc_build *b, const struct trace_event *ev, uint32_t lane)
{
	uint64_t *at;
	double dur = ev->has_dur && ev->dur > 0 ? ev->dur : 0;

	if (!ev->group_id.n) {
		b->counts[ASC_LONE_HEAD]++;
		return place_head(b, ev, dur, NO_EXTRA);
	}
	at = u64_map_at(
		&b->head_at, hash_bytes(ev->group_id.p, ev->group_id.n, (uint64_t)lane + 3));
	if (!at)
		return false;
	if (*at == 0) {
		if (b->extras.n >= UINT32_MAX ||
			!VEC_PUSH(&b->extras, (struct asc_extra){.lane = NO_TRACK}))
			return false;
		*at = b->extras.n;
	}
	if (ev->name.n == 10)
		b->extras.v[*at - 1].cache += dur;
	else
		b->extras.v[*at - 1].ccu += dur;
	return place_head(b, ev, dur, (uint32_t)(*at - 1));
}

/* For files where the group of a flag is also its id. */
static bool ascend_trace_add_sync(
	struct asc_build *b, uint32_t lane, struct track_slice *r, struct str id, struct str detail)
{
	enum ascend_sync sync = (enum ascend_sync)b->rows.v[r->code].sync;
	struct asc_extra *x;

	if (sync == SYNC_NONE || sync == SYNC_NOP)
		return true;
	x = asc_extra_of(b, r, lane);
	if (!x)
		return false;
	x->sync = (uint8_t)sync;
	x->id = id;
	/* A cross-core id is unique in the run, a flag's id on its core. */
	if (id.n)
		x->key = hash_bytes(id.p, id.n, 11) | 1;
	else
		x->key = asc_fifo_key(b, lane, sync, detail);
	return true;
}

static bool add_bytes(struct asc_build *b, struct track_slice *r, struct str text)
{
	uint64_t v;

	if (!text.n || !str_to_u64(text, &v) || v >= UINT64_C(1) << 48)
		return true;
	b->code.v[r->code].bytes += v;
	return asc_set_bytes(b, r, v);
}

static bool ascend_trace_add_slice(struct asc_build *b, const struct trace_event *ev)
{
	uint32_t lane = asc_lane(b, ev->pid, ev->tid), code;
	double dur = ev->has_dur ? ev->dur : 0;
	struct text_event at = {.offset = b->text_base + ev->offset, .ts = ev->ts};
	struct track_slice *r;

	if (lane == NO_TRACK)
		return false;
	if (is_head_name(ev->name))
		return ascend_trace_add_head(b, ev, lane);
	if (dur < 0 || dur > MAX_US || (ev->dur_text.p && !ev->has_dur)) {
		b->counts[ASC_BAD_DUR]++;
		dur = 0;
	}
	code = code_of_event(b, ev);
	if (code == NO_CODE)
		return false;
	at.dur = dur;
	r = asc_add(b, lane, code);
	if (!r || !asc_set_us(b, r, ev->ts, dur) || !set_place(b, r, &at) ||
		!ascend_trace_add_sync(b, lane, r, ev->id, ev->detail))
		return false;
	return (!ev->group_id.n || ascend_trace_join_group(b, lane, r, ev->group_id)) &&
	       add_bytes(b, r, ev->process_bytes);
}

/* --- B and E --- */

static bool ascend_trace_close_pair(struct asc_build *b, const struct asc_open *o, double other)
{
	double start = o->is_begin ? o->ts : other, end = o->is_begin ? other : o->ts;
	struct text_event at = {.offset = o->offset, .is_pair = true, .ts = start, .dur = end};
	struct track_slice *r;

	if (o->same_as.n && o->id.n)
		return VEC_PUSH(&b->again, (struct asc_again){hash_bytes(o->id.p, o->id.n, 11) | 1,
						   hash_bytes(o->same_as.p, o->same_as.n, 11) | 1,
						   b->rows.v[o->code].sync});
	r = asc_add(b, o->lane, o->code);
	if (!r)
		return false;
	if (end < start) {
		b->counts[ASC_BACKWARDS]++;
		end = start;
	}
	if (!asc_set_us(b, r, start, end - start) || !set_place(b, r, &at) ||
		!ascend_trace_add_sync(b, o->lane, r, o->id, o->detail))
		return false;
	return !o->id.n ||
	       !u64_map_find(&b->head_at, hash_bytes(o->id.p, o->id.n, (uint64_t)o->lane + 3)) ||
	       ascend_trace_join_group(b, o->lane, r, o->id);
}

static bool ascend_trace_add_half(struct asc_build *b, const struct trace_event *ev)
{
	bool is_begin = ev->ph == 'B';
	uint32_t lane = asc_lane(b, ev->pid, ev->tid);
	struct asc_open o = {.ts = ev->ts,
		.lane = lane,
		.code = NO_CODE,
		.next = NO_OPEN,
		.is_begin = is_begin,
		.offset = b->text_base + ev->offset,
		.id = ev->id,
		.detail = ev->detail};
	uint64_t key = hash_bytes(ev->name.p, ev->name.n, hash_bytes(ev->id.p, ev->id.n, lane));
	uint64_t *at = u64_map_at(&b->open_at, key);

	if (lane == NO_TRACK || !at)
		return false;
	if (is_begin) {
		o.code = code_of_event(b, ev);
		if (o.code == NO_CODE)
			return false;
		o.same_as = trace_event_find(ev->args, "same_as");
	}
	if (*at) {
		const struct asc_open *top = &b->open.v[*at - 1];
		struct asc_open pair = is_begin ? o : *top;

		o.next = (uint32_t)(*at - 1);
		if (top->is_begin != is_begin) {
			*at = top->next == NO_OPEN ? 0 : (uint64_t)top->next + 1;
			b->n_open--;
			if (!b->n_open && b->open_at.n > MOST_CLOSED)
				u64_map_deinit(&b->open_at); /* of all names so far */
			return ascend_trace_close_pair(b, &pair, is_begin ? top->ts : ev->ts);
		}
	}
	if (b->open.n >= NO_OPEN - 1 || !VEC_PUSH(&b->open, o))
		return false;
	*at = b->open.n;
	b->n_open++;
	if (b->n_open == 1 && b->open.n > 1 && o.next == NO_OPEN) {
		/* Nothing else is open: reuse the room of closed ones. */
		b->open.v[0] = o;
		b->open.n = 1;
		*at = 1;
	}
	return true;
}

/* --- the rest --- */

static bool ascend_trace_add_flow(struct asc_build *b, const struct trace_event *ev)
{
	struct asc_flow f = {.ts = ev->ts, .is_from = ev->ph == 's'};

	if (!ev->id.n)
		return true;
	f.key = hash_bytes(ev->id.p, ev->id.n, 11) | 1;
	f.lane = asc_lane(b, ev->pid, ev->tid);
	return f.lane != NO_TRACK && VEC_PUSH(&b->flows, f);
}

static bool ascend_trace_add_name(struct asc_build *b, const struct trace_event *ev)
{
	bool is_process = str_is(ev->name, "process_name");
	uint64_t key = asc_name_key(b, ev->pid, is_process ? (struct str){NULL, 0} : ev->tid);
	uint64_t *at;

	if ((!is_process && !str_is(ev->name, "thread_name")) || !ev->arg_name.n)
		return true;
	at = u64_map_at(&b->name_at, key);
	if (!at)
		return false;
	if (*at) {
		struct asc_name *n = &b->names.v[*at - 1];

		n->is_ambiguous |= !str_eq(n->name, ev->arg_name);
		return true;
	}
	if (!VEC_PUSH(&b->names, (struct asc_name){key, ev->arg_name, false}))
		return false;
	*at = b->names.n;
	return true;
}

/* "throughput(MB/s)" -> "MB/s" */
static const char *ascend_trace_unit_of(struct asc_build *b, struct str key)
{
	ptrdiff_t open = str_find(key, "(");

	if (open >= 0 && str_ends(key, ")"))
		key = str_sub(key, (size_t)open + 1, key.n - (size_t)open - 2);
	return arena_strndup(&b->trace->arena, key.p, key.n);
}

static struct asc_series *ascend_trace_find_series(
	struct asc_build *b, const struct trace_event *ev, struct str key)
{
	uint64_t hash = hash_bytes(key.p, key.n,
		hash_bytes(ev->name.p, ev->name.n, hash_bytes(ev->pid.p, ev->pid.n, 5)));
	struct asc_series s = {.key = hash};

	for (size_t i = 0; i < b->series.n; i++)
		if (b->series.v[i].key == hash)
			return &b->series.v[i];
	s.name = arena_printf(&b->trace->arena, "%.*s/%.*s", STR_ARG(ev->pid), STR_ARG(ev->name));
	s.unit = ascend_trace_unit_of(b, key);
	/* Different names for all samples do not make series. */
	if (!s.name || !s.unit || b->series.n >= 4096 || !VEC_PUSH(&b->series, s))
		return NULL;
	return &b->series.v[b->series.n - 1];
}

static bool ascend_trace_add_counter(struct asc_build *b, const struct trace_event *ev)
{
	struct text_event at = {.offset = b->text_base + ev->offset, .ts = ev->ts};
	struct str key, value;
	size_t pos = 0;
	double v;

	if (b->trace->text && !VEC_PUSH(&b->trace->text->counters, at))
		return false;
	while (trace_event_member(ev->args, &pos, &key, &value)) {
		struct asc_series *s;

		if (!trace_event_number(value, &v) || v < 0 || v > 1e15) {
			b->counts[ASC_BAD_COUNTER]++;
			continue;
		}
		s = ascend_trace_find_series(b, ev, key);
		if (!s) {
			b->counts[ASC_BAD_COUNTER]++;
			continue;
		}
		if (!VEC_PUSH(&s->ts, ev->ts) ||
			!VEC_PUSH(&s->value, (uint64_t)(v * ASC_COUNTER_SCALE + 0.5)))
			return false;
	}
	return true;
}

static bool ascend_trace_add_event(struct asc_build *b, struct trace_event *ev)
{
	b->n_events++;
	if (ev->ph == 'M')
		return ascend_trace_add_name(b, ev);
	if (ev->ph != 'X' && ev->ph != 'B' && ev->ph != 'E' && ev->ph != 's' && ev->ph != 't' &&
		ev->ph != 'f' && ev->ph != 'C') {
		b->counts[ASC_UNKNOWN_PH]++;
		return true;
	}
	if (!ascend_trace_note_time(b, ev))
		return true;
	if (ev->ph == 'C')
		return ascend_trace_add_counter(b, ev);
	if (!ev->pid.n || !ev->tid.n) {
		b->counts[ASC_NO_LANE]++;
		return true;
	}
	if (b->trace->text && ev->pid.p[-1] != '"')
		b->trace->text->has_numbered_lanes = true;
	split_name(ev);
	if (ev->ph == 'X')
		return ascend_trace_add_slice(b, ev);
	return ev->ph == 'B' || ev->ph == 'E' ? ascend_trace_add_half(b, ev)
					      : ascend_trace_add_flow(b, ev);
}

static bool ascend_trace_note_text(struct asc_build *b, const struct trace_events *r)
{
	struct trace_text *x = b->trace->text;

	x->n_events = b->n_events;
	x->schema_version = r->schema_version;
	sb_reset(&b->scratch);
	if (!r->profiling_type.n)
		return true;
	if (trace_event_text(&b->scratch, r->profiling_type))
		x->profiling_type = arena_strndup(&b->trace->arena, b->scratch.p, b->scratch.n);
	return x->profiling_type != NULL;
}

static bool note_top(struct asc_build *b, const struct trace_events *r, uint64_t base)
{
	struct trace_meta *m = &b->trace->meta;

	if (b->trace->text && !ascend_trace_note_text(b, r))
		return false;
	if (r->is_bare_array &&
		!asc_note(b, "bare-array", base,
			"the events are a bare array, without the object around them"))
		return false;
	if (r->is_cut && !asc_note(b, "cut-trace", base + json_offset(&r->json),
				 "the events end in the middle; what was before the cut is kept"))
		return false;
	b->counts[ASC_NOT_OBJECT] += r->n_not_objects;
	if (r->clock_mhz.p)
		b->clock_text = r->clock_mhz;
	if ((r->metadata.p && !asc_read_metadata(b, r->metadata, b->path)) ||
		(r->other_data.p && !asc_read_metadata(b, r->other_data, b->path)))
		return false;
	if (r->schema_version >= 0 && !m->format_version)
		m->format_version =
			arena_printf(&b->trace->arena, "%lld", (long long)r->schema_version);
	return r->schema_version < 0 || m->format_version;
}

/* Input already read need not stay in memory: at most this much is kept. */
#define FORGET_BYTES ((size_t)32 << 20)
#define FORGET_COPIED ((size_t)2 << 20) /* if copied, it is read again */

static void ascend_trace_forget(
	const struct asc_build *b, const struct trace_event *ev, struct str bytes, size_t *done)
{
	size_t at = (size_t)ev->offset, first;

	if (!b->file || at - *done < (b->trace->text ? FORGET_COPIED : FORGET_BYTES))
		return;
	first = (size_t)((const uint8_t *)bytes.p - b->file->data);
	/* from the start, since names of earlier events may have been read again */
	file_forget(b->file, first, first + at);
	*done = at;
}

bool asc_read_events(struct asc_build *b, struct str bytes, const char *path, uint64_t base,
	struct incore_error *e)
{
	struct trace_events r;
	struct trace_event ev;
	bool ok = true;
	size_t done = 0;

	b->path = path;
	b->text_base = base;
	b->last_lane = NO_TRACK;
	trace_events_init(&r, bytes.p, bytes.n, path);
	while (ok && trace_events_next(&r, &ev)) {
		ok = ascend_trace_add_event(b, &ev);
		mem_step(b->n_events);
		ascend_trace_forget(b, &ev, bytes, &done);
	}
	if (!ok)
		err_nomem(e);
	else
		ok = trace_events_finish(&r, e);
	if (ok && !r.has_events)
		ok = err_file(e, "bad-trace", path, base,
			"no events: expected an object with an array \"traceEvents\"");
	else if (ok && !note_top(b, &r, base))
		ok = err_nomem(e);
	else if (!ok)
		asc_error_at(e, base);
	trace_events_deinit(&r);
	return ok;
}

/* --- the format ------------------------------------------------------------------------------- */

/* Decides by the first bytes: typical keys of the object, or events with known lanes. */
static int ascend_trace_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};
	const char *base = path_base(p->path);
	bool is_named =
		str_ends(str_of(base), "trace.json") || str_ends(str_of(base), ".clean.json");
	enum event_lanes lanes;

	while (head.n && strchr(" \t\r\n", head.p[0]))
		head = str_sub(head, 1, head.n);
	if (head.n == 0 || (head.p[0] != '{' && head.p[0] != '['))
		return 0;
	if (str_has(head, "\"profilingType\"") && str_has(head, "\"traceEvents\""))
		return 80;
	/* The name alone counts only for small files: other tools use it, too. */
	is_named &= p->head_size < PROBE_HEAD;
	if (head.p[0] == '{' && !str_has(head, "\"traceEvents\""))
		return is_named ? 20 : 0;
	lanes = event_lanes_of(p->head, p->head_size);
	if (lanes == LANES_ASCEND)
		return 70;
	return is_named && lanes == LANES_NONE ? 40 : 0;
}

/* "a/core0.veccore1/trace.json" and "core0.cubecore0.trace.json" name the core of a per-core file.
 */
const char *asc_unit_of_path(struct arena *a, const char *path)
{
	struct str s = str_of(path), part;
	struct ascend_unit u;
	const char *found = NULL;

	while (str_cut(&s, "/", &part)) {
		ptrdiff_t cut = str_find(part, "_");

		if (str_ends(part, ".trace.json"))
			part.n -= strlen(".trace.json");
		else if (cut > 0)
			part.n = (size_t)cut;
		if (ascend_unit_of(part, &u))
			found = arena_strndup(a, part.p, part.n);
	}
	return found;
}

static bool ascend_trace_read_file(
	struct asc_build *b, struct file_data *f, const char *path, struct incore_error *e)
{
	if (!import_load(b->options, f, path, e))
		return false;
	b->file = f;
	b->unit = asc_unit_of_path(&b->trace->arena, path);
	return asc_read_events(b, (struct str){(const char *)f->data, f->size}, path, 0, e) &&
	       asc_finish(b, e);
}

static bool ascend_trace_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct asc_build b;
	struct file_data f = {0};
	bool ok = asc_init(&b, t, o, e) && ascend_trace_read_file(&b, &f, path, e);

	asc_deinit(&b);
	file_unload(&f);
	return ok;
}

static bool ascend_trace_lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)o;
	return trace_note(t, "lone-trace", path, INCORE_NO_OFFSET, 1,
		       "a trace.json alone: no sources and nothing stated per instruction") ||
	       err_nomem(e);
}

static const struct signature ascend_trace_signs[] = {
	{.begins = "[", .after_blanks = true},
	{.begins = "{", .after_blanks = true, .says = "\"traceEvents\""},
	{.begins = "{", .after_blanks = true, .name = "trace.json"},
	{.begins = "{", .after_blanks = true, .name = ".clean.json"},
	{0},
};

const struct import_ops import_ascend_trace = {
	.name = "ascend_trace",
	.summary = "Ascend trace.json, of msprof op simulator: of a run or of one core",
	.looks_for = "a trace.json of msprof op simulator",
	.signs = ascend_trace_signs,
	.sniff = ascend_trace_sniff,
	.look = asc_look,
	.read = ascend_trace_read,
	.lost = ascend_trace_lost,
};
