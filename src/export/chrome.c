/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome.c: Chrome trace events, for chrome://tracing and viewers that read its JSON. See
 * incore-chrome(7). A process per first level (shader engine), two lanes per wave: its instructions
 * and its states. Events of one lane must nest, so a record that overlaps its successor is cut. For
 * pipes, where several instructions are in flight at once: a process per unit, as many lanes per
 * pipe as needed, and the links between pipes as arrows.
 */
#include "export/export.h"

#include "analysis/waves/states.h"
#include "codec/json_writer.h"
#include "export/chrome_pipes.h"
#include "export/flows.h"
#include "export/labels.h"
#include "export/writer.h"
#include "isa/ascend_names.h"

#define MANY_EVENTS 1000000

struct chrome_state {
	FILE *f;
	struct arena arena;
	const char **code; /* per code row: name and arguments as JSON, made on first use */
	bool has_event;
	uint64_t n_events, n_clipped;
	uint32_t pid, tid; /* of the current track */
	bool has_pending; /* a slice is held back until it is known whether the next one overlaps */
	struct export_slice pending;
	bool has_pipes;
	struct chrome_pipes pipes;
	struct strbuf text, remarks;
	bool has_remark;
	bool is_nomem;	/* latched by small texts; reported at the end */
	bool is_failed; /* latched: a text could not be made */
};

/* --- pieces of JSON --- */

static void next_event(struct chrome_state *s)
{
	fputs(s->has_event ? ",\n" : "\n", s->f);
	s->has_event = true;
	s->n_events++;
}

static const char *quoted(struct chrome_state *s, const char *text)
{
	struct json_writer w;

	sb_reset(&s->text);
	json_w_buf(&w, &s->text, 0);
	json_w_cstr(&w, text ? text : "");
	s->is_failed |= s->text.failed;
	s->is_nomem |= s->text.failed || !s->text.p;
	return s->is_nomem ? "\"\"" : s->text.p;
}

/* Writes a time in microseconds: 1 cycle = 0.001, or real time with six digits (rounded down, so
 * that slices without overlap stay without). */
static void put_time(const struct export *x, const char *key, int64_t cyc)
{
	const struct trace_meta *m = &x->trace->meta;
	const char *sign = cyc < 0 ? "-" : "";
	uint64_t v = cyc < 0 ? 0 - (uint64_t)cyc : (uint64_t)cyc;

	if (x->options->is_real_time && m->clock_hz_num) {
		unsigned __int128 ps =
			(unsigned __int128)v * m->clock_hz_den * 1000000000000u / m->clock_hz_num;

		fprintf(x->file.f, ",\"%s\":%s%llu.%06llu", key, sign,
			(unsigned long long)(ps / 1000000), (unsigned long long)(ps % 1000000));
		return;
	}
	fprintf(x->file.f, ",\"%s\":%s%llu.%03llu", key, sign, (unsigned long long)(v / 1000),
		(unsigned long long)(v % 1000));
}

static void put_meta(
	struct chrome_state *s, const char *what, uint32_t pid, uint32_t tid, const char *args)
{
	next_event(s);
	fprintf(s->f, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{%s}}", what,
		pid, tid, args);
}

static void put_name(
	struct chrome_state *s, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	struct strbuf b = {0};

	sb_printf(&b, "\"name\":%s", quoted(s, name));
	s->is_nomem |= b.failed;
	put_meta(s, what, pid, tid, b.failed ? "" : b.p);
	s->is_failed |= b.failed;
	sb_free(&b);
}

static void put_sort(
	struct chrome_state *s, const char *what, uint32_t pid, uint32_t tid, uint32_t at)
{
	char args[40];

	snprintf(args, sizeof(args), "\"sort_index\":%u", at);
	put_meta(s, what, pid, tid, args);
}

/* --- lanes --- */

static void name_process(struct export *x, uint32_t number)
{
	struct chrome_state *s = x->state;
	const struct trace *t = x->trace;
	struct strbuf b = {0};

	sb_printf(&b, "%s %u, %s, %s (%s)", t->levels[0] ? t->levels[0] : "track", number,
		t->meta.kernel ? t->meta.kernel : "kernel", evidence_name(t->meta.evidence),
		x->options->is_real_time ? "real time" : "1 ns shown = 1 cycle");
	s->is_nomem |= b.failed;
	put_name(s, "process_name", number, 0, b.p);
	put_sort(s, "process_sort_index", number, 0, number);
	s->is_failed |= b.failed;
	sb_free(&b);
}

