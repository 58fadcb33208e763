/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy.c: start and end of each wave of every CU, and the names of the kernels
 * (occupancy.json, versions 3.0.0 and 3.1.0). "occupancy_fields" names the columns and follows the
 * lists, so the file is read twice. Until the clocks are known, the clock field of an event holds
 * its SE number.
 *
 * Parts: clocks; stated series; occupancy.
 */
#include <stdlib.h>

#include "base/search.h"
#include "import/ui_output/ui_output.h"
#include "trace/align.h"

/* --- clocks ----------------------------------------------------------------------------------- */

/*
 * Relation of the shader engines' clocks (realtime.json). Each sample pairs a shader clock with a
 * 100 MHz clock that all engines share.
 */

#define MAX_FREQUENCY_HZ 1000000000000u

static void ui_occupancy_read_samples(
	struct json_reader *r, struct ui_build *b, uint32_t se, bool *is_nomem)
{
	VEC(int64_t) all = {0};
	struct ui_se_samples out = {.se = se};
	int64_t rows[64 * 2];
	size_t n = 64;

	if (!json_enter_array_or_null(r))
		return;
	while (n == 64 && !r->is_failed) {
		n = json_read_i64_rows(r, 2, 64, rows);
		for (size_t i = 0; i < n * 2 && !*is_nomem; i++) {
			if (rows[i] < 0)
				json_reject(r, "out-of-range", "negative clock");
			*is_nomem = !VEC_PUSH(&all, rows[i]);
		}
	}
	out.n = (uint32_t)(all.n / 2);
	out.samples = arena_zalloc(&b->trace->arena, all.n + 2, sizeof(int64_t));
	if (!out.samples || *is_nomem)
		*is_nomem = true;
	else if (all.n)
		memcpy((void *)out.samples, all.v, all.n * sizeof(int64_t));
	if (!r->is_failed && !*is_nomem && out.n)
		*is_nomem = !VEC_PUSH(&b->realtime, out);
	VEC_FREE(&all);
}

static void ui_occupancy_read_metadata(struct json_reader *r, struct ui_build *b)
{
	struct str key;
	uint64_t hz;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!str_is(key, "frequency"))
			json_skip(r);
		else if (json_get_u64(r, &hz)) {
			if (hz == 0 || hz > MAX_FREQUENCY_HZ)
				json_reject(r, "out-of-range",
					"a frequency of %llu Hz is out of range",
					(unsigned long long)hz);
			b->realtime_hz = hz;
		}
	}
}

static bool has_samples(const struct ui_build *b, uint32_t se)
{
	for (size_t i = 0; i < b->realtime.n; i++)
		if (b->realtime.v[i].se == se)
			return true;
	return false;
}

bool ui_realtime_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	uint32_t se;
	bool is_nomem = false, ok;

	json_init(&r, in.p, in.n, in.path, 0);
	if (json_enter_object(&r))
		while (!is_nomem && json_next_key(&r, &key)) {
			if (str_is(key, "metadata")) {
				ui_occupancy_read_metadata(&r, b);
			} else if (str_starts(key, "SE")) {
				if (!ui_key_number(&r, str_sub(key, 2, key.n), UI_MAX_SE - 1, &se))
					break;
				if (has_samples(b, se))
					json_reject(&r, "duplicate-key", "SE%u stands twice", se);
				ui_occupancy_read_samples(&r, b, se, &is_nomem);
			} else {
				json_skip(&r);
			}
		}
	ok = !is_nomem && json_finish(&r, e);
	json_deinit(&r);
	if (!ok) {
		b->realtime.n = 0;
		return is_nomem ? err_nomem(e) : false;
	}
	if (!b->realtime_hz)
		b->realtime_hz = 100000000;
	for (size_t i = 0; i < b->realtime.n; i++)
		ui_see_se(b, b->realtime.v[i].se);
	return true;
}

static bool make_clocks(struct ui_build *b)
{
	struct trace *t = b->trace;
	uint32_t n = 0;

	for (uint32_t se = 0; se < UI_MAX_SE; se++)
		n += b->se_seen[se / 64] >> se % 64 & 1;
	t->clocks = arena_zalloc(&t->arena, (size_t)n + 1, sizeof(*t->clocks));
	if (!t->clocks)
		return false;
	for (uint32_t se = 0; se < UI_MAX_SE; se++)
		if (b->se_seen[se / 64] >> se % 64 & 1)
			t->clocks[t->n_clocks++].id = se;
	for (size_t i = 0; i < b->realtime.n; i++) {
		struct clock_domain *c = &t->clocks[ui_clock(t, b->realtime.v[i].se)];

		c->n_samples = b->realtime.v[i].n;
		c->samples = b->realtime.v[i].samples;
	}
	return true;
}

