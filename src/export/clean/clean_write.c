/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_write.c: writes the files of a cleaned run. Parts: metrics per instruction; the summary;
 * the trace.
 */
#include "export/clean/clean_write.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/json_reader.h"
#include "export/text_out.h"
#include "isa/ascend.h"

/* --- metrics per instruction ------------------------------------------------------------------ */

/*
 * Converts the table of instructions (API_INSTR) from "a row with a list per core" to "a list of
 * rows per core". A list is per core if its column is numeric or known to be per core; any other
 * list is one value. Cells are copied as text; a cell remembers how far its list has been used, so
 * the text is read once and stepped through once.
 */

struct clean_metrics_column {
	struct str name; /* raw, in the input or the arena */
	char *key;	 /* name in the output */
	bool is_per_core;
};

struct clean_metrics_cell {
	const char *next; /* rest of the list, or the value */
	uint32_t n;	  /* bytes of the value; lists: 0 */
	uint32_t column;
	bool is_list;
};

struct metrics {
	struct json_reader r;
	struct arena arena;
	struct intern names;
	VEC(struct clean_metrics_column) columns;
	VEC(struct str) cores; /* raw */
	VEC(struct clean_metrics_cell) cells;
	VEC(size_t) rows;			 /* first cell of each */
	struct str types, instructions, numeric; /* raw values */
	struct clean_metrics out;
	bool is_nomem;
};

static struct str clean_metrics_raw_value(struct json_reader *r)
{
	const char *from;

	json_peek(r);
	from = r->p;
	if (!json_skip(r))
		return (struct str){0};
	return (struct str){from, (size_t)(r->p - from)};
}

static bool is_known_list(struct str name)
{
	static const char *const known[] = {"Cycles", "Instructions Executed", "GPR Count",
		"GPR Status", "Process Bytes", "Vector Utilization Percentage", "UB Read Conflict",
		"UB Write Conflict", "ICacheCycles", "CcuCycles", "ScalarCycles", "RealStallCycles",
		"TheoreticalStallCycles", "L2Cache Hit Rate", "Stall Sampling(All Samples)",
		"Stall Sampling(Not Issue)"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (str_is(name, known[i]))
			return true;
	return false;
}

/* Is the column numeric? dtype: 1 int, 2 float, 4 percentage. */
static bool is_numeric(const struct metrics *m, struct str name)
{
	struct json_reader r;
	struct str key;
	int64_t type = 0;

	if (!m->numeric.n)
		return false;
	json_init(&r, m->numeric.p, m->numeric.n, NULL, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (!str_eq(key, name) || json_peek(&r) != JSON_NUMBER)
			json_skip(&r);
		else if (!json_get_i64(&r, &type))
			break;
	}
	json_deinit(&r);
	return type == 1 || type == 2 || type == 4;
}

static uint32_t clean_metrics_column_of(struct metrics *m, struct str name)
{
	uint32_t n = m->names.n, k = intern_add(&m->names, name);
	struct clean_metrics_column c = {0};

	if (k == INTERN_NONE || k < n)
		return k;
	c.name = m->names.strs[k];
	c.key = arena_strndup(&m->arena, name.p, name.n);
	if (!c.key)
		return INTERN_NONE;
	for (char *p = c.key; *p; p++)
		if (*p == ' ')
			*p = '_';
		else if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 32);
	c.is_per_core =
		!str_is(name, "Address Range") && (is_known_list(name) || is_numeric(m, name));
	return VEC_PUSH(&m->columns, c) ? k : INTERN_NONE;
}

/* --- reading --- */

static bool clean_metrics_read_cores(struct metrics *m)
{
	for (json_enter_array(&m->r); json_next_item(&m->r);) {
		struct str core = json_peek(&m->r) == JSON_STRING ? clean_metrics_raw_value(&m->r)
								  : (struct str){0};

		if (!core.n)
			return json_reject(&m->r, "bad-shape", "Cores: expected strings");
		if (!VEC_PUSH(&m->cores, core))
			return !(m->is_nomem = true);
	}
	return !m->r.is_failed;
}

/* Reads the types of the columns: {"Instructions": {column: type}}. */
static void read_types(struct metrics *m)
{
	struct json_reader r;
	struct str key;

	if (!m->types.n || m->types.p[0] != '{')
		return;
	json_init(&r, m->types.p, m->types.n, NULL, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (str_is(key, "Instructions") && json_peek(&r) == JSON_OBJECT)
			m->numeric = clean_metrics_raw_value(&r);
		else
			json_skip(&r);
	}
	json_deinit(&r);
}

static bool clean_metrics_read_top(struct metrics *m)
{
	struct str key;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		if (str_is(key, "Cores"))
			clean_metrics_read_cores(m);
		else if (str_is(key, "Instructions Dtype"))
			m->types = clean_metrics_raw_value(&m->r);
		else if (str_is(key, "Instructions"))
			m->instructions = clean_metrics_raw_value(&m->r);
		else
			json_skip(&m->r);
		if (m->is_nomem)
			return false;
	}
	return !m->r.is_failed;
}

