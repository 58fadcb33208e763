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
#include "export/labels.h"
#include "export/lanes.h"
#include "export/writer.h"
#include "isa/ascend.h"

#define MANY_EVENTS 1000000

struct chrome_place { /* where a slice with an arrow was written */
	uint32_t pid, tid;
	int64_t at_cyc; /* its last cycle */
	bool is_written;
};

struct chrome_state {
	FILE *f;
	struct arena arena;
	const char **code; /* per code row: name and arguments as JSON, made on first use */
	bool has_event;
	uint64_t n_events, n_clipped;
	uint32_t pid, tid; /* of the current track */
	bool has_pending; /* a slice is held back until it is known whether the next one overlaps */
	struct export_slice pending;
	struct lanes lanes;
	VEC(uint32_t) row_of;	     /* by slice of the current lane */
	uint32_t first_tid, n_tids;  /* of the current lane; of all before it */
	struct lane_flows flows;     /* links between lanes */
	struct chrome_place *places; /* of the two ends of each link */
	struct strbuf text, remarks;
	bool has_remark;
	bool is_failed; /* latched: no memory for a text; reported at the end */
};

/* --- pieces of JSON --- */

static void chrome_next_event(struct chrome_state *s)
{
	fputs(s->has_event ? ",\n" : "\n", s->f);
	s->has_event = true;
	s->n_events++;
}

static const char *chrome_quoted(struct chrome_state *s, const char *text)
{
	struct json_writer w;

	sb_reset(&s->text);
	json_w_buf(&w, &s->text, 0);
	json_w_cstr(&w, text ? text : "");
	s->is_failed |= s->text.failed || !s->text.p;
	return s->is_failed ? "\"\"" : s->text.p;
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

static void chrome_put_meta(
	struct chrome_state *s, const char *what, uint32_t pid, uint32_t tid, const char *args)
{
	chrome_next_event(s);
	fprintf(s->f, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{%s}}", what,
		pid, tid, args);
}

static void chrome_put_name(
	struct chrome_state *s, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	struct strbuf b = {0};

	sb_printf(&b, "\"name\":%s", chrome_quoted(s, name));
	s->is_failed |= b.failed;
	chrome_put_meta(s, what, pid, tid, b.failed ? "" : b.p);
	sb_free(&b);
}

static void chrome_put_sort(
	struct chrome_state *s, const char *what, uint32_t pid, uint32_t tid, uint32_t at)
{
	char args[40];

	snprintf(args, sizeof(args), "\"sort_index\":%u", at);
	chrome_put_meta(s, what, pid, tid, args);
}

/* --- lanes --- */

/* Names a process: a unit of lanes, or the engine of that number. */
static void chrome_name_process(struct export *x, uint32_t pid, const struct track *first)
{
	struct chrome_state *s = x->state;
	struct strbuf b = {0};

	if (first)
		lanes_put_group(&s->lanes, &b);
	else
		lanes_put_engine(&s->lanes, pid, &b);
	lanes_put_about(&s->lanes, &b);
	s->is_failed |= b.failed;
	chrome_put_name(s, "process_name", pid, 0, b.p);
	chrome_put_sort(s, "process_sort_index", pid, 0, pid);
	sb_free(&b);
}

/* Names a lane: of a wave, of its states, or a row of a pipe. */
static void chrome_name_lane(struct chrome_state *s, uint32_t row, uint32_t tid, const char *what)
{
	struct strbuf b = {0};

	lanes_put_name(&s->lanes, row, &b);
	sb_puts(&b, what);
	s->is_failed |= b.failed;
	chrome_put_name(s, "thread_name", s->pid, tid, b.p);
	chrome_put_sort(s, "thread_sort_index", s->pid, tid, tid);
	sb_free(&b);
}

/* Rows of all slices of a lane: they are named before the first slice. */
static bool chrome_name_rows(
	struct chrome_state *s, const struct track_data *d, struct incore_error *e)
{
	uint32_t n_rows = 1;

	s->row_of.n = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t row;

		if (!lanes_row(&s->lanes, (int64_t)d->start_cyc[i], d->dur_cyc[i], &row, e))
			return false;
		if (!VEC_PUSH(&s->row_of, row))
			return err_nomem(e);
		n_rows = row < n_rows ? n_rows : row + 1;
	}
	s->first_tid = s->n_tids + 1;
	s->n_tids += n_rows;
	for (uint32_t i = 0; i < n_rows; i++)
		chrome_name_lane(s, i, s->first_tid + i, "");
	return true;
}