static void name_lanes(struct export *x, const struct export_track *k)
{
	struct chrome_state *s = x->state;
	struct strbuf b = {0};

	for (int i = 1; i < TRACK_LEVELS && x->trace->levels[i]; i++)
		sb_printf(&b, "%s%s %u", i > 1 ? " " : "", x->trace->levels[i], k->track->coord[i]);
	put_name(s, "thread_name", s->pid, s->tid, b.p ? b.p : k->track->name);
	put_sort(s, "thread_sort_index", s->pid, s->tid, s->tid);
	if (k->data->n_states) {
		sb_puts(&b, " state");
		s->is_nomem |= b.failed;
		put_name(s, "thread_name", s->pid, s->tid + 1, b.p);
		put_sort(s, "thread_sort_index", s->pid, s->tid + 1, s->tid + 1);
	}
	s->is_failed |= b.failed;
	sb_free(&b);
}

static bool name_pipe(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	const char *slash = strrchr(k->track->name, '/');
	struct strbuf b = {0};
	uint32_t pid = export_unit_of(x->trace, k->track) + 1;

	if (!chrome_pipes_track(&s->pipes, k->data, e))
		return false;
	if (pid != s->pid) {
		sb_printf(&b, "%.*s, %s, %s (%s)", slash ? (int)(slash - k->track->name) : 0,
			k->track->name, x->trace->meta.kernel ? x->trace->meta.kernel : "kernel",
			evidence_name(x->trace->meta.evidence),
			x->options->is_real_time ? "real time" : "1 ns shown = 1 cycle");
		put_name(s, "process_name", pid, 0, b.p);
		put_sort(s, "process_sort_index", pid, 0, pid);
	}
	s->pid = pid;
	for (uint32_t i = 0; i < s->pipes.n_rows; i++) {
		sb_reset(&b);
		sb_printf(&b, i ? "%s #%u" : "%s", slash ? slash + 1 : k->track->name, i);
		put_name(s, "thread_name", pid, s->pipes.first_tid + i, b.p);
		put_sort(s, "thread_sort_index", pid, s->pipes.first_tid + i,
			s->pipes.first_tid + i);
	}
	s->is_failed |= b.failed;
	sb_free(&b);
	return true;
}

static bool begin(struct export *x, struct incore_error *e)
{
	struct chrome_state *s = mem_zalloc(1, sizeof(*s));
	const struct trace *t = x->trace;

	if (!s)
		return err_nomem(e);
	x->state = s;
	s->f = x->file.f;
	s->pid = UINT32_MAX;
	arena_init(&s->arena);
	s->code = arena_zalloc(&s->arena, (size_t)t->n_code + 1, sizeof(*s->code));
	if (!s->code)
		return err_nomem(e);
	if (x->options->is_real_time && !t->meta.clock_hz_num)
		return err_set(e, INCORE_USAGE, "no-clock",
			"--time us: this capture does not give its clock; use --time cycles");
	s->has_pipes = export_has_lanes(t);
	if (s->has_pipes && !chrome_pipes_init(&s->pipes, t, e))
		return false;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", s->f);
	return true;
}

static bool track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	uint32_t pid = k->track->coord[0];

	if (s->has_pipes)
		return name_pipe(x, k, e);
	if (k->index > UINT32_MAX / 2 - 1)
		return err_set(e, INCORE_BAD_INPUT, "too-many", "too many tracks for this format");
	if (pid != s->pid) /* tracks are sorted by process */
		name_process(x, pid);
	s->pid = pid;
	s->tid = k->index * 2 + 1;
	name_lanes(x, k);
	return true;
}

/* --- slices --- */

/* "name":...,"cat":... and the arguments that never change */
static const char *code_text(struct export *x, code_idx code)
{
	struct chrome_state *s = x->state;
	const struct code_row *r;
	struct strbuf b = {0};

	if (code >= x->trace->n_code)
		return "\"name\":\"(unknown)\",\"args\":{\"row\":null";
	if (s->code[code])
		return s->code[code];
	r = &x->trace->code[code];
	sb_printf(&b, "\"name\":%s", quoted(s, r->text));
	sb_printf(&b, ",\"args\":{\"row\":%lld", (long long)r->number);
	if (r->n_frames)
		sb_printf(&b, ",\"source\":%s", quoted(s, r->source));
	s->code[code] = b.failed ? NULL : arena_strndup(&s->arena, b.p, b.n);
	sb_free(&b);
	return s->code[code];
}

/* Writes the pending slice; `limit` is where its successor starts. */
static bool flush_slice(struct export *x, int64_t limit, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	const struct export_slice *v = &s->pending;
	int64_t end = v->start_cyc + v->dur_cyc;
	const char *code;

	if (!s->has_pending)
		return true;
	s->has_pending = false;
	code = code_text(x, v->code);
	if (!code)
		return err_nomem(e);
	if (end > limit) {
		end = limit;
		s->n_clipped++;
	}
	next_event(s);
	fprintf(s->f, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"cat\":\"%s\"", s->pid, s->tid,
		class_name((enum inst_class)v->inst_class));
	put_time(x, "ts", v->start_cyc);
	put_time(x, "dur", end - v->start_cyc);
	fprintf(s->f, ",%s,\"stall\":%u}}", code, v->stall_cyc);
	return true;
}