static uint32_t list_length(struct str raw)
{
	struct json_reader r;
	uint32_t n = 0;

	json_init(&r, raw.p, raw.n, NULL, 0);
	for (json_enter_array(&r); json_next_item(&r); n++)
		if (!json_skip(&r))
			break;
	json_deinit(&r);
	return n;
}

static bool clean_metrics_add_cell(struct metrics *m, struct str name, struct str raw)
{
	uint32_t k = clean_metrics_column_of(m, name);
	struct clean_metrics_cell c = {.next = raw.p, .n = (uint32_t)raw.n, .column = k};

	if (k == INTERN_NONE || raw.n > UINT32_MAX)
		return false;
	c.is_list = raw.p[0] == '[' && m->columns.v[k].is_per_core;
	if (c.is_list && list_length(raw) != m->cores.n)
		m->out.n_short_lists++;
	if (c.is_list)
		c.next = raw.p + 1;
	return VEC_PUSH(&m->cells, c);
}

static bool clean_metrics_read_rows(struct metrics *m, struct json_reader *r)
{
	struct str key;

	if (!m->instructions.n)
		return true;
	for (json_enter_array(r); json_next_item(r); m->out.n_rows++) {
		if (!VEC_PUSH(&m->rows, m->cells.n))
			return !(m->is_nomem = true);
		for (json_enter_object(r); json_next_key(r, &key);) {
			struct str raw;
			char *name = NULL;

			if (key.p == r->key_scratch.p) { /* had escapes: will be overwritten */
				name = arena_strndup(&m->arena, key.p, key.n);
				key.p = name;
			}
			raw = clean_metrics_raw_value(r);
			if (!raw.n)
				break;
			if (!key.p || !clean_metrics_add_cell(m, key, raw))
				return !(m->is_nomem = true);
		}
	}
	return VEC_PUSH(&m->rows, m->cells.n) || !(m->is_nomem = true);
}

/* --- writing --- */

/* The next item of a list; n 0: end of the list. Lists were already parsed, so they are valid. */
static struct str next_item(struct clean_metrics_cell *c)
{
	const char *p = c->next;
	struct str item;
	unsigned depth = 0;

	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == ',')
		p++;
	item = (struct str){p, 0};
	for (; depth || (*p != ',' && *p != ']'); p++) {
		if (*p == '"')
			for (p++; *p != '"'; p++)
				p += *p == '\\';
		else if (*p == '[' || *p == '{')
			depth++;
		else if (*p == ']' || *p == '}')
			depth--;
	}
	c->next = p;
	while (p > item.p && strchr(" \t\r\n", p[-1]))
		p--;
	item.n = (size_t)(p - item.p);
	return item;
}

static void clean_metrics_put_record(struct text_out *o, struct metrics *m, size_t row)
{
	bool has_one = false;

	text_puts(o, "{");
	for (size_t i = m->rows.v[row]; i < m->rows.v[row + 1]; i++) {
		struct clean_metrics_cell *c = &m->cells.v[i];
		struct str v = c->is_list ? next_item(c) : (struct str){c->next, c->n};

		if (!v.n)
			continue;
		text_puts(o, has_one ? ", " : "");
		text_put_quoted(o, str_of(m->columns.v[c->column].key));
		text_puts(o, ": ");
		text_put_json(o, v.p, v.n);
		has_one = true;
	}
	text_puts(o, "}");
}

static void clean_metrics_put_all(struct text_out *o, struct metrics *m)
{
	text_puts(o, "{\"cores\": [");
	for (size_t i = 0; i < m->cores.n; i++) {
		text_puts(o, i ? ", " : "");
		text_put_json(o, m->cores.v[i].p, m->cores.v[i].n);
	}
	text_puts(o, "],\n\"instructions\": {");
	for (size_t i = 0; i < m->cores.n; i++) {
		text_puts(o, i ? ",\n" : "\n");
		text_put_json(o, m->cores.v[i].p, m->cores.v[i].n);
		text_puts(o, ": [");
		for (size_t k = 0; k < m->out.n_rows; k++) {
			text_puts(o, k ? ",\n" : "\n");
			clean_metrics_put_record(o, m, k);
		}
		text_puts(o, "]");
	}
	text_puts(o, "},\n\"column_types\": ");
	if (m->types.n)
		text_put_json(o, m->types.p, m->types.n);
	else
		text_puts(o, "{}");
	text_puts(o, "}\n");
}

static bool write_all_rows(struct metrics *m, FILE *f, struct incore_error *e)
{
	struct text_out o;

	m->out.n_cores = (uint32_t)m->cores.n;
	if (!text_out_open(&o, f, e))
		return false;
	clean_metrics_put_all(&o, m);
	return text_out_close(&o, e);
}