static bool chrome_begin(struct export *x, struct incore_error *e)
{
	struct chrome_state *s = mem_zalloc(1, sizeof(*s));
	const struct trace *t = x->trace;

	if (!s)
		return err_nomem(e);
	x->state = s;
	s->f = x->file.f;
	arena_init(&s->arena);
	s->code = arena_zalloc(&s->arena, (size_t)t->n_code + 1, sizeof(*s->code));
	if (!s->code)
		return err_nomem(e);
	lanes_init(&s->lanes, x);
	s->places = mem_zalloc((size_t)t->n_links * 2 + 1, sizeof(*s->places));
	if (!s->places)
		return err_nomem(e);
	if (s->lanes.has_rows && !flows_of_links(&s->flows, t, e))
		return false;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", s->f);
	return true;
}

static bool chrome_track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	bool is_first = lanes_begin(&s->lanes, k->track);

	s->pid = s->lanes.group + s->lanes.has_rows;
	if (is_first) /* tracks are sorted by process */
		chrome_name_process(x, s->pid, k->track);
	if (s->lanes.has_rows)
		return chrome_name_rows(s, k->data, e);
	if (k->index > UINT32_MAX / 2 - 1)
		return err_set(e, INCORE_BAD_INPUT, "too-many", "too many tracks for this format");
	s->tid = k->index * 2 + 1;
	chrome_name_lane(s, 0, s->tid, "");
	if (k->data->n_states)
		chrome_name_lane(s, 0, s->tid + 1, " state");
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
	sb_printf(&b, "\"name\":%s", chrome_quoted(s, r->text));
	sb_printf(&b, ",\"args\":{\"row\":%lld", (long long)r->number);
	if (r->n_frames)
		sb_printf(&b, ",\"source\":%s", chrome_quoted(s, r->source));
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
	chrome_next_event(s);
	fprintf(s->f, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"cat\":\"%s\"", s->pid, s->tid,
		class_name((enum inst_class)v->inst_class));
	put_time(x, "ts", v->start_cyc);
	put_time(x, "dur", end - v->start_cyc);
	fprintf(s->f, ",%s,\"stall\":%u}}", code, v->stall_cyc);
	return true;
}

/* Remembers where arrows end and start: at the last cycle of a slice, as a wait ends when its flag
 * is set. */
static void chrome_keep_ends(struct chrome_state *s, const struct export_slice *v)
{
	size_t n;
	const struct flow_end *f = flows_at(&s->flows, v->track, v->index, &n);
	int64_t last = v->start_cyc + (v->dur_cyc ? v->dur_cyc - 1 : 0);

	for (size_t i = 0; i < n; i++)
		s->places[(f[i].id - 1) * 2 + f[i].is_end] =
			(struct chrome_place){s->pid, s->tid, last, true};
}

static bool chrome_slice(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	if (!flush_slice(x, v->start_cyc, e))
		return false;
	s->pending = *v;
	s->has_pending = true;
	if (!s->lanes.has_rows)
		return true;
	s->tid = s->first_tid + s->row_of.v[v->index];
	chrome_keep_ends(s, v);
	return flush_slice(x, INT64_MAX, e);
}

static bool chrome_state_run(struct export *x, const struct export_state *v, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	if (!flush_slice(x, INT64_MAX, e))
		return false;
	chrome_next_event(s);
	fprintf(s->f, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"cat\":\"state\",\"name\":\"%s\"",
		s->pid, s->tid + 1, state_name((enum wave_state)v->state));
	put_time(x, "ts", v->start_cyc);
	put_time(x, "dur", (int64_t)v->dur_cyc);
	fputs("}", s->f);
	return true;
}

static void chrome_put_arrow_end(
	struct export *x, const struct chrome_place *k, const char *kind, uint64_t id, bool is_end)
{
	struct chrome_state *s = x->state;

	chrome_next_event(s);
	fprintf(s->f,
		"{\"ph\":\"%s,\"cat\":\"%s\",\"name\":\"%s\",\"id\":%llu,\"pid\":%u,\"tid\":%u",
		is_end ? "f\",\"bp\":\"e\"" : "s\"", kind, kind, (unsigned long long)id, k->pid,
		k->tid);
	put_time(x, "ts", k->at_cyc);
	fputs("}", s->f);
}

static bool chrome_link(struct export *x, const struct export_link *l, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	if (!flush_slice(x, INT64_MAX, e))
		return false;
	chrome_put_arrow_end(x, &(struct chrome_place){s->pid, s->tid, l->from_cyc, true}, l->kind,
		l->id, false);
	chrome_put_arrow_end(
		x, &(struct chrome_place){s->pid, s->tid, l->to_cyc, true}, l->kind, l->id, true);
	return true;
}

