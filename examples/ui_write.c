/* SPDX-License-Identifier: Apache-2.0 */
/* ui_write.c: how does a run look as a ui_output directory? Single-line JSON, keys in alphabetical
 * order, null for an empty array, as the real writer does it. */
#include "ui_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codec/json_writer.h"
#include "ui_extra.h"

static const unsigned skew[8] = {0, 752, 1504, 2212, 2960, 3700, 4444, 5188};

uint64_t ui_time(const struct ui_capture *c, unsigned se, uint64_t t)
{
	return c->sim.quantum == 4 ? t - skew[se] : t - skew[se] - se;
}

FILE *ui_create(const char *dir, const char *fmt, ...)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/", dir);
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	f = fopen(path, "wb");
	if (!f)
		fprintf(stderr, "make_capture: %s: %s\n", path, strerror(errno));
	return f;
}

bool ui_finish(struct json_writer *w, FILE *f)
{
	bool ok = json_w_finish(w, NULL);

	return fclose(f) == 0 && ok;
}

void ui_ints(struct json_writer *w, unsigned n, ...)
{
	va_list ap;

	json_w_row(w);
	va_start(ap, n);
	while (n--)
		json_w_i64(w, va_arg(ap, int64_t));
	va_end(ap);
	json_w_end(w);
}

#define INT(v) ((int64_t)(v))

/* --- code.json --- */

struct totals {
	uint64_t hit, latency, stall, idle;
};

static void add_totals(const struct ui_capture *c, struct totals *t)
{
	for (size_t i = 0; i < c->sim.n_waves; i++) {
		const struct sim_wave *w = &c->sim.waves[i];
		uint64_t prev = w->begin;

		for (size_t k = 0; k < w->n; k++) {
			const struct sim_record *r = &w->records[k];
			struct totals *row = &t[r->line];

			row->hit++;
			row->latency += r->duration;
			row->stall += r->stall;
			row->idle += r->time > prev ? r->time - prev : 0;
			if (r->time + r->duration > prev)
				prev = r->time + r->duration;
		}
	}
}

static void put_samples(struct json_writer *w, const struct ui_capture *c, unsigned line)
{
	uint64_t stalled = sim_random(c->sim.seed, line, 60), left = stalled;

	json_w_u64(w, sim_random(c->sim.seed, line + 1000, 40));
	json_w_u64(w, stalled);
	json_w_row(w);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t part =
			i == 9 ? left : sim_random(c->sim.seed, line * 10 + i, left / 2 + 1);

		json_w_u64(w, part);
		left -= part;
	}
	json_w_end(w);
}

static void put_row(
	struct json_writer *w, const struct ui_capture *c, unsigned line, const struct totals *t)
{
	const struct sim_program *p = c->program;
	const char *source = line && !(c->flags & UI_UNMAPPED) ? p->rows[line - 1].source : NULL;
	char label[160];

	json_w_row(w);
	snprintf(label, sizeof(label), "; %s", p->kernel);
	json_w_cstr(w, line ? p->text[line - 1] : label);
	json_w_i64(w, 0);
	json_w_u64(w, line);
	json_w_cstr(w, source ? source : "");
	json_w_i64(w, 3);
	json_w_u64(w, line ? p->address[line - 1] : p->vaddr);
	json_w_u64(w, t->hit);
	json_w_u64(w, t->latency);
	json_w_u64(w, t->stall);
	json_w_u64(w, t->idle);
	if (c->flags & UI_PC_SAMPLING) {
		put_samples(w, c, line);
	} else if (c->flags & UI_NEW_COLUMNS) {
		json_w_u64(w, 0);
		json_w_u64(w, t->hit);
		json_w_u64(w, 0);
		json_w_null(w);
	}
	json_w_end(w);
}

static void put_header(struct json_writer *w, const struct ui_capture *c)
{
	static const char *const names[] = {"ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr",
		"Hit", "Latency", "Stall", "Idle", "PC_Issued", "PC_Stalled", "Stall_Reasons"};

	if (!(c->flags & UI_PC_SAMPLING)) {
		json_w_cstr(w, c->flags & UI_NEW_COLUMNS
				       ? "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, "
					 "Latency, Stall, "
					 "Idle, ServiceType, Issued, Stalled, NotIssuedReasons"
				       : "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, "
					 "Latency, Stall, Idle");
		return;
	}
	json_w_row(w);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_w_cstr(w, names[i]);
	json_w_end(w);
}