bool ui_has_many_samples(const struct ui_build *b)
{
	for (size_t i = 0; i < b->realtime.n; i++)
		if (b->realtime.v[i].n > 2)
			return true;
	return false;
}

/* Finds, for each clock, the start of its first wave of a known kernel; 0 if there is none. */
static void find_first_starts(const struct trace *t, uint64_t *first)
{
	EACH (const struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		clock_idx c = ui_clock(t, o->clock); /* still an engine number */

		if (o->is_start && o->kernel_id && c != NO_CLOCK &&
			(!first[c] || o->time_cyc < first[c]))
			first[c] = o->time_cyc;
	}
}

bool ui_clocks_build(struct ui_build *b, struct incore_error *e)
{
	uint64_t *first = NULL;

	if (!make_clocks(b))
		return err_nomem(e);
	if (ui_has_many_samples(b)) {
		first = arena_zalloc(&b->scratch, (size_t)b->trace->n_clocks + 1, sizeof(*first));
		if (!first)
			return err_nomem(e);
		find_first_starts(b->trace, first);
	}
	return trace_align_clocks(b->trace, b->realtime_hz, first, "realtime.json") || err_nomem(e);
}

/* --- stated series ---------------------------------------------------------------------------- */

/* The producer's count of waves in one state over time (wstates<k>.json). */

#define CLOCK_BATCH 256

struct ui_series_build {
	struct json_reader r;
	VEC(uint64_t) times;
	VEC(uint32_t) counts;
	bool is_nomem;
};

static void ui_occupancy_read_values(struct ui_series_build *s, bool is_time)
{
	struct json_reader *r = &s->r;
	int64_t v[CLOCK_BATCH], max = is_time ? UI_MAX_TIME_CYC : UINT32_MAX;
	size_t n = CLOCK_BATCH;

	if (!json_enter_array_or_null(r))
		return;
	while (n == CLOCK_BATCH && !r->is_failed) {
		n = json_read_i64s(r, CLOCK_BATCH, v);
		for (size_t i = 0; i < n; i++) {
			if (v[i] < 0 || v[i] > max) {
				json_reject(r, "out-of-range",
					"a state series has the value %lld, which is out of range",
					(long long)v[i]);
				return;
			}
			if (is_time ? !VEC_PUSH(&s->times, (uint64_t)v[i])
				    : !VEC_PUSH(&s->counts, (uint32_t)v[i])) {
				s->is_nomem = true;
				json_reject(r, "no-memory", "out of memory");
				return;
			}
		}
	}
}

/* The state is the digit of the file's name: .../wstates3.json */
static uint32_t ui_occupancy_state_of(const char *path)
{
	const char *base = path_base(path);

	return !strncmp(base, "wstates", 7) && base[7] >= '0' && base[7] <= '4'
		       ? (uint32_t)(base[7] - '0')
		       : STATE_EMPTY;
}

static bool wstates_commit(struct ui_series_build *s, struct trace *t, uint32_t state)
{
	struct arena *a = &t->arena;
	size_t n = s->times.n;
	uint64_t *times = arena_zalloc(a, n + 1, sizeof(*times));
	uint32_t *counts = arena_zalloc(a, n + 1, sizeof(*counts));

	if (!t->stated_series)
		t->stated_series = arena_zalloc(a, STATE_COUNT, sizeof(*t->stated_series));
	if (!times || !counts || !t->stated_series)
		return false;
	if (n) {
		memcpy(times, s->times.v, n * sizeof(*times));
		memcpy(counts, s->counts.v, n * sizeof(*counts));
	}
	if (t->n_stated_series < STATE_COUNT)
		t->stated_series[t->n_stated_series++] =
			(struct stated_series){state, (uint32_t)n, times, counts};
	return true;
}

