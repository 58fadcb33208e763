/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_trace.c: writes trace.json of a whole run and of each core, with the CSV files beside it.
 * Parts: one core; all cores.
 */
#include <inttypes.h>

#include "analysis/pipes/clean.h"
#include "base/search.h"
#include "export/insight/insight.h"
#include "export/labels.h"
#include "export/writer.h"

/* --- one core --------------------------------------------------------------------------------- */

/*
 * The files in the folder of a core: its trace.json (schema 1: a process per pipe, rows without
 * overlap, all events of type X) and the two CSV files of totals.
 */

#define OWN_PIDS 1000 /* for lanes that the producer did not number */

static void insight_core_next_event(struct insight *s)
{
	text_puts(&s->core, s->has_core_event ? ",{" : "{");
	s->has_core_event = true;
}

static uint32_t pid_of(uint32_t pipe)
{
	const struct ascend_lane *k = ascend_lane(pipe);

	return k->per_core_pid && !ascend_is_warp(pipe) ? k->per_core_pid : OWN_PIDS + pipe;
}

bool insight_begin_core(struct insight *s, uint32_t unit, struct incore_error *e)
{
	s->open_unit = unit;
	s->has_core_event = false;
	s->core_file = insight_file(s, s->units.v[unit].name, "trace.json", e);
	if (!s->core_file || !text_out_open(&s->core, s->core_file, e))
		return false;
	s->is_core_open = true;
	text_puts(&s->core,
		"{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":1,\"traceEvents\":[");
	return true;
}

static void put_named(
	struct insight *s, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	struct text_out *o = &s->core;

	insight_core_next_event(s);
	text_puts(o, "\"args\":{\"name\":");
	text_put_quoted(o, str_of(name));
	text_puts(o, "},\"name\":\"");
	text_puts(o, what);
	text_puts(o, "\",\"ph\":\"M\",\"pid\":");
	text_put_u64(o, pid);
	text_puts(o, ",\"tid\":");
	text_put_u64(o, tid);
	text_puts(o, "}");
}

