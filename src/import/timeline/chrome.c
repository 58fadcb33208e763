/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome.c: timelines in the Chrome trace format that other tools write: Triton's Proton, PyTorch's
 * profiler, and programs that time kernels themselves. Those of Ascend's simulator have their own
 * reader (event_lanes.h distinguishes them).
 */
#include <math.h>

#include "base/hash.h"
#include "codec/trace_events.h"
#include "import/event_lanes.h"
#include "import/timeline/timeline.h"

/* Does the head have members that other tools write before their events? They may be long. */
static bool is_prologue(struct str head)
{
	return head.n >= PROBE_HEAD && head.p[0] && strchr("{\n\r\t ", head.p[0]) &&
	       (str_has(head, "\"metadata\"") || str_has(head, "\"deviceProperties\"") ||
		       str_has(head, "\"distributedInfo\""));
}

static int chrome_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};

	switch (event_lanes_of(p->head, p->head_size)) {
	case LANES_OTHER:
		return 60;
	case LANES_ASCEND:
		return 0;
	default:
		return p->is_named && (str_has(head, "\"traceEvents\"") || is_prologue(head)) ? 10
											      : 0;
	}
}

/* --- times --- */

/* Converts microseconds as written to nanoseconds and a rest: a double would lose the last digits
 * of times since 1970. */
static bool chrome_ns_of(struct str us, double value, int64_t *ns, double *rest)
{
	bool is_negative = us.n && us.p[0] == '-';
	uint64_t n = 0;
	double unit = 1;
	size_t i = is_negative, digits = 0;

	for (; i < us.n && us.p[i] >= '0' && us.p[i] <= '9' && n < TL_MAX_NS / 10000; i++)
		n = n * 10 + (uint64_t)(us.p[i] - '0');
	*rest = 0;
	if (i < us.n && us.p[i] == '.') {
		for (i++; i < us.n && us.p[i] >= '0' && us.p[i] <= '9'; i++, digits++) {
			if (digits < 3)
				n = n * 10 + (uint64_t)(us.p[i] - '0');
			else
				*rest += (us.p[i] - '0') * (unit /= 10);
		}
	}
	if (i == us.n) {
		for (; digits < 3; digits++)
			n *= 10;
		*ns = is_negative ? -(int64_t)n : (int64_t)n;
		*rest = is_negative ? -*rest : *rest;
		return true;
	}
	if (!(fabs(value) < (double)TL_MAX_NS / 1000))
		return false;
	*ns = llrint(value * 1000);
	return true;
}

/* The begin and the end of an event, rounded together, so that adjacent slices stay adjacent. */
static bool times_of(
	struct timeline *l, const struct trace_event *ev, int64_t *from_ns, int64_t *to_ns)
{
	double rest, more;
	int64_t dur = 0;

	if (!ev->has_ts || !chrome_ns_of(ev->ts_text, ev->ts, from_ns, &rest)) {
		l->counts[TL_BAD_TIME]++;
		return false;
	}
	more = rest;
	if (ev->dur_text.p &&
		(!ev->has_dur || ev->dur < 0 || !chrome_ns_of(ev->dur_text, ev->dur, &dur, &more)))
		l->counts[TL_BAD_DURATION]++;
	else if (ev->dur_text.p)
		more += rest;
	*to_ns = *from_ns + dur + llrint(more);
	*from_ns += llrint(rest);
	return true;
}

/* --- events --- */

static uint32_t chrome_lane_of(struct timeline *l, const struct trace_event *ev)
{
	return tl_lane(l, tl_process(l, ev->pid), ev->tid);
}

/* The key of an id: an "id2" states whether it is shared with other processes. */
static uint64_t id_of(const struct trace_event *ev, uint64_t seed)
{
	struct str local = trace_event_find(ev->id2, "local");
	struct str global = trace_event_find(ev->id2, "global");

	seed = hash_bytes(ev->scope.p, ev->scope.n, hash_bytes(ev->cat.p, ev->cat.n, seed));
	if (local.p)
		return hash_bytes(local.p, local.n, hash_bytes(ev->pid.p, ev->pid.n, seed));
	return hash_bytes(global.p ? global.p : ev->id.p, global.p ? global.n : ev->id.n, seed);
}