bool ui_wstates_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct ui_series_build s = {.is_nomem = false};
	struct str key;
	uint64_t seen = 0;
	bool ok;

	json_init(&s.r, in.p, in.n, in.path, 0);
	if (json_enter_object(&s.r))
		while (json_next_key(&s.r, &key)) {
			if (str_is(key, "time") && json_once(&s.r, &seen, 0, key))
				ui_occupancy_read_values(&s, true);
			else if (str_is(key, "state") && json_once(&s.r, &seen, 1, key))
				ui_occupancy_read_values(&s, false);
			else if (!s.r.is_failed)
				json_skip(&s.r);
		}
	ok = json_finish(&s.r, e);
	json_deinit(&s.r);
	if (ok && s.times.n != s.counts.n)
		ok = err_file(e, "bad-value", in.path, INCORE_NO_OFFSET,
			"%zu times but %zu values in a state series", s.times.n, s.counts.n);
	if (s.is_nomem || (ok && !wstates_commit(&s, b->trace, ui_occupancy_state_of(in.path))))
		ok = err_nomem(e);
	VEC_FREE(&s.times);
	VEC_FREE(&s.counts);
	return ok;
}

/* --- occupancy -------------------------------------------------------------------------------- */

#define OCCUPANCY_BATCH 128
#define MAX_COLUMNS 32

enum field {
	FIELD_TIME,
	FIELD_CU,
	FIELD_SIMD,
	FIELD_SLOT,
	FIELD_START,
	FIELD_KERNEL,
	FIELD_ME,
	FIELD_PIPE,
	FIELD_WORKGROUP,
	FIELD_CLUSTER,
	FIELD_COUNT
};

static const struct {
	const char *name;
	int64_t max;
} fields[FIELD_COUNT] = {
	[FIELD_TIME] = {"time", UI_MAX_TIME_CYC},
	[FIELD_CU] = {"cu", UINT16_MAX},
	[FIELD_SIMD] = {"simd", UINT8_MAX},
	[FIELD_SLOT] = {"wave_id", UINT8_MAX},
	[FIELD_START] = {"start", 1},
	[FIELD_KERNEL] = {"kernel_id", UINT32_MAX - 1},
	[FIELD_ME] = {"me_id", UINT8_MAX},
	[FIELD_PIPE] = {"pipe_id", UINT8_MAX},
	[FIELD_WORKGROUP] = {"workgroup_id", UINT8_MAX},
	[FIELD_CLUSTER] = {"cluster_id", UINT8_MAX},
};

#define N_BASIC 6 /* the columns of version 3.0.0, in this order */

struct segment { /* the events of one SE */
	uint32_t se;
	size_t first, n;
};

struct occupancy_build {
	struct ui_build *b;
	struct json_reader r;
	int column[FIELD_COUNT]; /* -1: absent */
	unsigned n_columns;
	VEC(struct occupancy_event) events;
	VEC(struct segment) segments;
	VEC(struct kernel_name) names;
	VEC(struct dispatch_event) dispatches;
	bool is_nomem;
};

static void ui_occupancy_fail_nomem(struct occupancy_build *o)
{
	o->is_nomem = true;
	json_reject(&o->r, "no-memory", "out of memory");
}

static void read_fields(struct occupancy_build *o)
{
	struct json_reader *r = &o->r;
	struct str name;
	int n = 0;

	if (!json_enter_array_or_null(r))
		return;
	for (int i = 0; i < FIELD_COUNT; i++)
		o->column[i] = -1;
	o->n_columns = 0;
	for (; json_next_item(r) && json_get_str(r, &name); n++)
		for (int i = 0; i < FIELD_COUNT && n < MAX_COLUMNS; i++)
			if (o->column[i] < 0 && str_is(name, fields[i].name)) {
				o->column[i] = n;
				o->n_columns = (unsigned)n + 1;
			}
	for (int i = 0; i < N_BASIC && !r->is_failed; i++)
		if (o->column[i] < 0)
			json_reject(
				r, "bad-value", "occupancy_fields names no \"%s\"", fields[i].name);
}

static void ui_occupancy_read_names(struct occupancy_build *o)
{
	struct json_reader *r = &o->r;
	struct str key, name;
	struct kernel_name k;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!ui_key_number(r, key, UINT32_MAX - 1, &k.id) || !json_get_str(r, &name))
			return;
		k.name = arena_strndup(&o->b->trace->arena, name.p ? name.p : "", name.n);
		if (!k.name || !VEC_PUSH(&o->names, k))
			ui_occupancy_fail_nomem(o);
	}
}

static void get_optional(struct json_reader *r, int64_t *out)
{
	if (json_peek(r) == JSON_NULL)
		json_get_null(r);
	else
		json_get_i64(r, out);
}

static void ui_occupancy_get_number(struct json_reader *r, uint32_t *out)
{
	if (json_peek(r) == JSON_NULL)
		json_get_null(r);
	else
		json_get_u32(r, out);
}