static void insight_core_put_sort(struct insight *s, uint32_t pid, uint32_t index)
{
	struct text_out *o = &s->core;

	insight_core_next_event(s);
	text_puts(o, "\"args\":{\"sort_index\":");
	text_put_u64(o, index);
	text_puts(o, "},\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":");
	text_put_u64(o, pid);
	text_puts(o, ",\"tid\":0}");
}

static void insight_core_put_slice(
	struct insight *s, const struct export_track *k, uint32_t i, uint32_t row)
{
	const struct track_data *d = k->data;
	struct text_out *o = &s->core;
	const char *args = insight_row_args(s, d->code[i]);
	uint64_t start = d->start_cyc[i] + d->stall_cyc[i];

	insight_core_next_event(s);
	text_puts(o, "\"args\":");
	text_puts(o, args ? args : "{");
	text_puts(o, "},\"cname\":\"");
	text_puts(o, ascend_lane(d->tag[i])->cname);
	text_puts(o, "\",\"dur\":");
	insight_put_us(s, o, d->dur_cyc[i] - d->stall_cyc[i]);
	text_puts(o, ",\"name\":");
	text_put_quoted(o, insight_event_name(s, d->code[i]));
	text_puts(o, ",\"ph\":\"X\",\"pid\":");
	text_put_u64(o, pid_of(k->track->coord[2]));
	text_puts(o, ",\"tid\":");
	text_put_u64(o, (uint64_t)row + 1);
	text_puts(o, ",\"ts\":");
	insight_put_us(s, o, start);
	text_puts(o, "}");
}

/* Writes rows. In this schema a row is not free if its last end equals a start: adds half a
 * cycle. */
static bool insight_core_put_rows(
	struct insight *s, const struct export_track *k, struct clean_rows *rows)
{
	const struct track_data *d = k->data;
	const char *slash = strrchr(k->track->name, '/');
	uint32_t pid = pid_of(k->track->coord[2]), known = 0;
	char name[64];

	put_named(s, "process_name", pid, 0, slash ? slash + 1 : k->track->name);
	insight_core_put_sort(s, pid, k->track->coord[2]);
	for (uint32_t i = 0; i < d->n; i++) {
		double start = (double)d->start_cyc[i];
		uint32_t row = clean_rows_put(rows, start, start + (double)d->dur_cyc[i] + 0.5, 0);

		if (row == CLEAN_NO_ROW)
			return false;
		for (; known <= row; known++) {
			snprintf(name, sizeof(name), "%.48s_%u", slash ? slash + 1 : "lane",
				known + 1);
			put_named(s, "thread_name", pid, known + 1, name);
		}
		insight_core_put_slice(s, k, i, row);
	}
	return true;
}

bool insight_put_core_track(struct insight *s, const struct export_track *k, struct incore_error *e)
{
	struct clean_rows rows;
	bool ok;

	clean_rows_init(&rows);
	ok = insight_core_put_rows(s, k, &rows);
	clean_rows_deinit(&rows);
	return ok || err_nomem(e);
}

/* --- CSV --- */

struct total {
	const char *key; /* for lines: "a.cpp:12" */
	code_idx code;
	uint64_t calls, cycles, ran;
};

static int insight_core_by_cycles(const void *pa, const void *pb)
{
	const struct total *a = pa, *b = pb;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	if (a->key && b->key)
		return strcmp(a->key, b->key);
	return a->code < b->code ? -1 : a->code > b->code;
}

static double insight_core_us_of(const struct insight *s, uint64_t cyc)
{
	double mhz = s->is_cycles ? 1000 : trace_clock_mhz(s->t);
	double us = (double)cyc / mhz;

	return (double)(uint64_t)(us * 100 + 0.5) / 100; /* the producer rounds to 10 ns */
}

/* Writes a text without quotes and line ends, as the producer escapes nothing, and without commas
 * if it is not quoted. Bytes that are not UTF-8 become U+FFFD. */
static void insight_core_put_plain(FILE *f, struct str text, bool is_quoted)
{
	for (size_t i = 0, n; i < text.n; i += n ? n : 1) {
		n = utf8_length((const unsigned char *)text.p + i, text.n - i);
		if (!n)
			fputs("\xef\xbf\xbd", f);
		else if (!strchr("\"\n\r", text.p[i]))
			fwrite(text.p[i] == ',' && !is_quoted ? ";" : text.p + i, 1, n, f);
	}
}

static bool write_instr_csv(struct insight *s, FILE *f)
{
	VEC(struct total) v = {0};
	bool ok = true;

	for (code_idx i = 0; ok && i < s->t->n_code; i++) {
		const struct insight_cell *c = &s->cells[(size_t)i * s->units.n + s->open_unit];

		if (c->hit && insight_is_instruction(s, i))
			ok = VEC_PUSH(&v, (struct total){NULL, i, c->hit, c->cycles, c->ran});
	}
	SORT(v.v, v.n, insight_core_by_cycles);
	fputs("instr,addr,pipe,call_count,cycles,running_time(us),detail\n", f);
	for (size_t i = 0; ok && i < v.n; i++) {
		const struct code_row *r = &s->t->code[v.v[i].code];
		struct str opcode = insight_opcode(s, v.v[i].code);
		char pipe[16];

		insight_core_put_plain(f, opcode, false);
		fprintf(f, ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%f,\"", r->address,
			ascend_pipe_name(
				s->cells[(size_t)v.v[i].code * s->units.n + s->open_unit].pipe,
				pipe),
			v.v[i].calls, v.v[i].cycles, insight_core_us_of(s, v.v[i].ran));
		if (r->text_len > opcode.n)
			insight_core_put_plain(f,
				str_sub((struct str){r->text, r->text_len}, opcode.n + 1,
					r->text_len),
				true);
		fputs("\"\n", f);
	}
	VEC_FREE(&v);
	return ok;
}

static bool add_lines(
	struct insight *s, code_idx code, struct intern *keys, struct total **v, size_t *cap)
{
	const struct code_row *r = &s->t->code[code];
	const struct insight_cell *c = &s->cells[(size_t)code * s->units.n + s->open_unit];
	uint32_t seen[16], n_seen = 0;

	for (uint16_t i = 0; c->hit && i < r->n_frames; i++) {
		const struct frame *f = &s->t->frames[r->first_frame + i];
		struct strbuf b = {0};
		uint32_t k, n = keys->n;
		bool is_new = true;

		sb_printf(&b, "%s:%u", f->source < s->t->n_sources ? s->paths[f->source] : "?",
			f->line);
		k = b.failed ? INTERN_NONE : intern_add(keys, (struct str){b.p ? b.p : "", b.n});
		sb_free(&b);
		if (k == INTERN_NONE || !vec_grow((void **)v, cap, keys->n, sizeof(**v)))
			return false;
		if (k == n)
			(*v)[k] = (struct total){.key = keys->strs[k].p};
		for (uint32_t j = 0; j < n_seen; j++)
			is_new &= seen[j] != k;
		if (!is_new)
			continue;
		if (n_seen < 16)
			seen[n_seen++] = k;
		(*v)[k].calls += c->hit;
		(*v)[k].cycles += c->cycles;
		(*v)[k].ran += c->ran;
	}
	return true;
}

static bool write_code_csv(struct insight *s, FILE *f)
{
	struct intern keys;
	struct total *v = NULL;
	size_t cap = 0;
	bool ok = true;

	intern_init(&keys);
	for (code_idx i = 0; ok && i < s->t->n_code; i++)
		ok = add_lines(s, i, &keys, &v, &cap);
	if (ok && v)
		SORT(v, keys.n, insight_core_by_cycles);
	fputs("code,call_count,cycles,running_time(us)\n", f);
	for (uint32_t i = 0; ok && v && i < keys.n; i++) {
		insight_core_put_plain(f, str_of(v[i].key), false);
		fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%f\n", v[i].calls, v[i].cycles,
			insight_core_us_of(s, v[i].ran));
	}
	mem_free(v);
	intern_deinit(&keys);
	return ok;
}