static bool write_code(const struct ui_capture *c, const char *dir)
{
	static struct totals t[SIM_MAX_ROWS + 1];
	FILE *f = ui_create(dir, "code.json");
	struct json_writer w;

	if (!f)
		return false;
	memset(t, 0, sizeof(t));
	add_totals(c, t);
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_key(&w, "code");
	if (c->flags & UI_NO_WAVES) {
		json_w_null(&w);
	} else {
		json_w_array(&w);
		for (unsigned line = 0; line <= c->program->n; line++)
			put_row(&w, c, line, &t[line]);
		json_w_end(&w);
	}
	json_w_key(&w, "header");
	put_header(&w, c);
	if (c->flags & UI_NEW_COLUMNS) {
		json_w_key(&w, "sqtt_funcmap");
		json_w_array(&w);
		json_w_row(&w);
		json_w_i64(&w, 3);
		json_w_i64(&w, 17);
		json_w_cstr(&w, "u");
		json_w_cstr(&w, "main_loop");
		json_w_end(&w);
		json_w_end(&w);
	}
	json_w_kv_cstr(&w, "version", "3.0.0");
	json_w_end(&w);
	return ui_finish(&w, f);
}

/* The same numbers once more, beside the directory. */
static bool write_stats(const struct ui_capture *c, const char *parent)
{
	static struct totals t[SIM_MAX_ROWS + 1];
	const struct sim_program *p = c->program;
	FILE *f = ui_create(parent, "stats_ui_output_agent_%" PRIu64 "_dispatch_%" PRIu64 ".csv",
		c->agent, c->dispatch);

	if (!f)
		return false;
	memset(t, 0, sizeof(t));
	add_totals(c, t);
	fputs("\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\","
	      "\"Source\"\n",
		f);
	fprintf(f, "3,%" PRIu64 ",\"; %s\",0,0,0,0,\"\"\n", p->vaddr, p->kernel);
	for (unsigned i = 0; i < p->n; i++)
		fprintf(f,
			"3,%" PRIu64 ",\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",\"%s\"\n",
			p->address[i], p->text[i], t[i + 1].hit, t[i + 1].latency, t[i + 1].stall,
			t[i + 1].idle, p->rows[i].source ? p->rows[i].source : "");
	return fclose(f) == 0;
}

/* --- waves --- */

static void put_waits(struct json_writer *w, const struct sim_wave *v)
{
	if (!v->n_waits) {
		json_w_null(w);
		return;
	}
	json_w_array(w);
	for (size_t i = 0; i < v->n_waits; i++) {
		json_w_row(w);
		json_w_u64(w, v->waits[i].line);
		json_w_row(w);
		for (uint32_t k = 0; k < v->waits[i].n; k++)
			ui_ints(w, 2, INT(v->waits[i].producer[k]), INT(0));
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static bool write_wave(const struct ui_capture *c, const struct sim_wave *v, const char *dir)
{
	FILE *f = ui_create(dir, "se%u_sm%u_sl%u_wv%u.json", v->se, v->simd, v->slot, v->number);
	struct json_writer w;
	char name[16];

	if (!f)
		return false;
	snprintf(name, sizeof(name), "SE%u", v->se);
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_kv_u64(&w, "duration", v->end - v->begin);
	json_w_kv_cstr(&w, "name", name);
	json_w_kv_u64(&w, "num_insts", v->n);
	json_w_kv_u64(&w, "num_stitched", v->n);
	json_w_key(&w, "wave");
	json_w_object(&w);
	json_w_kv_u64(&w, "begin", ui_time(c, v->se, v->begin));
	if (c->flags & UI_NEW_COLUMNS)
		json_w_kv_u64(&w, "cluster_id", 0);
	json_w_kv_u64(&w, "cu", v->cu);
	if (c->flags & UI_NEW_COLUMNS)
		json_w_kv_u64(&w, "dispatcher", 1 << 4);
	json_w_kv_u64(&w, "end", ui_time(c, v->se, v->end));
	json_w_kv_u64(&w, "id", v->number);
	json_w_key(&w, "instructions");
	json_w_array(&w);
	for (size_t i = 0; i < v->n; i++) {
		const struct sim_record *r = &v->records[i];

		ui_ints(&w, 5, INT(ui_time(c, v->se, r->time)), INT(r->category), INT(r->stall),
			INT(r->duration), INT(r->line));
	}
	json_w_end(&w);
	if (c->flags & UI_NEW_COLUMNS) {
		json_w_kv_u64(&w, "me_id", 1);
		json_w_kv_u64(&w, "pipe_id", 0);
	}
	json_w_kv_u64(&w, "simd", v->simd);
	json_w_kv_u64(&w, "slot", v->slot);
	json_w_key(&w, "timeline");
	json_w_array(&w);
	for (size_t i = 0; i < v->n_segments; i++)
		ui_ints(&w, 2, INT(v->segments[i].state), INT(v->segments[i].duration));
	json_w_end(&w);
	json_w_key(&w, "waitcnt");
	put_waits(&w, v);
	if (c->flags & UI_NEW_COLUMNS)
		json_w_kv_u64(&w, "workgroup_id", v->workgroup & 127);
	json_w_end(&w);
	json_w_end(&w);
	return ui_finish(&w, f);
}

/* --- wstates --- */

struct change {
	uint64_t time;
	int by;
};

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct change *)a)->time, y = ((const struct change *)b)->time;

	return x < y ? -1 : x > y;
}

