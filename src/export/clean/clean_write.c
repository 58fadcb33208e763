/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_write.c: the laid out slices as Chrome trace events. Numbers of processes and threads are
 * unique over the file; rows of a lane never overlap; arrows run from the end of the producer to
 * the start of the consumer. The older form keeps string names and starts arrows at the producer's
 * start.
 */
#include "export/clean/clean_write.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/json_reader.h"
#include "export/text_out.h"
#include "isa/ascend.h"

#define RELEASE_SLICES 8192
#define NS 0.001 /* in microseconds: the resolution of viewers */

struct writer {
	struct clean *c;
	struct text_out o;
	bool has_event;
	struct json_reader text; /* reads the whole text: copied events are checked one by one */
	const uint32_t *order;	 /* lanes in display order */
	uint32_t n_order;
};

static void next_event(struct writer *w)
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

static void put_pid(struct writer *w, const struct clean_lane *k)
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

static void put_tid(struct writer *w, const struct clean_lane *k, uint32_t row)
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

static void put_process(struct writer *w, const struct clean_lane *k)
{
	next_event(w);
	text_puts(&w->o, "\"name\":\"process_name\",\"ph\":\"M\"");
	put_pid(w, k);
	text_puts(&w->o, ",\"args\":{\"name\":\"");
	text_put_json(&w->o, k->pid.p, k->pid.n);
	text_puts(&w->o, "\"}}");
	next_event(w);
	text_puts(&w->o, "\"name\":\"process_sort_index\",\"ph\":\"M\"");
	put_pid(w, k);
	text_puts(&w->o, ",\"args\":{\"sort_index\":");
	text_put_u64(&w->o, k->group);
	text_puts(&w->o, "}}");
}

static void put_row(struct writer *w, const struct clean_lane *k, uint32_t row, uint32_t at)
{
	enum ascend_pipe pipe = ascend_pipe_of_lane(k->pipe);
	const char *label = ascend_lane(pipe)->label;

	next_event(w);
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
	next_event(w);
	text_puts(&w->o, "\"name\":\"thread_sort_index\",\"ph\":\"M\"");
	put_pid(w, k);
	put_tid(w, k, row);
	text_puts(&w->o, ",\"args\":{\"sort_index\":");
	text_put_u64(&w->o, at);
	text_puts(&w->o, "}}");
}

static void put_lanes(struct writer *w)
{
	uint32_t tid = 1;

	for (uint32_t i = 0; i < w->n_order; i++) {
		struct clean_lane *k = &w->c->lanes.v[w->order[i]];

		if (i == 0 || w->c->lanes.v[w->order[i - 1]].group != k->group)
			put_process(w, k);
		k->first_tid = tid;
		for (uint32_t row = 0; row < k->n_rows; row++)
			put_row(w, k, row, tid + row);
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

static const char *skip_blanks(const char *p)
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
		const char *key = skip_blanks(p + 1), *value, *stop;

		stop = *key == '"' ? json_plain_value(key, end) : NULL;
		if (!stop || *stop != ':')
			return NULL;
		value = skip_blanks(stop + 1);
		p = ev && *value == '{' ? plain_object(value, end, NULL)
					: json_plain_value(value, end);
		if (!p)
			return NULL;
		if (ev)
			*copied_member(ev, (struct str){key + 1, (size_t)(stop - key) - 2},
				&other) = (struct str){value, (size_t)(p - value)};
		p = skip_blanks(p);
	} while (*p == ',');
	return *p == '}' ? p + 1 : NULL;
}

static bool take_value(struct json_reader *r, struct str *out)
{
	json_peek(r);
	out->p = r->p;
	if (!check_value(r))
		return false;
	out->n = (size_t)(r->p - out->p);
	return true;
}

/* Reads and checks the event at an offset of the text; false: the reader has the error. */
static bool read_event(struct writer *w, uint64_t at, struct copied_event *ev)
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
		if (!take_value(r, copied_member(ev, key, &other)))
			return false;
	return !r->is_failed;
}

static void put_name(struct writer *w, struct str name)
{
	text_puts(&w->o, "\"name\":");
	if (name.n && name.p[0] == '"')
		text_put_json(&w->o, name.p, name.n);
	else
		text_puts(&w->o, "\"\"");
	text_puts(&w->o, ",\"ph\":");
}

static bool is_number(struct str s)
{
	return s.n && (s.p[0] == '-' || (s.p[0] >= '0' && s.p[0] <= '9'));
}

/* Copies a number verbatim; if it was a string or has changed, prints the value instead. */
static void put_written(struct writer *w, const char *key, struct str text, double v)
{
	text_puts(&w->o, key);
	if (is_number(text))
		text_put(&w->o, text.p, text.n);
	else
		text_put_time(&w->o, v);
}