/* Adds the flow that a slice refers to itself; without category, because only the id counts. */
static bool add_bound_flow(
	struct timeline *l, const struct trace_event *ev, uint32_t lane, int64_t at_ns)
{
	bool is_in = str_is(ev->flow_in, "true"), is_out = str_is(ev->flow_out, "true");
	struct tl_flow f = {.key = hash_bytes(ev->bind_id.p, ev->bind_id.n, 11),
		.at_ns = at_ns,
		.lane = lane,
		.step = !is_out ? TL_FLOW_IN
			: is_in ? TL_FLOW_STEP
				: TL_FLOW_START};

	return !ev->bind_id.n || (!is_in && !is_out) || tl_add_flow(l, f);
}

static bool chrome_add_slice(struct timeline *l, const struct trace_event *ev, enum tl_kind kind)
{
	struct tl_slice s = {.kind = kind};
	uint32_t lane;

	if (!times_of(l, ev, &s.from_ns, &s.to_ns))
		return true;
	if (kind == TL_INSTANT)
		s.to_ns = s.from_ns;
	else if (!ev->dur_text.p)
		l->counts[TL_BAD_DURATION]++;
	s.code = tl_row(l, ev->name, ev->cat);
	lane = chrome_lane_of(l, ev);
	return tl_add_slice(l, lane, s) && add_bound_flow(l, ev, lane, s.from_ns);
}

static bool chrome_add_half(struct timeline *l, const struct trace_event *ev)
{
	struct tl_half h = {.is_begin = ev->ph == 'B'};
	int64_t to;

	if (!times_of(l, ev, &h.at_ns, &to))
		return true;
	h.lane = chrome_lane_of(l, ev);
	h.code = h.is_begin ? tl_row(l, ev->name, ev->cat) : 0;
	return tl_add_half(l, h) && (!h.is_begin || add_bound_flow(l, ev, h.lane, h.at_ns));
}

/* Asynchronous operations, which no thread owns: one lane per category in their process. */
static bool add_async(struct timeline *l, const struct trace_event *ev)
{
	bool is_instant = strchr("nTp", ev->ph) != NULL;
	struct tl_half h = {.is_begin = ev->ph == 'b' || ev->ph == 'S', .kind = TL_ASYNC};
	struct strbuf key = {0};
	int64_t to;
	bool ok;

	if (!times_of(l, ev, &h.at_ns, &to))
		return true;
	ok = sb_puts(&key, "async ") && sb_str(&key, ev->cat.n ? ev->cat : ev->name);
	h.lane = ok ? tl_lane(l, tl_process(l, ev->pid), (struct str){key.p, key.n}) : TL_NONE;
	sb_free(&key);
	h.code = h.is_begin || is_instant ? tl_row(l, ev->name, ev->cat) : 0;
	h.key = id_of(ev, strchr("bne", ev->ph) ? 7 : hash_bytes(ev->name.p, ev->name.n, 7));
	if (is_instant)
		return tl_add_slice(
			l, h.lane, (struct tl_slice){h.at_ns, h.at_ns, h.code, TL_INSTANT});
	return tl_add_half(l, h);
}

static bool chrome_add_flow(struct timeline *l, const struct trace_event *ev)
{
	struct tl_flow f = {.step = ev->ph == 's'   ? TL_FLOW_START
				    : ev->ph == 't' ? TL_FLOW_STEP
						    : TL_FLOW_END,
		.is_next = ev->ph == 'f' && !str_is(ev->bp, "e")};
	int64_t to;

	if (!times_of(l, ev, &f.at_ns, &to))
		return true;
	f.key = id_of(ev, 9);
	f.lane = chrome_lane_of(l, ev);
	return tl_add_flow(l, f);
}