bool clean_write_metrics(struct str api, const char *path, uint64_t offset, FILE *f,
	struct clean_metrics *out, struct incore_error *e)
{
	struct metrics m = {0};
	struct json_reader rows;
	bool ok;

	arena_init(&m.arena);
	intern_init(&m.names);
	json_init(&m.r, api.p, api.n, path, 0);
	ok = clean_metrics_read_top(&m) && json_finish(&m.r, e);
	if (!ok && m.r.is_failed && json_fail(&m.r, e))
		ok = false;
	read_types(&m);
	json_init(&rows, api.p, api.n, path, 0);
	rows.p = ok && m.instructions.n ? m.instructions.p : rows.p;
	if (ok && !(clean_metrics_read_rows(&m, &rows) && !rows.is_failed)) {
		ok = false;
		if (rows.is_failed)
			json_fail(&rows, e);
	}
	if (m.is_nomem)
		err_nomem(e);
	else if (!ok && e && offset) {
		e->offset += offset;
		e->line = 0;
	}
	ok = ok && write_all_rows(&m, f, e);
	*out = m.out;
	json_deinit(&rows);
	json_deinit(&m.r);
	intern_deinit(&m.names);
	VEC_FREE(&m.columns);
	VEC_FREE(&m.cores);
	VEC_FREE(&m.cells);
	VEC_FREE(&m.rows);
	arena_deinit(&m.arena);
	return ok;
}

/* --- the summary ------------------------------------------------------------------------------ */

/*
 * A page of text on where a cleaned trace comes from and what its pipes did.
 */

/* Writes the two costliest waits, as "MTE2 1.400 (1)". */
static void clean_summary_put_waits(const struct clean *c, uint32_t lane, struct strbuf *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->waits.n && n < 2; i++) {
		const struct clean_wait *w = &c->waits.v[i];

		if (w->lane != lane)
			continue;
		sb_printf(b, "%s", n ? ", " : "");
		if (w->producer == CLEAN_BY_NOBODY)
			sb_puts(b, "unmatched");
		else if (w->producer == CLEAN_BY_BARRIER)
			sb_puts(b, "BAR");
		else if (w->producer == CLEAN_BY_BUFFER)
			sb_puts(b, "BUF");
		else
			sb_str(b, c->lanes.v[w->producer].pipe);
		sb_printf(b, " %.3f (%llu)", w->exposed, (unsigned long long)w->n);
		n++;
	}
}

static bool clean_summary_put_lane(const struct clean *c, uint32_t i, FILE *f)
{
	const struct clean_lane *k = &c->lanes.v[i];
	struct strbuf name = {0}, waits = {0};
	bool ok;

	sb_printf(&name, "%.*s/%.*s", STR_ARG(k->pid), STR_ARG(k->pipe));
	clean_summary_put_waits(c, i, &waits);
	ok = !name.failed && !waits.failed;
	if (ok)
		fprintf(f, "%-28s %9llu %12.3f %12.3f %5u %5u  %s\n", name.p,
			(unsigned long long)k->sum.n, k->busy, k->sum.length_sum, k->sum.depth_max,
			k->n_rows, waits.n ? waits.p : "-");
	sb_free(&name);
	sb_free(&waits);
	return ok;
}

static bool put_pipe(const struct clean *c, uint32_t i, FILE *f)
{
	const struct clean_lane *k = &c->lanes.v[i];

	fprintf(f, "%.*s\t%.*s\t%llu\t%.6f\t%.6f\t%u\t%u\t%.6f\n", STR_ARG(k->pid),
		STR_ARG(k->pipe), (unsigned long long)k->sum.n, k->busy, k->sum.length_sum,
		k->sum.depth_max, k->n_rows, c->lanes.v[i + 1].busy);
	return true;
}

/* Calls put() for each lane that is kept and has slices, in the order of the trace. */
static bool each_kept_lane(
	const struct clean *c, bool (*put)(const struct clean *c, uint32_t i, FILE *f), FILE *f)
{
	VEC(uint32_t) v = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < c->lanes.n; i += 2) {
		size_t k;

		if (!c->lanes.v[i].is_kept || !(c->lanes.v[i].sum.n || c->lanes.v[i + 1].sum.n))
			continue;
		ok = VEC_PUSH(&v, i);
		for (k = v.n - 1; ok && k > 0 && clean_compare_lanes(c, i, v.v[k - 1]) < 0; k--)
			v.v[k] = v.v[k - 1];
		if (ok)
			v.v[k] = i;
	}
	for (size_t i = 0; ok && i < v.n; i++)
		ok = put(c, v.v[i], f);
	VEC_FREE(&v);
	return ok;
}