static bool put_state(
	const struct ui_capture *c, const char *dir, unsigned state, struct change *v, size_t n)
{
	FILE *f = ui_create(dir, "wstates%u.json", state);
	struct json_writer w;
	char name[32];
	int running = 0;

	(void)c;
	if (!f)
		return false;
	qsort(v, n, sizeof(*v), by_time);
	snprintf(name, sizeof(name), "wstates%u.json", state);
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "name", name);
	json_w_key(&w, "state");
	json_w_row(&w);
	for (size_t i = 0; i < n; i++) {
		running += v[i].by;
		if (i + 1 == n || v[i + 1].time != v[i].time)
			json_w_i64(&w, running);
	}
	json_w_end(&w);
	json_w_key(&w, "time");
	json_w_row(&w);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n || v[i + 1].time != v[i].time)
			json_w_u64(&w, v[i].time);
	}
	json_w_end(&w);
	json_w_end(&w);
	return ui_finish(&w, f);
}

static bool write_states(const struct ui_capture *c, const char *dir)
{
	size_t total = 0;
	bool ok = true;
	struct change *v;

	for (size_t i = 0; i < c->sim.n_waves; i++)
		total += 2 * c->sim.waves[i].n_segments;
	v = calloc(total + 1, sizeof(*v));
	if (!v)
		return false;
	for (unsigned state = 1; ok && state <= 4; state++) {
		size_t n = 0;

		for (size_t i = 0; i < c->sim.n_waves; i++) {
			const struct sim_wave *w = &c->sim.waves[i];
			uint64_t at = ui_time(c, w->se, w->begin);

			for (size_t k = 0; k < w->n_segments; k++) {
				if (w->segments[k].state == state) {
					v[n++] = (struct change){at, 1};
					v[n++] = (struct change){at + w->segments[k].duration, -1};
				}
				at += w->segments[k].duration;
			}
		}
		if (n)
			ok = put_state(c, dir, state, v, n);
	}
	free(v);
	return ok;
}

/* --- filenames.json --- */

/* Opens the nesting levels that differ from the last wave. */
static void put_manifest(struct json_writer *w, const struct ui_capture *c)
{
	char key[16];
	const struct sim_wave *last = NULL;

	json_w_object(w);
	for (size_t i = 0; i < c->sim.n_waves; i++) {
		const struct sim_wave *v = &c->sim.waves[i];
		char name[64];
		unsigned same = !last || last->se != v->se ? 0
				: last->simd != v->simd	   ? 1
				: last->slot != v->slot	   ? 2
							   : 3;
		const unsigned level[] = {v->se, v->simd, v->slot};

		for (unsigned k = last ? 3 : 0; k > same; k--)
			json_w_end(w);
		for (unsigned k = same; k < 3; k++) {
			snprintf(key, sizeof(key), "%u", level[k]);
			json_w_key_str(w, str_of(key));
			json_w_object(w);
		}
		snprintf(key, sizeof(key), "%u", v->number);
		snprintf(name, sizeof(name), "se%u_sm%u_sl%u_wv%u.json", v->se, v->simd, v->slot,
			v->number);
		json_w_key_str(w, str_of(key));
		json_w_row(w);
		json_w_cstr(w, name);
		json_w_u64(w, ui_time(c, v->se, v->begin));
		json_w_u64(w, ui_time(c, v->se, v->end));
		json_w_end(w);
		last = v;
	}
	for (unsigned k = last ? 4 : 1; k > 0; k--)
		json_w_end(w);
}