static void read_event_text(struct occupancy_build *o, struct dispatch_event *d, bool is_kind)
{
	struct str s;

	if (!json_get_str_or_null(&o->r, &s))
		return;
	if (is_kind) {
		d->is_dispatch = str_is(s, "dispatch");
		return;
	}
	d->kernel_name = arena_strndup(&o->b->trace->arena, s.p ? s.p : "", s.n);
	if (!d->kernel_name)
		ui_occupancy_fail_nomem(o);
}

static void read_event_key(struct occupancy_build *o, struct dispatch_event *d, struct str key)
{
	struct json_reader *r = &o->r;

	if (str_is(key, "time"))
		ui_get_time(r, &d->time_cyc);
	else if (str_is(key, "kind") || str_is(key, "kernel_name"))
		read_event_text(o, d, str_is(key, "kind"));
	else if (str_is(key, "type"))
		ui_occupancy_get_number(r, &d->type);
	else if (str_is(key, "me_id"))
		ui_occupancy_get_number(r, &d->me);
	else if (str_is(key, "pipe_id"))
		ui_occupancy_get_number(r, &d->pipe);
	else if (str_is(key, "kernel_id"))
		ui_occupancy_get_number(r, &d->kernel_id);
	else if (str_is(key, "flags"))
		ui_occupancy_get_number(r, &d->flags);
	else if (str_is(key, "vgprs"))
		get_optional(r, &d->vgprs);
	else if (str_is(key, "sgprs"))
		get_optional(r, &d->sgprs);
	else if (str_is(key, "lds_size"))
		get_optional(r, &d->lds_bytes);
	else if (str_starts(key, "thread_dim_") && key.n == 12 && key.p[11] >= 'x' &&
		 key.p[11] <= 'z')
		get_optional(r, &d->thread_dim[key.p[11] - 'x']);
	else
		json_skip(r);
}

/* "events": {"<SE>": [{...}, ...]} */
static void read_dispatches(struct occupancy_build *o)
{
	struct json_reader *r = &o->r;
	struct str key;
	uint32_t se;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!ui_key_number(r, key, UI_MAX_SE - 1, &se))
			return;
		if (!json_enter_array_or_null(r))
			continue;
		while (json_next_item(r)) {
			struct dispatch_event d = {.clock = se,
				.kernel_id = UINT32_MAX,
				.vgprs = NO_VALUE,
				.sgprs = NO_VALUE,
				.lds_bytes = NO_VALUE,
				.thread_dim = {NO_VALUE, NO_VALUE, NO_VALUE}};

			if (!json_enter_object(r))
				return;
			while (json_next_key(r, &key))
				read_event_key(o, &d, key);
			if (!VEC_PUSH(&o->dispatches, d))
				ui_occupancy_fail_nomem(o);
		}
	}
}

/* First pass: everything but the lists of the SEs. */
static bool ui_occupancy_read_frame(
	struct occupancy_build *o, struct ui_bytes in, struct incore_error *e)
{
	struct json_reader *r = &o->r;
	struct str key;
	uint64_t seen = 0;

	json_init(r, in.p, in.n, in.path, 0);
	if (json_enter_object(r))
		while (json_next_key(r, &key)) {
			if (str_is(key, "dispatches") && json_once(r, &seen, 0, key))
				ui_occupancy_read_names(o);
			else if (str_is(key, "events") && json_once(r, &seen, 1, key))
				read_dispatches(o);
			else if (str_is(key, "occupancy_fields") && json_once(r, &seen, 2, key))
				read_fields(o);
			else if (!r->is_failed)
				json_skip(r);
		}
	return json_finish(r, e);
}

static bool ui_occupancy_take_event(struct occupancy_build *o, const int64_t *row, uint32_t se)
{
	int64_t v[FIELD_COUNT];
	struct occupancy_event event;

	for (int i = 0; i < FIELD_COUNT; i++) {
		v[i] = o->column[i] >= 0 ? row[o->column[i]] : 0;
		if (v[i] < 0 || v[i] > fields[i].max)
			return json_reject(&o->r, "out-of-range",
				"an occupancy event has the %s %lld, which is out of range",
				fields[i].name, (long long)v[i]);
	}
	event = (struct occupancy_event){
		.time_cyc = (uint64_t)v[FIELD_TIME],
		.clock = se,
		.cu = (uint16_t)v[FIELD_CU],
		.simd = (uint8_t)v[FIELD_SIMD],
		.slot = (uint8_t)v[FIELD_SLOT],
		.kernel_id = (uint32_t)v[FIELD_KERNEL],
		.is_start = (uint8_t)v[FIELD_START],
		.me = (uint8_t)v[FIELD_ME],
		.pipe = (uint8_t)v[FIELD_PIPE],
		.workgroup = (uint8_t)v[FIELD_WORKGROUP],
		.cluster = (uint8_t)v[FIELD_CLUSTER],
	};
	if (o->events.n >= UINT32_MAX - 1 || !VEC_PUSH(&o->events, event))
		ui_occupancy_fail_nomem(o);
	return !o->r.is_failed;
}