static bool insight_core_write_csv(struct insight *s, const char *suffix,
	bool (*put)(struct insight *, FILE *), struct incore_error *e)
{
	const char *core = s->units.v[s->open_unit].name;
	char *name = arena_printf(&s->arena, "%s_%s.csv", core, suffix);
	FILE *f;
	bool ok;

	if (!name)
		return err_nomem(e);
	f = insight_file(s, core, name, e);
	if (!f)
		return false;
	ok = put(s, f) || err_nomem(e);
	return out_dir_done(&s->dir, f, name, ok ? e : NULL) && ok;
}

bool insight_end_core(struct insight *s, struct incore_error *e)
{
	bool ok;

	if (!s->is_core_open)
		return true;
	s->is_core_open = false;
	text_puts(&s->core, "]}");
	ok = text_out_close(&s->core, e);
	ok = out_dir_done(&s->dir, s->core_file, "trace.json", ok ? e : NULL) && ok;
	s->core_file = NULL;
	return ok && insight_core_write_csv(s, "instr_exe", write_instr_csv, e) &&
	       insight_core_write_csv(s, "code_exe", write_code_csv, e);
}

/* --- all cores -------------------------------------------------------------------------------- */

/*
 * simulator/trace.json, which is also the TRACE block. Keys are in alphabetical order (args before
 * ph), X events sorted by end, B and E of a flag adjacent, s and t with the flag's own id, pid and
 * tid. Flags whose partner is on another core come last.
 */

static void insight_trace_next_event(struct insight *s)
{
	text_puts(&s->trace, s->has_event ? ",{" : "{");
	s->has_event = true;
}

/* Writes a string with escaped braces: after "ph" the viewer counts braces, even in strings. */
static void put_safe(struct text_out *o, struct str s)
{
	size_t from = 0;
	bool has_brace = false;

	for (size_t i = 0; i < s.n; i++)
		has_brace |= s.p[i] == '{' || s.p[i] == '}';
	if (!has_brace) {
		text_put_quoted(o, s);
		return;
	}
	text_puts(o, "\"");
	for (size_t i = 0; i <= s.n; i++) {
		if (i < s.n && s.p[i] != '{' && s.p[i] != '}')
			continue;
		text_put_escaped(o, str_sub(s, from, i - from));
		if (i < s.n)
			text_puts(o, s.p[i] == '{' ? "\\u007b" : "\\u007d");
		from = i + 1;
	}
	text_puts(o, "\"");
}