/* --- slices --- */

static void put_args(struct writer *w, struct str args, const struct clean_head *h)
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
static void put_times(struct writer *w, const struct clean_slice *s, const struct copied_event *ev)
{
	const struct clean *c = w->c;
	struct str none = {NULL, 0};

	put_written(w, ",\"ts\":", ev->ts, s->ts * c->ticks_per_unit);
	if (c->options.is_legacy) {
		text_puts(&w->o, ",\"cname\":\"");
		text_puts(&w->o, colour_of(c->lanes.v[s->lane].pipe));
		text_puts(&w->o, "\"");
	}
	if (!c->options.is_legacy || is_number(ev->dur) || s->dur != 0)
		put_written(w, ",\"dur\":", s->is_cut ? none : ev->dur, s->dur * c->ticks_per_unit);
}

static bool put_slice(struct writer *w, size_t i, const struct clean_head *h)
{
	const struct clean_slice *s = &w->c->slices.v[i];
	const struct clean_lane *k = &w->c->lanes.v[s->lane];
	struct copied_event ev = {0};

	if (!w->c->is_text) {
		const struct clean_row *row = &w->c->rows[s->at];

		ev.name = (struct str){row->p, row->name_len};
		ev.args = (struct str){row->p + row->name_len, row->args_len};
	} else if (!read_event(w, s->at, &ev)) {
		return false;
	}
	next_event(w);
	put_name(w, ev.name);
	text_puts(&w->o, "\"X\"");
	put_pid(w, k);
	put_tid(w, k, w->c->row_of[i]);
	put_times(w, s, &ev);
	put_args(w, ev.args, h);
	text_puts(&w->o, "}");
	return true;
}

static bool put_slices(struct writer *w)
{
	const struct clean *c = w->c;
	size_t head = 0, from = SIZE_MAX, end = 0; /* range of the text not released yet */
	bool ok = true;

	progress_begin(c->options.progress, "slices", c->slices.n);
	for (size_t i = 0; ok && i < c->slices.n; i++) {
		bool has_head = head < c->heads.n && c->heads.v[head].slice == i;

		ok = put_slice(w, i, has_head ? &c->heads.v[head] : NULL);
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

static void put_end(struct writer *w, const struct clean_arrow *a, uint64_t id, bool is_start)
{
	uint32_t i = is_start ? a->from : a->to;
	const struct clean_slice *s = &w->c->slices.v[i];
	const struct clean_lane *k = &w->c->lanes.v[s->lane];
	const struct clean_key *key = &w->c->keys.v[a->key];

	next_event(w);
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
static bool put_counter(struct writer *w, const struct clean_event *v)
{
	struct copied_event ev;

	if (!read_event(w, v->at, &ev))
		return false;
	next_event(w);
	put_name(w, ev.name);
	text_puts(&w->o, "\"C\"");
	put_pid(w, &w->c->lanes.v[v->lane]);
	if (v->ts > 0)
		put_written(w, ",\"ts\":", ev.ts, v->ts);
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
static void name_counters(struct writer *w)
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
			put_process(w, k);
	}
}

/* --- the frame --- */

static void put_left_out(struct writer *w)
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

static void put_count(struct writer *w, const char *key, uint64_t n)
{
	text_puts(&w->o, key);
	text_put_u64(&w->o, n);
}

static void put_top(struct writer *w, const struct clean_about *a)
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
	put_count(w, ",\"slices\":", c->slices.n);
	put_count(w, ",\"arrows\":", c->arrows.n);
	put_count(w, ",\"unmatched_sets\":", c->n_unmatched_sets);
	put_count(w, ",\"unmatched_waits\":", c->n_unmatched_waits);
	put_count(w, ",\"arrows_on_lanes_left_out\":", c->n_hidden_arrows);
	put_left_out(w);
	text_puts(&w->o, "},\"traceEvents\":[");
}

bool clean_write_trace(
	struct clean *c, const struct clean_about *a, FILE *f, struct incore_error *e)
{
	struct writer w = {.c = c};
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
	put_lanes(&w);
	name_counters(&w);
	ok = put_slices(&w);
	for (size_t i = 0; ok && i < c->arrows.n; i++) {
		mem_step(i);
		put_end(&w, &c->arrows.v[i], i + 1, true);
		put_end(&w, &c->arrows.v[i], i + 1, false);
	}
	for (size_t i = 0; ok && i < c->counters.n; i++)
		ok = put_counter(&w, &c->counters.v[i]);
	text_puts(&w.o, "\n]}\n");
	mem_free(order);
	if (!ok)
		json_fail(&w.text, e);
	json_deinit(&w.text);
	return text_out_close(&w.o, ok ? e : NULL) && ok;
}