static void ui_occupancy_read_events(struct occupancy_build *o, uint32_t se)
{
	struct json_reader *r = &o->r;
	struct segment s = {.se = se, .first = o->events.n};
	int64_t rows[OCCUPANCY_BATCH * MAX_COLUMNS];
	size_t n = OCCUPANCY_BATCH;

	for (size_t i = 0; i < o->segments.n; i++)
		if (o->segments.v[i].se == se)
			json_reject(r, "duplicate-key", "SE %u stands twice", se);
	if (!json_enter_array_or_null(r))
		return;
	while (n == OCCUPANCY_BATCH && !r->is_failed) {
		n = json_read_i64_rows(r, o->n_columns, OCCUPANCY_BATCH, rows);
		for (size_t i = 0; i < n; i++)
			if (!ui_occupancy_take_event(o, rows + i * o->n_columns, se))
				return;
	}
	s.n = o->events.n - s.first;
	if (!VEC_PUSH(&o->segments, s))
		ui_occupancy_fail_nomem(o);
}

static bool read_lists(struct occupancy_build *o, struct ui_bytes in, struct incore_error *e)
{
	struct json_reader *r = &o->r;
	struct str key;
	uint64_t se;

	json_init(r, in.p, in.n, in.path, 0);
	if (json_enter_object(r))
		while (json_next_key(r, &key)) {
			if (!ui_decimal(key, &se))
				json_skip(r);
			else if (se >= UI_MAX_SE)
				json_reject(r, "out-of-range", "shader engine %llu is out of range",
					(unsigned long long)se);
			else
				ui_occupancy_read_events(o, (uint32_t)se);
		}
	return json_finish(r, e);
}

ORDER(compare_segments, struct segment, UP(se))

static int occupancy_compare_names(const void *pa, const void *pb)
{
	const struct kernel_name *a = pa, *b = pb;

	return a->id != b->id ? (a->id < b->id ? -1 : 1) : strcmp(a->name, b->name);
}

struct occupancy_order { /* stable sort by time, or by shader engine */
	uint64_t time_cyc;
	size_t at;
};

ORDER(compare_order, struct occupancy_order, UP(time_cyc) UP(at))

/* Copies one SE's events in time order; counts those out of order. */
static bool copy_sorted(
	struct occupancy_event *out, const struct occupancy_event *in, size_t n, uint64_t *n_late)
{
	struct occupancy_order *order;
	uint64_t late = 0;

	for (size_t i = 1; i < n; i++)
		late += in[i].time_cyc < in[i - 1].time_cyc;
	if (!late) {
		memcpy(out, in, n * sizeof(*out));
		return true;
	}
	*n_late += late;
	order = mem_zalloc(n, sizeof(*order));
	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct occupancy_order){in[i].time_cyc, i};
	SORT(order, n, compare_order);
	for (size_t i = 0; i < n; i++)
		out[i] = in[order[i].at];
	mem_free(order);
	return true;
}