static bool write_manifest(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "filenames.json");
	struct json_writer w;

	if (!f)
		return false;
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_key(&w, "counter_names");
	ui_put_counter_names(&w, c);
	json_w_kv_u64(&w, "gfxip", c->sim.gfx);
	json_w_kv_cstr(&w, "gfxv", c->sim.gfx > 9 ? "navi" : "vega");
	json_w_kv_u64(&w, "global_begin_time", 0);
	if (c->flags & UI_PC_SAMPLING)
		json_w_kv_bool(&w, "is_pcs_stochastic", true);
	if (c->flags & UI_NEW_COLUMNS)
		ui_put_extra_names(&w, c);
	if (c->flags & UI_PC_SAMPLING)
		json_w_kv_bool(&w, "pc_sampling", true);
	json_w_kv_bool(&w, "synthetic", true); /* incore says so wherever it shows a figure */
	if (c->flags & UI_PC_SAMPLING)
		json_w_kv_bool(&w, "thread_trace", false);
	json_w_kv_cstr(&w, "version", "3.0.0");
	json_w_key(&w, "wave_filenames");
	if (c->flags & (UI_NO_WAVES | UI_PC_SAMPLING))
		json_w_null(&w);
	else
		put_manifest(&w, c);
	json_w_end(&w);
	return ui_finish(&w, f);
}

/* --- realtime, sources --- */

static bool write_realtime(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "realtime.json");
	struct json_writer w;
	const int64_t rt = 236566044489914, ticks = 4000;
	char key[16];

	if (!f)
		return false;
	json_w_file(&w, f, 0);
	json_w_object(&w);
	for (unsigned se = 0; se < c->n_se; se++) {
		uint64_t first = ui_time(c, se, 8000);

		snprintf(key, sizeof(key), "SE%u", se);
		json_w_key_str(&w, str_of(key));
		json_w_array(&w);
		ui_ints(&w, 2, INT(first), rt);
		ui_ints(&w, 2, INT(first + c->clock_mhz * (uint64_t)ticks / 100), rt + ticks);
		json_w_end(&w);
	}
	json_w_key(&w, "metadata");
	json_w_object(&w);
	json_w_kv_cstr(&w, "descriptor", "[gfx_clock, realtime_clock]");
	json_w_kv_u64(&w, "frequency", 100000000);
	json_w_end(&w);
	json_w_end(&w);
	return ui_finish(&w, f);
}

/* All sources lie in one directory: "/kernels/name". */
static bool write_sources(const struct ui_capture *c, const char *dir)
{
	FILE *f = ui_create(dir, "snapshots.json");
	struct json_writer w;
	bool ok = true;

	if (!f)
		return false;
	json_w_file(&w, f, 0);
	json_w_object(&w);
	json_w_key(&w, "/");
	json_w_object(&w);
	json_w_key(&w, "kernels");
	json_w_object(&w);
	for (unsigned i = 0; c->sources[i].path; i++) {
		const char *name = strrchr(c->sources[i].path, '/') + 1;
		char copy[128];
		FILE *text;

		snprintf(copy, sizeof(copy), "source_%u_%s", i, name);
		json_w_key_str(&w, str_of(name));
		json_w_cstr(&w, copy);
		text = ui_create(dir, "%s", copy);
		ok = text && fputs(c->sources[i].text, text) >= 0 && ok;
		if (text)
			ok = fclose(text) == 0 && ok;
	}
	for (int i = 0; i < 3; i++)
		json_w_end(&w);
	return ui_finish(&w, f) && ok;
}

static bool make_dir(const char *path)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return true;
	fprintf(stderr, "make_capture: %s: %s\n", path, strerror(errno));
	return false;
}

bool ui_write(const struct ui_capture *c, const char *parent)
{
	char dir[4096];
	bool ok = make_dir(parent), has_waves = !(c->flags & (UI_NO_WAVES | UI_PC_SAMPLING));

	snprintf(dir, sizeof(dir), "%s/ui_output_agent_%" PRIu64 "_dispatch_%" PRIu64, parent,
		c->agent, c->dispatch);
	ok = ok && make_dir(dir) && write_manifest(c, dir) && write_code(c, dir) &&
	     ui_write_occupancy(c, dir) && write_realtime(c, dir);
	for (size_t i = 0; ok && has_waves && i < c->sim.n_waves; i++)
		ok = write_wave(c, &c->sim.waves[i], dir);
	if (ok && has_waves)
		ok = write_states(c, dir);
	if (ok && c->sources)
		ok = write_sources(c, dir);
	if (ok && c->flags & UI_NEW_COLUMNS)
		ok = ui_write_extra(c, dir);
	if (ok && c->flags & UI_SIDE_FILES) {
		snprintf(dir, sizeof(dir), "%s/compute", parent);
		ok = make_dir(dir) && ui_write_side_files(c, dir) && write_stats(c, parent);
	}
	return ok;
}