static bool chrome_add_counter(struct timeline *l, const struct trace_event *ev)
{
	uint32_t process = tl_process(l, ev->pid);
	struct strbuf name = {0}; /* "name[id]": each id has its own counter */
	struct str key, value;
	size_t pos = 0;
	int64_t at, to;
	double v;
	bool ok = true;

	if (!times_of(l, ev, &at, &to))
		return true;
	if (ev->id.n)
		ok = sb_str(&name, ev->name) && sb_putc(&name, '[') && sb_str(&name, ev->id) &&
		     sb_putc(&name, ']');
	while (ok && trace_event_member(ev->args, &pos, &key, &value)) {
		if (!trace_event_number(value, &v))
			v = -1; /* counted as an invalid counter value */
		ok = tl_add_counter(
			l, process, ev->id.n ? (struct str){name.p, name.n} : ev->name, key, at, v);
	}
	sb_free(&name);
	return ok;
}

/* Reads names and order of lanes; as in viewers, the last value of duplicates counts. */
static bool add_metadata(struct timeline *l, const struct trace_event *ev)
{
	bool is_process = str_starts(ev->name, "process_");
	uint32_t process = tl_process(l, ev->pid), lane;
	struct tl_process *p;
	double sort;

	if (process == TL_NONE)
		return false;
	p = &l->processes.v[process];
	if (str_is(ev->name, "process_name"))
		return !ev->arg_name.p || (p->name = tl_text(l, ev->arg_name));
	if (str_is(ev->name, "process_labels")) {
		struct str labels = trace_event_find(ev->args, "labels");

		return !labels.n || (p->labels = tl_text(l, labels));
	}
	lane = is_process ? 0 : tl_lane(l, process, ev->tid);
	if (lane == TL_NONE)
		return false;
	if (str_is(ev->name, "thread_name"))
		return !ev->arg_name.p || (l->lanes.v[lane].name = tl_text(l, ev->arg_name));
	if (!str_ends(ev->name, "_sort_index") || !trace_event_number(ev->sort_index, &sort) ||
		fabs(sort) > 1e15)
		return true;
	*(is_process ? &p->sort : &l->lanes.v[lane].sort) = (int64_t)sort;
	return true;
}

static bool chrome_add_event(struct timeline *l, const struct trace_event *ev)
{
	if (ev->ph == 'M')
		return add_metadata(l, ev);
	if (!ev->ph || !strchr("XBEiIRbnestfCSTpF", ev->ph)) {
		l->counts[TL_OTHER_EVENTS]++;
		return true;
	}
	if (!ev->pid.p && !ev->tid.p) {
		l->counts[TL_NO_LANE]++;
		return true;
	}
	if (ev->ph == 'C')
		return chrome_add_counter(l, ev);
	l->counts[TL_ARGS] += ev->args.n > 2;
	switch (ev->ph) {
	case 'X':
		return chrome_add_slice(l, ev, TL_SLICE);
	case 'B':
	case 'E':
		return chrome_add_half(l, ev);
	case 's':
	case 't':
	case 'f':
		return chrome_add_flow(l, ev);
	case 'i':
	case 'I':
	case 'R':
		return chrome_add_slice(l, ev, TL_INSTANT);
	default:
		return add_async(l, ev);
	}
}

/* --- the whole file --- */

/* A file of our exporter: its source and its cycles are known. */
static bool read_own(struct timeline *l, struct str object)
{
	struct trace_meta *m = &l->trace->meta;
	struct str kernel = trace_event_find(object, "kernel"), arch;
	double mhz;

	if (!trace_event_find(object, "incore").p)
		return true;
	m->evidence = evidence_of(trace_event_find(object, "evidence"));
	if (kernel.n && !str_is(kernel, "null") && !(m->kernel = tl_text(l, kernel)))
		return false;
	arch = trace_event_find(object, "arch");
	if (arch.n && !str_is(arch, "null")) {
		m->arch = tl_text(l, arch);
		m->arch_source = "otherData";
	}
	if (!str_has(trace_event_find(object, "time"), "cycle") || l->unit_ns != 1)
		return true;
	m->clock_hz_num = m->clock_hz_den = 0;
	if (trace_event_number(trace_event_find(object, "clock_mhz"), &mhz) && mhz > 0 &&
		mhz < 1e5) {
		m->clock_hz_num = (uint64_t)llrint(mhz * 1e6);
		m->clock_hz_den = 1;
	}
	l->trace->clocks[0].hz_num = m->clock_hz_num;
	l->trace->clocks[0].hz_den = m->clock_hz_den;
	return true;
}