static bool ui_occupancy_commit(struct occupancy_build *o, struct incore_error *e)
{
	struct trace *t = o->b->trace;
	struct arena *a = &t->arena;
	struct occupancy_event *events = arena_zalloc(a, o->events.n + 1, sizeof(*events));
	struct kernel_name *names = arena_zalloc(a, o->names.n + 1, sizeof(*names));
	struct dispatch_event *dispatches =
		arena_zalloc(a, o->dispatches.n + 1, sizeof(*dispatches));
	struct occupancy_order *order =
		arena_zalloc(&o->b->scratch, o->dispatches.n + 1, sizeof(*order));
	uint64_t n_late = 0;
	size_t at = 0;

	if (!events || !names || !dispatches || !order)
		return err_nomem(e);
	SORT(o->segments.v, o->segments.n, compare_segments);
	EACH (const struct segment, s, o->segments.v, o->segments.n) {
		if (s->n && !copy_sorted(events + at, o->events.v + s->first, s->n, &n_late))
			return err_nomem(e);
		at += s->n;
		ui_see_se(o->b, s->se);
	}
	/* keys are sorted as text: "10" before "2" */
	for (size_t i = 0; i < o->dispatches.n; i++)
		order[i] = (struct occupancy_order){o->dispatches.v[i].clock, i};
	qsort(order, o->dispatches.n, sizeof(*order), compare_order);
	for (size_t i = 0; i < o->dispatches.n; i++) {
		dispatches[i] = o->dispatches.v[order[i].at];
		ui_see_se(o->b, dispatches[i].clock);
	}
	if (o->names.n)
		memcpy(names, o->names.v, o->names.n * sizeof(*names));
	o->b->has_workgroups = o->column[FIELD_WORKGROUP] >= 0;
	t->occupancy = events;
	t->n_occupancy = (uint32_t)at;
	t->kernel_names = names;
	t->n_kernel_names = (uint32_t)o->names.n;
	t->dispatch_events = dispatches;
	t->n_dispatch_events = (uint32_t)o->dispatches.n;
	if (n_late &&
		!trace_note(t, "unsorted-occupancy", "occupancy.json", INCORE_NO_OFFSET, n_late,
			"%llu occupancy events stand before an earlier one; they were sorted",
			(unsigned long long)n_late))
		return err_nomem(e);
	return true;
}

static bool sort_names(struct occupancy_build *o, const char *path, struct incore_error *e)
{
	SORT(o->names.v, o->names.n, occupancy_compare_names);
	for (size_t i = 1; i < o->names.n; i++)
		if (o->names.v[i].id == o->names.v[i - 1].id)
			return err_file(e, "duplicate-key", path, INCORE_NO_OFFSET,
				"kernel id %u is named twice", o->names.v[i].id);
	return true;
}

bool ui_occupancy_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct occupancy_build o = {.b = b, .n_columns = N_BASIC};
	bool ok;

	for (int i = 0; i < FIELD_COUNT; i++)
		o.column[i] = i < N_BASIC ? i : -1;
	ok = ui_occupancy_read_frame(&o, in, e);
	json_deinit(&o.r);
	if (ok) {
		ok = read_lists(&o, in, e);
		json_deinit(&o.r);
	}
	if (o.is_nomem)
		ok = err_nomem(e);
	ok = ok && sort_names(&o, in.path, e) && ui_occupancy_commit(&o, e);
	VEC_FREE(&o.events);
	VEC_FREE(&o.segments);
	VEC_FREE(&o.names);
	VEC_FREE(&o.dispatches);
	return ok;
}

/* --- joining waves with their start event --- */

struct occupancy_start {
	uint32_t se, simd, slot;
	uint64_t time_cyc;
	uint32_t kernel_id;
	int64_t workgroup;
};

ORDER(compare_starts, struct occupancy_start, UP(se) UP(simd) UP(slot) UP(time_cyc))

static void join_tracks(struct trace *t, struct occupancy_start *starts, size_t n)
{
	SORT(starts, n, compare_starts);
	EACH (struct track, k, t->tracks, t->n_tracks) {
		struct occupancy_start key = {.se = k->coord[0],
			.simd = k->coord[2],
			.slot = k->coord[3],
			.time_cyc = k->begin_cyc};
		const struct occupancy_start *s =
			bsearch(&key, starts, n, sizeof(*starts), compare_starts);

		if (s) {
			k->kernel_id = s->kernel_id;
			k->workgroup = s->workgroup;
		}
	}
}

bool ui_occupancy_join(struct ui_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	struct occupancy_start *starts;
	size_t n = 0;

	if (!t->n_occupancy && !t->n_dispatch_events)
		return true;
	starts = mem_zalloc((size_t)t->n_occupancy + 1, sizeof(*starts));
	if (!starts)
		return err_nomem(e);
	EACH (struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		if (o->is_start && o->cu == t->meta.target_cu)
			starts[n++] =
				(struct occupancy_start){o->clock, o->simd, o->slot, o->time_cyc,
					o->kernel_id, b->has_workgroups ? o->workgroup : NO_VALUE};
		o->clock = ui_clock(t, o->clock);
	}
	for (uint32_t i = 0; i < t->n_dispatch_events; i++)
		t->dispatch_events[i].clock = ui_clock(t, t->dispatch_events[i].clock);
	if (n)
		join_tracks(t, starts, n);
	mem_free(starts);
	return true;
}