static void clean_summary_put_dropped(const struct clean *c, FILE *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->lanes.n; i++)
		if (!c->lanes.v[i].is_kept)
			n += c->lanes.v[i].n;
	fprintf(f,
		"left out     %llu slices of lanes that were not asked for (--keep-scalar, --keep-all)\n",
		(unsigned long long)n);
}

bool clean_write_pipes(const struct clean *c, FILE *f, struct incore_error *e)
{
	const char *unit = c->ticks_per_unit == 1 ? "us" : "cycles";

	fprintf(f, "core\tpipe\tslices\tbusy_%s\tsum_%s\tdepth_max\trows\texposed_wait_%s\n", unit,
		unit, unit);
	if (!each_kept_lane(c, put_pipe, f))
		return err_nomem(e);
	return !ferror(f) || err_write(e);
}

bool clean_write_summary(
	const struct clean *c, const struct clean_about *a, FILE *f, struct incore_error *e)
{
	const char *unit = c->ticks_per_unit == 1 ? "us" : "cyc";
	bool ok;

	fprintf(f, "kernel       %s\n", a->kernel ? a->kernel : "?");
	fprintf(f, "input        %s (%llu bytes)\n", a->input ? a->input : "?",
		(unsigned long long)a->input_bytes);
	if (a->source)
		fprintf(f, "source       %s\n", a->source);
	if (a->workload)
		fprintf(f, "workload     %s\n", a->workload);
	fprintf(f, "evidence     %s\n", a->evidence ? a->evidence : "vendor-simulator");
	fprintf(f, "made by      incore " INCORE_VERSION "\n");
	fprintf(f, "time         %s\n",
		a->clock ? a->clock : "microseconds as the simulator wrote them");
	fprintf(f, "slices       %zu kept of %llu events\n", c->slices.n,
		(unsigned long long)c->n_events);
	clean_summary_put_dropped(c, f);
	fprintf(f,
		"arrows       %zu; %llu SET and %llu WAIT without a partner, %llu on lanes left out, %llu without an instruction beside\n",
		c->arrows.n, (unsigned long long)c->n_unmatched_sets,
		(unsigned long long)c->n_unmatched_waits, (unsigned long long)c->n_hidden_arrows,
		(unsigned long long)c->n_no_anchor);
	if (c->unmatched.n)
		fprintf(f, "unmatched    %s\n", c->unmatched.p);
	fprintf(f, "\n%-28s %9s %8s[%s] %8s[%s] %5s %5s  %s\n", "core/pipe", "slices", "busy", unit,
		"sum", unit, "depth", "rows", "waits for (exposed, times)");
	ok = each_kept_lane(c, clean_summary_put_lane, f);
	fputs("\nbusy is the measure of the union of instructions (flags, barriers and locks left out); sum counts overlap\n"
	      "several times; a wait counts where its own pipe did not work.\n",
		f);
	if (!ok)
		return err_nomem(e);
	return !ferror(f) || err_write(e);
}

/* --- the trace -------------------------------------------------------------------------------- */

/*
 * The laid out slices as Chrome trace events. Numbers of processes and threads are unique over the
 * file; rows of a lane never overlap; arrows run from the end of the producer to the start of the
 * consumer. The older form keeps string names and starts arrows at the producer's start.
 */

#define RELEASE_SLICES 8192
#define NS 0.001 /* in microseconds: the resolution of viewers */

struct clean_write_writer {
	struct clean *c;
	struct text_out o;
	bool has_event;
	struct json_reader text; /* reads the whole text: copied events are checked one by one */
	const uint32_t *order;	 /* lanes in display order */
	uint32_t n_order;
};

static void clean_write_next_event(struct clean_write_writer *w)
{
	text_puts(&w->o, w->has_event ? ",\n{" : "\n{");
	w->has_event = true;
}

static const char *colour_of(struct str pipe)
{
	switch ((unsigned)ascend_pipe_of_lane(pipe)) {
	case PIPE_MTE1:
	case PIPE_MTE2:
		return "thread_state_iowait";
	case PIPE_CUBE:
		return "rail_response";
	case PIPE_VECTOR:
		return "good";
	case PIPE_FIXP:
		return "yellow";
	case PIPE_MTE3:
		return "cq_build_passed";
	default:
		return "grey";
	}
}

/* --- lanes --- */

static uint32_t *order_lanes(const struct clean *c, uint32_t *n)
{
	uint32_t *v = mem_resize(NULL, c->lanes.n + 1, sizeof(*v));

	*n = 0;
	for (uint32_t i = 0; v && i < c->lanes.n; i++) {
		uint32_t k = *n;

		if (!c->lanes.v[i].n_rows)
			continue;
		for (; k > 0 && clean_compare_lanes(c, i, v[k - 1]) < 0; k--)
			v[k] = v[k - 1];
		v[k] = i;
		++*n;
	}
	return v;
}