static const char *link_name(enum link_kind kind)
{
	return kind == LINK_FLAG	 ? "flag"
	       : kind == LINK_BARRIER	 ? "barrier"
	       : kind == LINK_CROSS_CORE ? "cross-core"
					 : "flow";
}

static void chrome_put_links(struct export *x)
{
	struct chrome_state *s = x->state;
	const struct trace *t = x->trace;

	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct chrome_place *k = &s->places[(size_t)i * 2];
		const char *kind = link_name(t->links[i].kind);

		if (!k[0].is_written || !k[1].is_written)
			continue;
		x->result->n_links++;
		chrome_put_arrow_end(x, &k[0], kind, x->result->n_links, false);
		chrome_put_arrow_end(x, &k[1], kind, x->result->n_links, true);
	}
}

static bool chrome_track_end(struct export *x, struct incore_error *e)
{
	return flush_slice(x, INT64_MAX, e);
}

/* --- counters --- */

static uint32_t pid_of_clock(const struct trace *t, clock_idx c)
{
	return c < t->n_clocks ? t->clocks[c].id : 0;
}

static void chrome_put_counter(
	struct export *x, uint32_t pid, const char *name, int64_t time, const char *value)
{
	struct chrome_state *s = x->state;

	chrome_next_event(s);
	fprintf(s->f, "{\"ph\":\"C\",\"pid\":%u,\"tid\":0,\"name\":%s", pid,
		chrome_quoted(s, name));
	put_time(x, "ts", time);
	fprintf(s->f, ",\"args\":{\"value\":%s}}", value);
}

static bool chrome_counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	char value[32];

	(void)e;
	if (!export_has_clock(x, v->series->clock))
		return true;
	if (export_is_level(v->series))
		snprintf(value, sizeof(value), "%.9g", export_level(v->series, v->value));
	else
		snprintf(value, sizeof(value), "%llu", (unsigned long long)v->value);
	chrome_put_counter(
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
			chrome_name_process(x, t->clocks[i].id, NULL);
	}
}

static void chrome_put_running(struct export *x, clock_idx clock, int64_t time, uint64_t running)
{
	char value[32];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)running);
	chrome_put_counter(x, pid_of_clock(x->trace, clock), "running waves", time, value);
}

/* --- the end --- */

static void chrome_remark(
	struct chrome_state *s, const char *what, const char *text, uint64_t count)
{
	sb_printf(&s->remarks, "%s{\"what\":%s", s->has_remark ? "," : "", chrome_quoted(s, what));
	sb_printf(&s->remarks, ",\"text\":%s,\"count\":%llu}", chrome_quoted(s, text),
		(unsigned long long)count);
	s->has_remark = true;
}

static bool chrome_lost(struct export *x, const struct note *n, struct incore_error *e)
{
	struct chrome_state *s = x->state;

	chrome_remark(s, note_kind_name(n->kind), n->message, n->count);
	return s->remarks.failed ? err_nomem(e) : true;
}

static bool chrome_truncated(struct export *x, const struct note *c, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	struct strbuf b = {0};

	sb_printf(&b, "%s left out: %s", c->code, c->message);
	s->is_failed |= b.failed;
	chrome_remark(s, "left-out", b.p, c->count);
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
	s->is_failed |= !labels_put(x->trace, &b);
	fprintf(s->f, ",\"labels\":%s", s->is_failed ? "{}" : b.p);
	sb_free(&b);
}

static bool chrome_end(struct export *x, struct incore_error *e)
{
	struct chrome_state *s = x->state;
	const struct trace_meta *m = &x->trace->meta;

	if (s->lanes.has_rows)
		chrome_put_links(x);
	else
		name_others(x);
	export_each_running(x, chrome_put_running);
	if (!export_cut(x, "ends of overlapped records", "events of one lane must nest",
		    s->n_clipped, e))
		return false;
	fputs("\n],\n\"otherData\":{\"schema\":\"incore.chrome/1\",\"incore\":\"" INCORE_VERSION
	      "\"",
		s->f);
	fprintf(s->f, ",\"evidence\":\"%s\"", evidence_name(m->evidence));
	fprintf(s->f, ",\"kernel\":%s", chrome_quoted(s, m->kernel));
	fprintf(s->f, ",\"arch\":%s", chrome_quoted(s, m->arch));
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
	return !ferror(s->f) || err_write(e);
}

static void chrome_free_state(struct export *x)
{
	struct chrome_state *s = x->state;

	if (!s)
		return;
	lanes_deinit(&s->lanes);
	flows_deinit(&s->flows);
	VEC_FREE(&s->row_of);
	mem_free(s->places);
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
	EXPORT_SLICE_WRITER(chrome),
};