/* Proton names a process "matmul_kernel Core12 CTA3". */
static struct str chrome_kernel_of(const char *process)
{
	struct str s = str_of(process);
	ptrdiff_t cta = str_rfind_char(s, ' '), core;
	uint64_t n;

	if (cta <= 0 || !str_starts(str_sub(s, (size_t)cta, s.n), " CTA") ||
		!str_to_u64(str_sub(s, (size_t)cta + 4, s.n), &n))
		return (struct str){NULL, 0};
	s.n = (size_t)cta;
	core = str_rfind_char(s, ' ');
	if (core <= 0 || !str_starts(str_sub(s, (size_t)core, s.n), " Core"))
		return (struct str){NULL, 0};
	return str_sub(s, 0, (size_t)core);
}

/* Sets the kernel if all processes are blocks of the same one. */
static bool chrome_name_kernel(struct timeline *l)
{
	struct trace_meta *m = &l->trace->meta;
	struct str name = {NULL, 0};

	EACH (const struct tl_process, p, l->processes.v, l->processes.n) {
		struct str k = chrome_kernel_of(p->key);

		if (!k.n || (name.n && !str_eq(k, name)))
			return true;
		name = k;
	}
	if (name.n && !m->kernel)
		m->kernel = arena_strndup(&l->trace->arena, name.p, name.n);
	return !name.n || m->kernel;
}

static bool chrome_finish(struct timeline *l, struct trace_events *r, struct incore_error *e)
{
	struct trace_meta *m = &l->trace->meta;

	l->counts[TL_NOT_OBJECTS] += r->n_not_objects;
	if (!tl_finish(l, e))
		return false;
	if (r->schema_version >= 0)
		m->format_version =
			arena_printf(&l->trace->arena, "%lld", (long long)r->schema_version);
	if (r->is_cut && !trace_note(l->trace, "cut-trace", l->path, json_offset(&r->json), 1,
				 "the events end in the middle; what was before the cut is kept"))
		return err_nomem(e);
	return (read_own(l, r->other_data) && chrome_name_kernel(l)) || err_nomem(e);
}

static bool chrome_read_events(
	struct timeline *l, const struct file_data *f, struct incore_error *e)
{
	struct trace_events r;
	struct trace_event ev;
	bool ok = true;

	trace_events_init(&r, f->data, f->size, l->path);
	while (ok && trace_events_next(&r, &ev))
		ok = chrome_add_event(l, &ev);
	if (!ok)
		err_nomem(e);
	else
		ok = trace_events_finish(&r, e);
	if (ok && !r.has_events)
		ok = err_file(e, "bad-trace", l->path, 0,
			"no events: expected an object with an array \"traceEvents\"");
	ok = ok && chrome_finish(l, &r, e);
	trace_events_deinit(&r);
	return ok;
}

static bool chrome_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct file_data f = {0};
	struct timeline l;
	bool ok;

	tl_init(&l, t, path);
	l.is_escaped = true;
	ok = import_load_plain(o, &f, path, e) && chrome_read_events(&l, &f, e);
	tl_deinit(&l);
	file_unload(&f);
	return ok;
}

static const struct signature chrome_signs[] = {
	{.begins = "[", .after_blanks = true},
	{.says = "\"traceEvents\""},
	{.says = "\"metadata\"", .min_bytes = PROBE_HEAD},
	{.says = "\"deviceProperties\"", .min_bytes = PROBE_HEAD},
	{.says = "\"distributedInfo\"", .min_bytes = PROBE_HEAD},
	{0},
};

const struct import_ops import_chrome = {
	.name = "chrome",
	.summary = "Chrome JSON timeline of another tool: Triton Proton, PyTorch profiler, ...",
	.looks_for = "a JSON file with \"traceEvents\"",
	.reads_packed = true,
	.signs = chrome_signs,
	.sniff = chrome_sniff,
	.look = tl_look,
	.read = chrome_read,
	.lost = import_lost_noted,
};