static const char *pipe_of_track(const struct insight *s, track_idx i)
{
	const char *slash = strrchr(s->t->tracks[i].name, '/');

	return slash ? slash + 1 : s->t->tracks[i].name;
}

/* --- metadata --- */

static void insight_trace_put_meta(
	struct insight *s, const char *what, const char *pid, const char *tid, uint32_t index)
{
	struct text_out *o = &s->trace;

	insight_trace_next_event(s);
	text_puts(o, "\"args\":{\"sort_index\":");
	text_put_u64(o, index);
	text_puts(o, "},\"name\":\"");
	text_puts(o, what);
	text_puts(o, "\",\"ph\":\"M\",\"pid\":");
	put_safe(o, str_of(pid));
	text_puts(o, ",\"tid\":");
	put_safe(o, str_of(tid));
	text_puts(o, "}");
}

static void insight_trace_put_label(struct insight *s, const struct insight_unit *u)
{
	struct text_out *o = &s->trace;
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s%s", evidence_name(s->t->meta.evidence),
		s->is_cycles ? ", 1 ns shown = 1 cycle" : "",
		labels_find(s->t, "made_up_control") ? ", made-up control values" : "",
		labels_find(s->t, "degenerate") ? ", degenerate" : "");
	insight_trace_next_event(s);
	text_puts(o, "\"args\":{\"labels\":");
	text_put_quoted(o, str_of(text));
	text_puts(o, "},\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":");
	put_safe(o, str_of(u->name));
	text_puts(o, ",\"tid\":\"NA\"}");
}

/* Writes an index for every lane, including lanes without slices. */
static void insight_trace_put_lanes(struct insight *s, const struct insight_unit *u)
{
	size_t n;
	const struct ascend_lane *lanes = ascend_lanes(&n);

	for (size_t i = 0; i < n; i++)
		insight_trace_put_meta(
			s, "thread_sort_index", u->name, lanes[i].name, lanes[i].pipe);
	for (track_idx i = 0; i < s->t->n_tracks; i++) {
		uint32_t pipe = s->t->tracks[i].coord[2];

		if (s->unit_of[i] == (uint32_t)(u - s->units.v) && pipe >= PIPE_WARP0)
			insight_trace_put_meta(
				s, "thread_sort_index", u->name, pipe_of_track(s, i), pipe);
	}
}

bool insight_begin_trace(struct insight *s, struct incore_error *e)
{
	struct strbuf metadata = {0};
	char mhz[64];
	bool ok;

	s->trace_file = insight_file(s, NULL, "trace.json", e);
	if (!s->trace_file || !text_out_open(&s->trace, s->trace_file, e))
		return false;
	snprintf(mhz, sizeof(mhz), "{\"clockMHz\":%.17g,",
		s->is_cycles ? 1000.0 : trace_clock_mhz(s->t));
	ok = labels_put_metadata(s->t, &metadata);
	text_puts(&s->trace, mhz);
	text_puts(&s->trace, "\"displayTimeUnit\":\"ns\",\"metadata\":");
	text_puts(&s->trace, ok ? metadata.p : "{}");
	text_puts(&s->trace, ",\"profilingType\":\"op\",\"schemaVersion\":2,\"traceEvents\":[");
	sb_free(&metadata);
	if (!ok)
		return err_nomem(e);
	for (size_t i = 0; i < s->n_drawn; i++)
		insight_trace_put_meta(s, "process_sort_index", s->units.v[i].name, "NA",
			3 * s->units.v[i].core + 1 + s->units.v[i].unit);
	for (size_t i = 0; i < s->n_drawn; i++) {
		insight_trace_put_label(s, &s->units.v[i]);
		insight_trace_put_lanes(s, &s->units.v[i]);
	}
	return true;
}

/* --- events --- */

#define ID_TEXT 96

struct slice_text {
	const char *args; /* without its closing brace */
	struct str name, tid;
	const char *pid, *cname;
	char group[ID_TEXT]; /* "": no group */
	uint64_t bytes;
	uint64_t row;	      /* number + 1, if only that identifies it; 0: not written */
	const char *same_as;  /* id of the flag that this one repeats, or NULL */
	struct str true_name; /* of a flag whose name the viewer does not know; n 0: not needed */
};