static bool slice(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	if (!flush_slice(x, v->start_cyc, e))
		return false;
	s->pending = *v;
	s->has_pending = true;
	if (!s->has_pipes)
		return true;
	s->tid = s->pipes.first_tid + s->pipes.row_of.v[v->index];
	chrome_pipes_keep(&s->pipes, v, s->pid);
	return flush_slice(x, INT64_MAX, e);
}

static bool state_run(struct export *x, const struct export_state *v, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	if (!flush_slice(x, INT64_MAX, e))
		return false;
	next_event(s);
	fprintf(s->f, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"cat\":\"state\",\"name\":\"%s\"",
		s->pid, s->tid + 1, state_name((enum wave_state)v->state));
	put_time(x, "ts", v->start_cyc);
	put_time(x, "dur", (int64_t)v->dur_cyc);
	fputs("}", s->f);
	return true;
}

static bool link(struct export *x, const struct export_link *l, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	if (!flush_slice(x, INT64_MAX, e))
		return false;
	next_event(s);
	fprintf(s->f,
		"{\"ph\":\"s\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%llu,\"pid\":%u,\"tid\":%u",
		l->kind, l->kind, (unsigned long long)l->id, s->pid, s->tid);
	put_time(x, "ts", l->from_cyc);
	fputs("}", s->f);
	next_event(s);
	fprintf(s->f,
		"{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%llu,\"pid\":%u,\"tid\":%u",
		l->kind, l->kind, (unsigned long long)l->id, s->pid, s->tid);
	put_time(x, "ts", l->to_cyc);
	fputs("}", s->f);
	return true;
}

static const char *link_name(enum link_kind kind)
{
	return kind == LINK_FLAG	 ? "flag"
	       : kind == LINK_BARRIER	 ? "barrier"
	       : kind == LINK_CROSS_CORE ? "cross-core"
					 : "flow";
}

static void put_link_end(
	struct export *x, const struct chrome_end *k, const char *kind, bool is_start)
{
	struct chrome_state *s = x->state;
	int64_t last = k->start_cyc + (k->dur_cyc ? k->dur_cyc - 1 : 0);

	next_event(s);
	fprintf(s->f,
		"{\"ph\":\"%s,\"cat\":\"%s\",\"name\":\"%s\",\"id\":%llu,\"pid\":%u,\"tid\":%u",
		is_start ? "s\"" : "f\",\"bp\":\"e\"", kind, kind,
		(unsigned long long)x->result->n_links, k->pid, k->tid);
	put_time(x, "ts", last);
	fputs("}", s->f);
}

/* Writes arrows from the last cycle of one slice to the last of the other: a wait ends when its
 * flag is set. */
static void put_links(struct export *x)
{
	struct chrome_state *s = x->state;
	const struct trace *t = x->trace;

	for (uint32_t i = 0; i < t->n_links && s->has_pipes; i++) {
		const struct link *l = &t->links[i];
		const struct chrome_end *a =
			chrome_pipes_end(&s->pipes, l->from_track, l->from_slice);
		const struct chrome_end *b = chrome_pipes_end(&s->pipes, l->to_track, l->to_slice);

		if (!a || !b)
			continue; /* an end that was not written */
		x->result->n_links++;
		put_link_end(x, a, link_name(l->kind), true);
		put_link_end(x, b, link_name(l->kind), false);
	}
}

static bool track_end(struct export *x, struct incore_error *e)
{
	return flush_slice(x, INT64_MAX, e);
}

/* --- counters --- */

static uint32_t pid_of_clock(const struct trace *t, clock_idx c)
{
	return c < t->n_clocks ? t->clocks[c].id : 0;
}

static void put_counter(
	struct export *x, uint32_t pid, const char *name, int64_t time, const char *value)
{
	struct chrome_state *s = x->state;

	next_event(s);
	fprintf(s->f, "{\"ph\":\"C\",\"pid\":%u,\"tid\":0,\"name\":%s", pid, quoted(s, name));
	put_time(x, "ts", time);
	fprintf(s->f, ",\"args\":{\"value\":%s}}", value);
}

static bool counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	char value[32];

	(void)e;
	if (!export_has_clock(x, v->series->clock))
		return true;
	/* The values of a level are stored in fractions of its unit. */
	if (v->series->unit && v->series->per_unit)
		snprintf(value, sizeof(value), "%.9g", (double)v->value / v->series->per_unit);
	else
		snprintf(value, sizeof(value), "%llu", (unsigned long long)v->value);
	put_counter(
		x, pid_of_clock(x->trace, v->series->clock), v->series->name, v->time_cyc, value);
	return true;
}