static void put_pid(struct clean_write_writer *w, const struct clean_lane *k)
{
	text_puts(&w->o, ",\"pid\":");
	if (!w->c->options.is_legacy) {
		text_put_u64(&w->o, (uint64_t)k->group + 1);
		return;
	}
	text_puts(&w->o, "\"");
	text_put_json(&w->o, k->pid.p, k->pid.n);
	text_puts(&w->o, "\"");
}

static void put_tid(struct clean_write_writer *w, const struct clean_lane *k, uint32_t row)
{
	text_puts(&w->o, ",\"tid\":");
	if (!w->c->options.is_legacy) {
		text_put_u64(&w->o, (uint64_t)k->first_tid + row);
		return;
	}
	text_puts(&w->o, "\"");
	text_put_json(&w->o, k->pipe.p, k->pipe.n);
	if (row) {
		text_puts(&w->o, "#");
		text_put_u64(&w->o, row);
	}
	text_puts(&w->o, "\"");
}

static void clean_write_put_process(struct clean_write_writer *w, const struct clean_lane *k)
{
	clean_write_next_event(w);
	text_puts(&w->o, "\"name\":\"process_name\",\"ph\":\"M\"");
	put_pid(w, k);
	text_puts(&w->o, ",\"args\":{\"name\":\"");
	text_put_json(&w->o, k->pid.p, k->pid.n);
	text_puts(&w->o, "\"}}");
	clean_write_next_event(w);
	text_puts(&w->o, "\"name\":\"process_sort_index\",\"ph\":\"M\"");
	put_pid(w, k);
	text_puts(&w->o, ",\"args\":{\"sort_index\":");
	text_put_u64(&w->o, k->group);
	text_puts(&w->o, "}}");
}

static void clean_write_put_row(
	struct clean_write_writer *w, const struct clean_lane *k, uint32_t row, uint32_t at)
{
	enum ascend_pipe pipe = ascend_pipe_of_lane(k->pipe);
	const char *label = ascend_lane(pipe)->label;

	clean_write_next_event(w);
	text_puts(&w->o, "\"name\":\"thread_name\",\"ph\":\"M\"");
	put_pid(w, k);
	put_tid(w, k, row);
	text_puts(&w->o, ",\"args\":{\"name\":\"");
	text_put_json(&w->o, k->pipe.p, k->pipe.n);
	text_puts(&w->o, k->is_wait ? " sync" : "");
	if (!k->is_wait && pipe != PIPE_NONE && label && *label) {
		text_puts(&w->o, " (");
		text_puts(&w->o, label);
		text_puts(&w->o, ")");
	}
	if (row) {
		text_puts(&w->o, " #");
		text_put_u64(&w->o, row);
	}
	text_puts(&w->o, "\"}}");
	clean_write_next_event(w);
	text_puts(&w->o, "\"name\":\"thread_sort_index\",\"ph\":\"M\"");
	put_pid(w, k);
	put_tid(w, k, row);
	text_puts(&w->o, ",\"args\":{\"sort_index\":");
	text_put_u64(&w->o, at);
	text_puts(&w->o, "}}");
}

static void clean_write_put_lanes(struct clean_write_writer *w)
{
	uint32_t tid = 1;

	for (uint32_t i = 0; i < w->n_order; i++) {
		struct clean_lane *k = &w->c->lanes.v[w->order[i]];

		if (i == 0 || w->c->lanes.v[w->order[i - 1]].group != k->group)
			clean_write_put_process(w, k);
		k->first_tid = tid;
		for (uint32_t row = 0; row < k->n_rows; row++)
			clean_write_put_row(w, k, row, tid + row);
		tid += k->n_rows;
	}
}

/* --- events of the text --- */

/* Skips a value and checks all of it, so that it may be copied. */
static bool check_value(struct json_reader *r)
{
	enum json_type type = json_peek(r);
	struct str key;

	if (type == JSON_OBJECT) {
		for (json_enter_object(r); json_next_key(r, &key);)
			if (!check_value(r))
				return false;
		return !r->is_failed;
	}
	if (type == JSON_ARRAY) {
		for (json_enter_array(r); json_next_item(r);)
			if (!check_value(r))
				return false;
		return !r->is_failed;
	}
	return json_skip(r);
}

struct copied_event { /* parts of an event that are copied verbatim: strings with quotes */
	struct str name, ts, dur, args;
};

/* Where to store a member of an event; `other` if it is not copied. */
static struct str *copied_member(struct copied_event *ev, struct str key, struct str *other)
{
	return str_is(key, "args")   ? &ev->args
	       : str_is(key, "name") ? &ev->name
	       : str_is(key, "ts")   ? &ev->ts
	       : str_is(key, "dur")  ? &ev->dur
				     : other;
}