static void insight_trace_put_tail(
	struct insight *s, const struct slice_text *v, char ph, uint64_t ts)
{
	struct text_out *o = &s->trace;
	char text[16];

	text_puts(o, "\"name\":");
	text_put_quoted(o, v->name);
	snprintf(text, sizeof(text), ",\"ph\":\"%c\"", ph);
	text_puts(o, text);
	text_puts(o, ",\"pid\":");
	put_safe(o, str_of(v->pid));
	text_puts(o, ",\"tid\":");
	put_safe(o, v->tid);
	text_puts(o, ",\"ts\":");
	insight_put_us(s, o, ts);
	text_puts(o, "}");
}

static void insight_trace_put_args(struct insight *s, const struct slice_text *v)
{
	struct text_out *o = &s->trace;

	text_puts(o, "\"args\":");
	text_puts(o, v->args);
	if (v->bytes) {
		text_puts(o, ",\"process_bytes\":\"");
		text_put_u64(o, v->bytes);
		text_puts(o, "\"");
	}
	if (v->row) {
		text_puts(o, ",\"row\":\"");
		text_put_u64(o, v->row - 1);
		text_puts(o, "\"");
	}
	if (v->same_as) {
		text_puts(o, ",\"same_as\":");
		text_put_quoted(o, str_of(v->same_as));
	}
	if (v->true_name.n) {
		text_puts(o, ",\"true_name\":");
		text_put_quoted(o, v->true_name);
	}
	text_puts(o, "},\"cname\":\"");
	text_puts(o, v->cname);
	text_puts(o, "\",");
}

static void insight_trace_put_slice(
	struct insight *s, const struct slice_text *v, uint64_t ts, uint64_t dur)
{
	struct text_out *o = &s->trace;

	insight_trace_next_event(s);
	insight_trace_put_args(s, v);
	text_puts(o, "\"dur\":");
	insight_put_us(s, o, dur);
	text_puts(o, ",");
	if (v->group[0]) {
		text_puts(o, "\"group_id\":");
		text_put_quoted(o, str_of(v->group));
		text_puts(o, ",");
	}
	insight_trace_put_tail(s, v, 'X', ts);
}

static void insight_trace_put_heads(struct insight *s, const struct slice_text *v, uint64_t start,
	uint64_t cache, uint64_t queue)
{
	struct slice_text h = *v;

	h.bytes = 0;
	if (cache) {
		h.name = STR("cache_time");
		insight_trace_put_slice(s, &h, start, cache);
	}
	if (queue) {
		h.name = STR("ccu_time");
		insight_trace_put_slice(s, &h, start + cache, queue);
	}
}

/* --- one track --- */

static void insight_trace_add_cell(
	struct insight *s, const struct export_track *k, uint32_t i, uint64_t cache)
{
	const struct track_data *d = k->data;
	code_idx code = d->code[i];
	uint64_t start = d->start_cyc[i] + d->stall_cyc[i], end = d->start_cyc[i] + d->dur_cyc[i];
	struct insight_cell *c;
	enum ascend_sync sync;

	if (code >= s->t->n_code)
		return;
	c = &s->cells[(size_t)code * s->units.n + s->unit_of[k->index]];
	sync = ascend_sync_of(insight_opcode(s, code));
	if (s->reach_track[code] != k->index + 1) {
		s->reach_track[code] = k->index + 1;
		s->reach[code] = 0;
	}
	c->hit++;
	c->cycles += end - start;
	c->bytes += trace_moved_bytes(s->t, k->index, i);
	c->pipe = d->tag[i];
	c->cache += cache;
	c->queue += d->stall_cyc[i] - cache;
	if (end > s->reach[code]) {
		uint64_t grown = end - (start > s->reach[code] ? start : s->reach[code]);

		c->ran += grown;
		c->busy += sync == SYNC_NONE ? grown : 0;
		s->reach[code] = end;
	}
	if (ascend_is_wait(sync))
		c->wait += end - start;
}

