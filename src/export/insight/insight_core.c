/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_core.c: the files in the folder of a core: its trace.json (schema 1: a process per pipe,
 * rows without overlap, all events of type X) and the two CSV files of totals.
 */
#include <inttypes.h>

#include "analysis/pipes/clean.h"
#include "base/search.h"
#include "export/insight/insight.h"

#define OWN_PIDS 1000 /* for lanes that the producer did not number */

static void next_event(struct insight *s)
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

	next_event(s);
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

static void put_sort(struct insight *s, uint32_t pid, uint32_t index)
{
	struct text_out *o = &s->core;

	next_event(s);
	text_puts(o, "\"args\":{\"sort_index\":");
	text_put_u64(o, index);
	text_puts(o, "},\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":");
	text_put_u64(o, pid);
	text_puts(o, ",\"tid\":0}");
}

static void put_slice(struct insight *s, const struct export_track *k, uint32_t i, uint32_t row)
{
	const struct track_data *d = k->data;
	struct text_out *o = &s->core;
	const char *args = insight_row_args(s, d->code[i]);
	uint64_t start = d->start_cyc[i] + d->stall_cyc[i];

	next_event(s);
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
static bool put_rows(struct insight *s, const struct export_track *k, struct clean_rows *rows)
{
	const struct track_data *d = k->data;
	const char *slash = strrchr(k->track->name, '/');
	uint32_t pid = pid_of(k->track->coord[2]), known = 0;
	char name[64];

	put_named(s, "process_name", pid, 0, slash ? slash + 1 : k->track->name);
	put_sort(s, pid, k->track->coord[2]);
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
		put_slice(s, k, i, row);
	}
	return true;
}

bool insight_put_core_track(struct insight *s, const struct export_track *k, struct incore_error *e)
{
	struct clean_rows rows;
	bool ok;

	clean_rows_init(&rows);
	ok = put_rows(s, k, &rows);
	clean_rows_deinit(&rows);
	return ok || err_nomem(e);
}

/* --- CSV --- */

struct total {
	const char *key; /* for lines: "a.cpp:12" */
	code_idx code;
	uint64_t calls, cycles, ran;
};

static int by_cycles(const void *pa, const void *pb)
{
	const struct total *a = pa, *b = pb;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	if (a->key && b->key)
		return strcmp(a->key, b->key);
	return a->code < b->code ? -1 : a->code > b->code;
}

static double us_of(const struct insight *s, uint64_t cyc)
{
	double mhz = s->is_cycles ? 1000 : trace_clock_mhz(s->t);
	double us = (double)cyc / mhz;

	return (double)(uint64_t)(us * 100 + 0.5) / 100; /* the producer rounds to 10 ns */
}

/* Writes a text without quotes and line ends, as the producer escapes nothing, and without commas
 * if it is not quoted. Bytes that are not UTF-8 become U+FFFD. */
static void put_plain(FILE *f, struct str text, bool is_quoted)
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
	SORT(v.v, v.n, by_cycles);
	fputs("instr,addr,pipe,call_count,cycles,running_time(us),detail\n", f);
	for (size_t i = 0; ok && i < v.n; i++) {
		const struct code_row *r = &s->t->code[v.v[i].code];
		struct str opcode = insight_opcode(s, v.v[i].code);
		char pipe[16];

		put_plain(f, opcode, false);
		fprintf(f, ",%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%f,\"", r->address,
			ascend_pipe_name(
				s->cells[(size_t)v.v[i].code * s->units.n + s->open_unit].pipe,
				pipe),
			v.v[i].calls, v.v[i].cycles, us_of(s, v.v[i].ran));
		if (r->text_len > opcode.n)
			put_plain(f,
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
		SORT(v, keys.n, by_cycles);
	fputs("code,call_count,cycles,running_time(us)\n", f);
	for (uint32_t i = 0; ok && v && i < keys.n; i++) {
		put_plain(f, str_of(v[i].key), false);
		fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%f\n", v[i].calls, v[i].cycles,
			us_of(s, v[i].ran));
	}
	mem_free(v);
	intern_deinit(&keys);
	return ok;
}

static bool write_csv(struct insight *s, const char *suffix, bool (*put)(struct insight *, FILE *),
	struct incore_error *e)
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
	return ok && write_csv(s, "instr_exe", write_instr_csv, e) &&
	       write_csv(s, "code_exe", write_code_csv, e);
}