static const char *clean_write_skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/*
 * Fast path for objects whose values are all plain (json_plain_value()) or objects of plain values.
 * Nearly all events are like this. Returns the end of the object at p, or NULL if the reader must
 * parse it. ev receives the members; it is NULL for an inner object.
 */
static const char *plain_object(const char *p, const char *end, struct copied_event *ev)
{
	struct str other;

	do { /* p: the brace or comma before a member */
		const char *key = clean_write_skip_blanks(p + 1), *value, *stop;

		stop = *key == '"' ? json_plain_value(key, end) : NULL;
		if (!stop || *stop != ':')
			return NULL;
		value = clean_write_skip_blanks(stop + 1);
		p = ev && *value == '{' ? plain_object(value, end, NULL)
					: json_plain_value(value, end);
		if (!p)
			return NULL;
		if (ev)
			*copied_member(ev, (struct str){key + 1, (size_t)(stop - key) - 2},
				&other) = (struct str){value, (size_t)(p - value)};
		p = clean_write_skip_blanks(p);
	} while (*p == ',');
	return *p == '}' ? p + 1 : NULL;
}

static bool clean_write_take_value(struct json_reader *r, struct str *out)
{
	json_peek(r);
	out->p = r->p;
	if (!check_value(r))
		return false;
	out->n = (size_t)(r->p - out->p);
	return true;
}

/* Reads and checks the event at an offset of the text; false: the reader has the error. */
static bool clean_write_read_event(
	struct clean_write_writer *w, uint64_t at, struct copied_event *ev)
{
	struct json_reader *r = &w->text;
	struct str key, other;

	r->p = r->start + (at < w->c->file->size ? at : w->c->file->size);
	*ev = (struct copied_event){0};
	if (*r->p == '{' && plain_object(r->p, r->end, ev))
		return true;
	*ev = (struct copied_event){0};
	r->need_comma = false;
	for (json_enter_object(r); json_next_key(r, &key);)
		if (!clean_write_take_value(r, copied_member(ev, key, &other)))
			return false;
	return !r->is_failed;
}

static void clean_write_put_name(struct clean_write_writer *w, struct str name)
{
	text_puts(&w->o, "\"name\":");
	if (name.n && name.p[0] == '"')
		text_put_json(&w->o, name.p, name.n);
	else
		text_puts(&w->o, "\"\"");
	text_puts(&w->o, ",\"ph\":");
}

static bool clean_write_is_number(struct str s)
{
	return s.n && (s.p[0] == '-' || (s.p[0] >= '0' && s.p[0] <= '9'));
}

/* Copies a number verbatim; if it was a string or has changed, prints the value instead. */
static void clean_write_put_written(
	struct clean_write_writer *w, const char *key, struct str text, double v)
{
	text_puts(&w->o, key);
	if (clean_write_is_number(text))
		text_put(&w->o, text.p, text.n);
	else
		text_put_time(&w->o, v);
}

/* --- slices --- */

static void clean_write_put_args(
	struct clean_write_writer *w, struct str args, const struct clean_head *h)
{
	bool is_empty = true;

	if (!args.n && !h)
		return;
	text_puts(&w->o, ",\"args\":");
	if (!h) {
		text_put_json(&w->o, args.p, args.n);
		return;
	}
	text_puts(&w->o, "{");
	for (size_t i = 1; i + 1 < args.n && is_empty; i++)
		is_empty = args.p[0] != '{' || strchr(" \t\r\n", args.p[i]) != NULL;
	if (!is_empty) {
		text_put_json(&w->o, args.p + 1, args.n - 2);
		text_puts(&w->o, ",");
	}
	text_puts(&w->o, "\"cache_time\":");
	text_put_time(&w->o, h->cache * w->c->ticks_per_unit);
	text_puts(&w->o, ",\"ccu_time\":");
	text_put_time(&w->o, h->ccu * w->c->ticks_per_unit);
	text_puts(&w->o, "}");
}

/* Writes times; the older form omits a length that is missing in the text. */
static void clean_write_put_times(
	struct clean_write_writer *w, const struct clean_slice *s, const struct copied_event *ev)
{
	const struct clean *c = w->c;
	struct str none = {NULL, 0};

	clean_write_put_written(w, ",\"ts\":", ev->ts, s->ts * c->ticks_per_unit);
	if (c->options.is_legacy) {
		text_puts(&w->o, ",\"cname\":\"");
		text_puts(&w->o, colour_of(c->lanes.v[s->lane].pipe));
		text_puts(&w->o, "\"");
	}
	if (!c->options.is_legacy || clean_write_is_number(ev->dur) || s->dur != 0)
		clean_write_put_written(
			w, ",\"dur\":", s->is_cut ? none : ev->dur, s->dur * c->ticks_per_unit);
}

static bool clean_write_put_slice(
	struct clean_write_writer *w, size_t i, const struct clean_head *h)
{
	const struct clean_slice *s = &w->c->slices.v[i];
	const struct clean_lane *k = &w->c->lanes.v[s->lane];
	struct copied_event ev = {0};