static bool insight_trace_is_cross(const struct insight *s, uint64_t pair)
{
	const struct link *l = pair ? &s->t->links[pair - 1] : NULL;

	return l && s->unit_of[l->from_track] != s->unit_of[l->to_track];
}

static uint64_t flag_key(track_idx track, uint32_t slice)
{
	return (uint64_t)track << 32 | slice;
}

/* The viewer draws one line from a flag: for each further link the flag is written again, without
 * length, so that the lanes have the time of all flags once. */
static bool add_flag(struct insight *s, const struct export_track *k, uint32_t i, uint64_t cache)
{
	const struct track_data *d = k->data;
	uint64_t *end = u64_map_find(&s->end_of, flag_key(k->index, i));
	uint64_t at = end ? *end : 0;
	struct insight_flag f = {.track = k->index,
		.slice = i,
		.start = d->start_cyc[i] + d->stall_cyc[i],
		.end = d->start_cyc[i] + d->dur_cyc[i],
		.cache = cache,
		.queue = d->stall_cyc[i] - cache,
		.code = d->code[i]};

	f.is_wait = ascend_is_wait(ascend_sync_of(insight_opcode(s, f.code)));
	do {
		f.pair = at ? (at - 1) / 2 + 1 : 0;
		if (insight_trace_is_cross(s, f.pair) ? !VEC_PUSH(&s->cross, f)
						      : !VEC_PUSH(&s->flags, f))
			return false;
		at = at ? s->next_end[at - 1] : 0;
		f.is_copy = true;
		f.start = f.end;
		f.cache = f.queue = 0;
	} while (at);
	return true;
}

static bool insight_trace_put_one(struct insight *s, const struct export_track *k, uint32_t i)
{
	const struct track_data *d = k->data;
	uint64_t cache = d->stall_cyc[i] ? trace_cache_cyc(s->t, k->index, i) : 0;
	const struct insight_unit *u = &s->units.v[s->unit_of[k->index]];
	struct slice_text v = {.args = insight_row_args(s, d->code[i]),
		.name = insight_event_name(s, d->code[i]),
		.tid = str_of(pipe_of_track(s, k->index)),
		.pid = u->name,
		.cname = ascend_lane(d->tag[i])->cname};
	enum ascend_sync sync = ascend_sync_of(v.name);

	if (!v.args)
		return false;
	if (insight_is_named(s, d->code[i], s->unit_of[k->index]))
		v.row = (uint64_t)d->code[i] + 1;
	cache = cache < d->stall_cyc[i] ? cache : d->stall_cyc[i];
	insight_trace_add_cell(s, k, i, cache);
	/* A flag to or from another core that has no partner is written as a normal slice. */
	if (sync == SYNC_SET || sync == SYNC_WAIT ||
		((ascend_is_set(sync) || ascend_is_wait(sync)) &&
			u64_map_find(&s->end_of, flag_key(k->index, i))))
		return add_flag(s, k, i, cache);
	if (d->stall_cyc[i])
		snprintf(v.group, sizeof(v.group), "%.*s_%llu",
			(int)(v.name.n < 24 ? v.name.n : 24), v.name.p,
			(unsigned long long)++s->n_groups);
	insight_trace_put_heads(s, &v, d->start_cyc[i], cache, d->stall_cyc[i] - cache);
	v.bytes = trace_moved_bytes(s->t, k->index, i);
	insight_trace_put_slice(
		s, &v, d->start_cyc[i] + d->stall_cyc[i], d->dur_cyc[i] - d->stall_cyc[i]);
	return true;
}

struct by_end {
	uint64_t end, pc;
	uint32_t slice;
};

ORDER(end_cmp, struct by_end, UP(end) UP(pc) UP(slice))

bool insight_put_track(struct insight *s, const struct export_track *k, struct incore_error *e)
{
	const struct track_data *d = k->data;
	struct by_end *v = mem_resize(NULL, (size_t)d->n + 1, sizeof(*v));
	bool ok = v != NULL;

	for (uint32_t i = 0; ok && i < d->n; i++)
		v[i] = (struct by_end){d->start_cyc[i] + d->dur_cyc[i],
			d->code[i] < s->t->n_code ? s->t->code[d->code[i]].address : 0, i};
	if (ok)
		SORT(v, d->n, end_cmp);
	for (uint32_t i = 0; ok && i < d->n; i++)
		ok = insight_trace_put_one(s, k, v[i].slice);
	insight_hash_track(s, k);
	mem_free(v);
	return ok || err_nomem(e);
}