/* Names the processes of engines that have counters but no waves. */
static void name_others(struct export *x)
{
	const struct trace *t = x->trace;
	uint32_t k = 0;

	for (uint32_t i = 0; i < t->n_clocks; i++) {
		while (k < t->n_tracks && t->tracks[k].coord[0] < t->clocks[i].id)
			k++;
		if (export_has_clock(x, i) &&
			(k == t->n_tracks || t->tracks[k].coord[0] != t->clocks[i].id))
			name_process(x, t->clocks[i].id);
	}
}

static void put_running(struct export *x, clock_idx clock, int64_t time, uint64_t running)
{
	char value[32];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)running);
	put_counter(x, pid_of_clock(x->trace, clock), "running waves", time, value);
}

/* --- the end --- */

static void remark(struct chrome_state *s, const char *what, const char *text, uint64_t count)
{
	sb_printf(&s->remarks, "%s{\"what\":%s", s->has_remark ? "," : "", quoted(s, what));
	sb_printf(&s->remarks, ",\"text\":%s,\"count\":%llu}", quoted(s, text),
		(unsigned long long)count);
	s->has_remark = true;
}

static bool lost(struct export *x, const struct note *n, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	remark(s, note_kind_name(n->kind), n->message, n->count);
	return s->remarks.failed ? err_nomem(e) : true;
}

static bool truncated(struct export *x, const struct export_cut *c, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	struct strbuf b = {0};

	sb_printf(&b, "%s left out: %s", c->what, c->why);
	s->is_nomem |= b.failed;
	remark(s, "left-out", b.p, c->count);
	sb_free(&b);
	return s->remarks.failed ? err_nomem(e) : true;
}

/* Writes the labels, if any: most traces have none. */
static void put_labels(struct export *x)
{
	struct chrome_state *s = x->state;
	struct strbuf b = {0};

	if (!trace_find_table(x->trace, ASCEND_TABLE_LABELS))
		return;
	s->is_nomem |= !labels_put(x->trace, &b);
	fprintf(s->f, ",\"labels\":%s", s->is_nomem ? "{}" : b.p);
	sb_free(&b);
}

static bool end(struct export *x, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	const struct trace_meta *m = &x->trace->meta;

	if (s->has_pipes)
		put_links(x);
	else
		name_others(x);
	export_each_running(x, put_running);
	if (!export_cut(x, "ends of overlapped records", "events of one lane must nest",
		    s->n_clipped, e))
		return false;
	fputs("\n],\n\"otherData\":{\"schema\":\"incore.chrome/1\",\"incore\":\"" INCORE_VERSION
	      "\"",
		s->f);
	fprintf(s->f, ",\"evidence\":\"%s\"", evidence_name(m->evidence));
	fprintf(s->f, ",\"kernel\":%s", quoted(s, m->kernel));
	fprintf(s->f, ",\"arch\":%s", quoted(s, m->arch));
	fprintf(s->f, ",\"clock_mhz\":\"%.3f\"", trace_clock_mhz(x->trace));
	fprintf(s->f, ",\"time\":\"%s\"",
		x->options->is_real_time ? "microseconds" : "1 us = 1000 cycles");
	put_labels(x);
	fprintf(s->f, ",\"remarks\":[%s]}}\n", s->remarks.p ? s->remarks.p : "");
	if (s->n_events > MANY_EVENTS)
		x->result->advice =
			"more than 1,000,000 events: most viewers of this format become slow; select waves (--se, --simd, --wave) or cycles (--from, --until), or use --to perfetto";
	if (s->is_failed)
		return err_nomem(e);
	if (s->is_nomem)
		return err_nomem(e);
	return !ferror(s->f) || err_write(e);
}

static void free_state(struct export *x)
{
	struct chrome_state *s = x->state;

	if (!s)
		return;
	if (s->has_pipes)
		chrome_pipes_deinit(&s->pipes);
	arena_deinit(&s->arena);
	sb_free(&s->text);
	sb_free(&s->remarks);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_chrome = {
	.name = "chrome",
	.suffix = ".json",
	.media_type = "application/json",
	.summary = "Chrome trace events (chrome://tracing, ui.perfetto.dev)",
	.holds = EXPORT_SLICES | EXPORT_STATES | EXPORT_LINKS | EXPORT_COUNTERS | EXPORT_CYCLES |
		 EXPORT_STALLS | EXPORT_NOTES | EXPORT_OCCUPANCY | EXPORT_TRACK_LINKS,
	.takes_time = true,
	EXPORT_SLICE_WRITER,
};