	if (!w->c->is_text) {
		const struct clean_row *row = &w->c->rows[s->at];

		ev.name = (struct str){row->p, row->name_len};
		ev.args = (struct str){row->p + row->name_len, row->args_len};
	} else if (!clean_write_read_event(w, s->at, &ev)) {
		return false;
	}
	clean_write_next_event(w);
	clean_write_put_name(w, ev.name);
	text_puts(&w->o, "\"X\"");
	put_pid(w, k);
	put_tid(w, k, w->c->row_of[i]);
	clean_write_put_times(w, s, &ev);
	clean_write_put_args(w, ev.args, h);
	text_puts(&w->o, "}");
	return true;
}

static bool clean_write_put_slices(struct clean_write_writer *w)
{
	const struct clean *c = w->c;
	size_t head = 0, from = SIZE_MAX, end = 0; /* range of the text not released yet */
	bool ok = true;

	progress_begin(c->options.progress, "slices", c->slices.n);
	for (size_t i = 0; ok && i < c->slices.n; i++) {
		bool has_head = head < c->heads.n && c->heads.v[head].slice == i;

		ok = clean_write_put_slice(w, i, has_head ? &c->heads.v[head] : NULL);
		head += has_head;
		from = c->slices.v[i].at < from ? c->slices.v[i].at : from;
		end = c->slices.v[i].at > end ? c->slices.v[i].at : end;
		if (i % RELEASE_SLICES == RELEASE_SLICES - 1) {
			progress_add(c->options.progress, RELEASE_SLICES);
			if (c->is_text)
				file_forget(c->file, from, end);
			from = SIZE_MAX;
			end = 0;
			mem_trim();
		}
	}
	progress_end(c->options.progress);
	return ok;
}

/* --- arrows and counters --- */

/* Start of an arrow: the producer's last nanosecond (cycle), as viewers truncate to nanoseconds. */
static double arrow_start(const struct clean *c, const struct clean_slice *s)
{
	double unit = c->ticks_per_unit == 1 ? NS : 1;
	double at;

	if (c->options.is_legacy)
		return s->ts;
	at = (floor(s->ts / unit) + floor(s->dur / unit + 1e-6) - 1) * unit;
	return at > s->ts ? at : s->ts;
}

static void put_end(
	struct clean_write_writer *w, const struct clean_arrow *a, uint64_t id, bool is_start)
{
	uint32_t i = is_start ? a->from : a->to;
	const struct clean_slice *s = &w->c->slices.v[i];
	const struct clean_lane *k = &w->c->lanes.v[s->lane];
	const struct clean_key *key = &w->c->keys.v[a->key];

	clean_write_next_event(w);
	text_puts(&w->o, is_start ? "\"ph\":\"s\",\"id\":" : "\"ph\":\"f\",\"bp\":\"e\",\"id\":");
	text_put_u64(&w->o, id);
	text_puts(&w->o, ",\"cat\":\"sync\",\"name\":\"");
	text_put_escaped(&w->o, key->pipe);
	text_puts(&w->o, "->");
	text_put_escaped(&w->o, key->trigger);
	text_puts(&w->o, " flag");
	text_put_escaped(&w->o, key->flag);
	text_puts(&w->o, "\"");
	put_pid(w, k);
	put_tid(w, k, w->c->row_of[i]);
	text_puts(&w->o, ",\"ts\":");
	if (w->c->ticks_per_unit != 1) /* cycles */
		text_put_time(
			&w->o, (is_start ? arrow_start(w->c, s) : s->ts) * w->c->ticks_per_unit);
	else /* not from the text: arrows are not in its order, and its pages may be released */
		text_put_exact(&w->o, is_start ? arrow_start(w->c, s) : s->ts);
	text_puts(&w->o, "}");
}

/* Writes a sample; one at time 0 moves to the first nanosecond, as MindStudio Insight drops 0. */
static bool clean_write_put_counter(struct clean_write_writer *w, const struct clean_event *v)
{
	struct copied_event ev;

	if (!clean_write_read_event(w, v->at, &ev))
		return false;
	clean_write_next_event(w);
	clean_write_put_name(w, ev.name);
	text_puts(&w->o, "\"C\"");
	put_pid(w, &w->c->lanes.v[v->lane]);
	if (v->ts > 0)
		clean_write_put_written(w, ",\"ts\":", ev.ts, v->ts);
	else
		text_puts(&w->o, ",\"ts\":0.001");
	text_puts(&w->o, ",\"args\":");
	if (ev.args.n)
		text_put_json(&w->o, ev.args.p, ev.args.n);
	else
		text_puts(&w->o, "{}");
	text_puts(&w->o, "}");
	return true;
}