/* --- flags --- */

static int pair_cmp(const void *pa, const void *pb)
{
	const struct insight_flag *a = pa, *b = pb;
	uint64_t x = a->pair ? a->pair : UINT64_MAX, y = b->pair ? b->pair : UINT64_MAX;

	RETURN_UNLESS_EQUAL(x, y);
	if (a->is_wait != b->is_wait)
		return a->is_wait ? 1 : -1;
	RETURN_UNLESS_EQUAL(a->track, b->track);
	return COMPARE(a->slice, b->slice);
}

/* Maps a flag to a name known to the viewer, which drops B and E of others: SET_FLAGI is
 * SET_FLAG. */
static struct str plain_flag(struct str opcode)
{
	static const char *const names[] = {"SET_FLAG", "WAIT_FLAG", "set_event", "wait_event"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(opcode, names[i]))
			return opcode;
	return ascend_is_wait(ascend_sync_of(opcode)) ? STR("WAIT_FLAG") : STR("SET_FLAG");
}

/* Ids of flags within a core and between cores count apart. */
static void insight_trace_put_id(
	const struct insight *s, track_idx track, uint64_t number, bool is_cross, char out[ID_TEXT])
{
	if (is_cross)
		snprintf(out, ID_TEXT, "intra_%llu", (unsigned long long)number);
	else
		snprintf(out, ID_TEXT, "%.64s_%llu", s->units.v[s->unit_of[track]].name,
			(unsigned long long)number);
}

/* Finds the id of the flag that f repeats, or keeps the id of one that will be repeated. */
static bool share_id(struct insight *s, const struct insight_flag *f, uint64_t number,
	bool is_cross, char out[ID_TEXT])
{
	uint64_t key = flag_key(f->track, f->slice), *end = u64_map_find(&s->end_of, key), *id;

	out[0] = 0;
	if (!f->is_copy && (!end || !s->next_end[*end - 1]))
		return true;
	id = u64_map_at(&s->shared_ids, key);
	if (id && f->is_copy && *id)
		insight_trace_put_id(s, f->track, (*id - 1) / 2, (*id - 1) % 2, out);
	else if (id)
		*id = 2 * number + is_cross + 1;
	return id != NULL;
}

/* Writes B and E together; the head cost of a WAIT goes before it, under the flag's id. */
static bool insight_trace_put_flag(
	struct insight *s, const struct insight_flag *f, const char *id, const char *same_as)
{
	struct slice_text v = {.args = insight_row_args(s, f->code),
		.name = insight_opcode(s, f->code),
		.tid = str_of(pipe_of_track(s, f->track)),
		.pid = s->units.v[s->unit_of[f->track]].name,
		.cname = f->is_wait ? "yellow" : "black",
		.same_as = *same_as ? same_as : NULL};
	struct text_out *o = &s->trace;
	struct str plain = plain_flag(v.name);
	bool is_plain = str_eq(v.name, plain);

	if (!v.args)
		return false;
	if (!is_plain || insight_is_named(s, f->code, s->unit_of[f->track]))
		v.row = (uint64_t)f->code + 1;
	if (!is_plain) {
		v.true_name = v.name;
		v.name = plain;
	}
	snprintf(v.group, sizeof(v.group), "%s", id);
	insight_trace_put_heads(s, &v, f->start - f->cache - f->queue, f->cache, f->queue);
	insight_trace_next_event(s);
	insight_trace_put_args(s, &v);
	text_puts(o, "\"id\":");
	text_put_quoted(o, str_of(id));
	text_puts(o, ",");
	insight_trace_put_tail(s, &v, 'B', f->start);
	insight_trace_next_event(s);
	text_puts(o, "\"args\":{},\"cname\":\"");
	text_puts(o, v.cname);
	text_puts(o, "\",\"id\":");
	text_put_quoted(o, str_of(id));
	text_puts(o, ",");
	insight_trace_put_tail(s, &v, 'E', f->end);
	return true;
}