/* Names the processes of counters that have no slices. */
static void name_counters(struct clean_write_writer *w)
{
	const struct clean *c = w->c;

	for (size_t i = 0; i < c->lanes.n; i += 2) {
		const struct clean_lane *k = &c->lanes.v[i];
		bool is_shown = false, has_counter = false;

		for (uint32_t n = 0; n < w->n_order && !is_shown; n++)
			is_shown = c->lanes.v[w->order[n]].group == k->group;
		for (size_t n = 0; n < c->counters.n && !has_counter && !is_shown; n++)
			has_counter = c->counters.v[n].lane == i;
		if (has_counter)
			clean_write_put_process(w, k);
	}
}

/* --- the frame --- */

static void put_left_out(struct clean_write_writer *w)
{
	const struct clean *c = w->c;
	bool has_one = false;

	text_puts(&w->o, ",\"left_out\":{");
	for (size_t i = 0; i < c->lanes.n; i += 2) {
		const struct clean_lane *k = &c->lanes.v[i];
		uint64_t n = 0;
		bool is_first = !k->is_kept;

		for (size_t j = 0; j < c->lanes.n && is_first; j++)
			if (str_eq(c->lanes.v[j].pipe, k->pipe)) {
				is_first = j >= i;
				n += c->lanes.v[j].n;
			}
		if (!is_first || !n)
			continue;
		text_puts(&w->o, has_one ? ",\"" : "\"");
		text_put_json(&w->o, k->pipe.p, k->pipe.n);
		text_puts(&w->o, "\":");
		text_put_u64(&w->o, n);
		has_one = true;
	}
	text_puts(&w->o, "}");
}

static void clean_write_put_count(struct clean_write_writer *w, const char *key, uint64_t n)
{
	text_puts(&w->o, key);
	text_put_u64(&w->o, n);
}

static void put_top(struct clean_write_writer *w, const struct clean_about *a)
{
	const struct clean *c = w->c;

	text_puts(&w->o, "{\"displayTimeUnit\":\"ns\"");
	if (c->options.is_legacy) {
		text_puts(&w->o, ",\"profilingType\":");
		text_put_quoted(&w->o, str_of(c->profiling_type ? c->profiling_type : "op"));
		text_puts(&w->o, ",\"schemaVersion\":");
		text_put_u64(&w->o, c->schema_version > 0 ? (uint64_t)c->schema_version : 1);
	}
	text_puts(&w->o,
		",\"otherData\":{\"schema\":\"incore.clean-trace/1\",\"incore\":\"" INCORE_VERSION
		"\",\"evidence\":");
	text_put_quoted(&w->o, str_of(a->evidence ? a->evidence : "vendor-simulator"));
	text_puts(&w->o, ",\"kernel\":");
	text_put_quoted(&w->o, str_of(a->kernel ? a->kernel : ""));
	text_puts(&w->o, ",\"time\":");
	text_puts(&w->o, c->ticks_per_unit == 1 ? "\"microseconds as the simulator wrote them\""
						: "\"1 ns shown = 1 cycle\"");
	clean_write_put_count(w, ",\"slices\":", c->slices.n);
	clean_write_put_count(w, ",\"arrows\":", c->arrows.n);
	clean_write_put_count(w, ",\"unmatched_sets\":", c->n_unmatched_sets);
	clean_write_put_count(w, ",\"unmatched_waits\":", c->n_unmatched_waits);
	clean_write_put_count(w, ",\"arrows_on_lanes_left_out\":", c->n_hidden_arrows);
	put_left_out(w);
	text_puts(&w->o, "},\"traceEvents\":[");
}

bool clean_write_trace(
	struct clean *c, const struct clean_about *a, FILE *f, struct incore_error *e)
{
	struct clean_write_writer w = {.c = c};
	uint32_t *order = order_lanes(c, &w.n_order);
	bool ok;

	if (!order)
		return err_nomem(e);
	if (!text_out_open(&w.o, f, e)) {
		mem_free(order);
		return false;
	}
	if (c->is_text)
		json_init(&w.text, c->file->data, c->file->size, a->input, 0);
	w.order = order;
	put_top(&w, a);
	clean_write_put_lanes(&w);
	name_counters(&w);
	ok = clean_write_put_slices(&w);
	for (size_t i = 0; ok && i < c->arrows.n; i++) {
		mem_step(i);
		put_end(&w, &c->arrows.v[i], i + 1, true);
		put_end(&w, &c->arrows.v[i], i + 1, false);
	}
	for (size_t i = 0; ok && i < c->counters.n; i++)
		ok = clean_write_put_counter(&w, &c->counters.v[i]);
	text_puts(&w.o, "\n]}\n");
	mem_free(order);
	if (!ok)
		json_fail(&w.text, e);
	json_deinit(&w.text);
	return text_out_close(&w.o, ok ? e : NULL) && ok;
}