static void put_flow(struct insight *s, const struct insight_flag *set,
	const struct insight_flag *wait, const char *id)
{
	struct text_out *o = &s->trace;

	for (unsigned k = 0; k < 2; k++) {
		const struct insight_flag *f = k ? wait : set;
		struct slice_text v = {.name = STR("flow"),
			.tid = str_of(pipe_of_track(s, f->track)),
			.pid = s->units.v[s->unit_of[f->track]].name};

		insight_trace_next_event(s);
		text_puts(o, "\"cat\":\"");
		text_put_escaped(o, str_of(pipe_of_track(s, set->track)));
		text_puts(o, "To");
		text_put_escaped(o, str_of(pipe_of_track(s, wait->track)));
		text_puts(o, "\",\"id\":");
		text_put_quoted(o, str_of(id));
		text_puts(o, ",");
		insight_trace_put_tail(s, &v, k ? 't' : 's', f->end);
	}
}

/* unit: that of all flags; INSIGHT_NO_UNIT: the two of a pair are on different units. */
static bool put_flags(struct insight *s, struct insight_flag *v, size_t n, uint32_t unit)
{
	bool is_cross = unit == INSIGHT_NO_UNIT;
	uint64_t *n_ids = is_cross ? &s->n_cross : &s->n_ids;
	char id[ID_TEXT], same_as[ID_TEXT];

	SORT(v, n, pair_cmp);
	for (size_t i = 0; i < n; i++) {
		bool is_pair = i + 1 < n && v[i].pair && v[i].pair == v[i + 1].pair &&
			       !v[i].is_wait && v[i + 1].is_wait;
		uint64_t number;

		if (v[i].is_copy && !is_pair)
			continue;
		number = (*n_ids)++;
		insight_trace_put_id(s, v[i].track, number, is_cross, id);
		for (size_t k = i; k <= i + is_pair; k++)
			if (!share_id(s, &v[k], number, is_cross, same_as) ||
				!insight_trace_put_flag(s, &v[k], id, same_as))
				return false;
		if (is_pair) {
			put_flow(s, &v[i], &v[i + 1], id);
			s->n_flows++;
			i++;
		}
	}
	return true;
}

bool insight_end_unit(struct insight *s, struct incore_error *e)
{
	bool ok = put_flags(s, s->flags.v, s->flags.n, s->open_unit);

	s->flags.n = 0;
	return ok || err_nomem(e);
}

/* --- counters and the end --- */

void insight_put_counter(
	struct insight *s, const struct counter_series *c, uint64_t time, uint64_t value)
{
	struct text_out *o = &s->trace;
	const char *slash = strrchr(c->name, '/'); /* "MTE Throughput/GM_TO_UB" */
	struct str pid = slash ? (struct str){c->name, (size_t)(slash - c->name)} : STR("Counters");
	char text[64];

	if (time == 0) { /* the viewer drops samples at time 0 */
		time = 1;
		s->n_moved_samples++;
	}
	insight_trace_next_event(s);
	text_puts(o, "\"args\":{");
	if (export_is_level(c)) {
		text_puts(o, "\"throughput(");
		text_put_escaped(o, str_of(c->unit));
		snprintf(text, sizeof(text), ")\":%.9g", export_level(c, value));
	} else {
		snprintf(text, sizeof(text), "\"value\":%llu", (unsigned long long)value);
	}
	text_puts(o, text);
	text_puts(o, "},\"name\":");
	text_put_quoted(o, str_of(slash ? slash + 1 : c->name));
	text_puts(o, ",\"ph\":\"C\",\"pid\":");
	put_safe(o, pid);
	text_puts(o, ",\"tid\":0,\"ts\":");
	insight_put_us(s, o, time);
	text_puts(o, "}");
}

bool insight_end_trace(struct insight *s, struct incore_error *e)
{
	if (!put_flags(s, s->cross.v, s->cross.n, INSIGHT_NO_UNIT))
		return err_nomem(e);
	text_puts(&s->trace, "]}");
	return text_out_close(&s->trace, e);
}
