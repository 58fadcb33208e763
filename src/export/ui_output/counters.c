/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c: the files that are neither waves nor code: streamed counters (se<SE>_perfcounter.json
 * and spm.json), markers (shaderdata_<SE>_0.json), issues on SIMDs without detail
 * (other_simd_se<SE>_0.json). One file of each kind per shader engine.
 */
#include "export/ui_output/writer.h"

#include "base/search.h"

#define BANK_COUNTERS 4u
#define MAX_INDEX 8u /* counters of both banks */
#define NO_INDEX UINT32_MAX
#define SPM_PREFIX "SPM "

/* --- se<SE>_perfcounter.json --- */

/* One sample of one bank of a CU: one row of the file. */
struct perf_row {
	uint64_t time_cyc;
	clock_idx clock;
	uint32_t cu, bank, at; /* at: index of the sample in its series */
	uint64_t value[BANK_COUNTERS];
};

struct perf {
	VEC(struct perf_row) rows;
	uint64_t n_strange; /* samples that fit no bank */
};

static bool is_spm(const struct counter_series *c)
{
	return strncmp(c->name, SPM_PREFIX, sizeof(SPM_PREFIX) - 1) == 0;
}

/* Index of one of the eight counters, by the manifest's list or by a name made by the importer. */
static uint32_t index_of(const struct trace *t, const struct counter_series *c)
{
	uint64_t v;

	for (uint32_t i = 0; i < t->n_counter_names; i++)
		if (strcmp(t->counter_names[i], c->name) == 0)
			return i;
	if (strncmp(c->name, "counter ", 8) == 0 && str_to_u64(str_of(c->name + 8), &v) &&
		v < MAX_INDEX)
		return (uint32_t)v;
	return NO_INDEX;
}

ORDER(compare_banks, struct perf_row, UP(clock) UP(cu) UP(bank) UP(at))

ORDER(compare_times, struct perf_row, UP(clock) UP(time_cyc) THEN(compare_banks))

static bool add_series(struct perf *p, const struct counter_series *c, uint32_t index)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct perf_row row = {
			c->time_cyc[i], c->clock, c->cu, index / BANK_COUNTERS, i, {0}};

		row.value[index % BANK_COUNTERS] = c->value[i];
		if (!VEC_PUSH(&p->rows, row))
			return false;
	}
	return true;
}

/* Joins the up to four series of a bank into one sequence of rows. */
static void join_banks(struct perf *p)
{
	size_t n = 0;

	if (!p->rows.n)
		return;
	SORT(p->rows.v, p->rows.n, compare_banks);
	for (size_t i = 1; i < p->rows.n; i++) {
		struct perf_row *to = &p->rows.v[n], *from = &p->rows.v[i];

		if (compare_banks(to, from) != 0) {
			p->rows.v[++n] = *from;
			continue;
		}
		for (unsigned k = 0; k < BANK_COUNTERS; k++)
			to->value[k] += from->value[k];
	}
	p->rows.n = n + 1;
	SORT(p->rows.v, p->rows.n, compare_times);
}

static bool gather_perf(const struct trace *t, struct perf *p)
{
	EACH (const struct counter_series, c, t->counters, t->n_counters) {
		uint32_t index = is_spm(c) ? NO_INDEX : index_of(t, c);

		if (is_spm(c))
			continue;
		if (index >= MAX_INDEX || c->clock >= t->n_clocks || c->unit)
			p->n_strange += c->n;
		else if (!add_series(p, c, index))
			return false;
	}
	join_banks(p);
	return true;
}

static bool write_perf(
	struct ui_writer *u, const struct perf_row *v, size_t n, struct incore_error *e)
{
	struct json_writer *w = &u->w;
	char name[40];

	snprintf(name, sizeof(name), "se%u_perfcounter.json", u->x->trace->clocks[v->clock].id);
	if (!ui_file_open(u, name, e))
		return false;
	json_w_object(w);
	json_w_kv_array(w, "data");
	for (size_t i = 0; i < n; i++) {
		int64_t row[] = {(int64_t)v[i].time_cyc, (int64_t)v[i].value[0],
			(int64_t)v[i].value[1], (int64_t)v[i].value[2], (int64_t)v[i].value[3],
			v[i].cu, v[i].bank};

		ui_put_row(w, row, 7);
	}
	json_w_end(w);
	json_w_end(w);
	return ui_file_close(u, e);
}

static bool write_all_perf(struct ui_writer *u, struct incore_error *e)
{
	struct perf p = {.n_strange = 0};
	bool ok = gather_perf(u->x->trace, &p) || err_nomem(e);

	for (size_t i = 0, n; ok && i < p.rows.n; i += n) {
		for (n = 1; i + n < p.rows.n && p.rows.v[i + n].clock == p.rows.v[i].clock;)
			n++;
		ok = write_perf(u, &p.rows.v[i], n, e);
	}
	VEC_FREE(&p.rows);
	return ok && export_cut(u->x, "counter samples", "they are of no streamed SQ counter",
			     p.n_strange, e);
}

/* --- spm.json --- */

/* Sorts series by counter, in the order of reading, then by group and instance. */
static int compare_series(const void *pa, const void *pb)
{
	const struct counter_series *const *a = pa, *const *b = pb;
	int order = strcmp((*a)->name, (*b)->name);

	if (order || (*a)->clock == (*b)->clock)
		return order ? order : ui_cmp_key((*a)->cu, (*b)->cu);
	return (*a)->clock < (*b)->clock ? -1 : 1;
}

static void put_series(struct json_writer *w, const struct counter_series *c)
{
	uint64_t prev = 0;

	ui_put_key(w, "", c->cu);
	json_w_array(w);
	for (uint32_t i = 0; i < c->n; i++) {
		int64_t row[] = {(int64_t)(c->time_cyc[i] - prev), (int64_t)c->value[i]};

		prev = c->time_cyc[i];
		ui_put_row(w, row, 2);
	}
	json_w_end(w);
}

static void put_spm(struct ui_writer *u, const struct counter_series *const *v, size_t n)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	for (size_t i = 0, last; i < n; i = last) {
		bool is_xcc = v[i]->clock >= t->n_clocks;

		json_w_kv_object(w, v[i]->name + sizeof(SPM_PREFIX) - 1);
		json_w_kv_array(w, "dimensions");
		json_w_cstr(w, is_xcc ? "XCC" : "SE");
		json_w_cstr(w, "INSTANCE");
		json_w_end(w);
		json_w_kv_object(w, "values");
		for (last = i; last < n && strcmp(v[last]->name, v[i]->name) == 0; last++) {
			bool is_new = last == i || v[last]->clock != v[last - 1]->clock;

			if (is_new && last > i)
				json_w_end(w);
			if (is_new) {
				ui_put_key(w, "", is_xcc ? 0 : t->clocks[v[last]->clock].id);
				json_w_object(w);
			}
			put_series(w, v[last]);
		}
		json_w_end(w);
		json_w_end(w);
		json_w_end(w);
	}
}

static bool write_spm(struct ui_writer *u, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	const struct counter_series **v = mem_zalloc((size_t)t->n_counters + 1, sizeof(*v));
	bool ok = true;
	size_t n = 0;

	if (!v)
		return err_nomem(e);
	for (uint32_t i = 0; i < t->n_counters; i++)
		if (is_spm(&t->counters[i]))
			v[n++] = &t->counters[i];
	SORT(v, n, compare_series);
	if (n)
		ok = ui_file_open(u, "spm.json", e);
	if (ok && n) {
		json_w_object(&u->w);
		put_spm(u, v, n);
		json_w_end(&u->w);
		ok = ui_file_close(u, e);
	}
	mem_free(v);
	return ok;
}

/* --- shaderdata_<SE>_0.json, other_simd_se<SE>_0.json --- */

static bool write_markers(struct ui_writer *u, clock_idx clock, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	struct ui_side_file file = {.se = t->clocks[clock].id, .begin_cyc = UINT64_MAX};
	struct json_writer *w = &u->w;
	uint64_t n = 0;
	char name[40];

	for (uint32_t i = 0; i < t->n_markers; i++)
		n += t->markers[i].clock == clock;
	if (!n)
		return true;
	snprintf(name, sizeof(name), "shaderdata_%u_0.json", file.se);
	if (!ui_file_open(u, name, e))
		return false;
	json_w_object(w);
	json_w_kv_array(w, "records");
	EACH (const struct marker, m, t->markers, t->n_markers) {
		int64_t row[] = {
			(int64_t)m->time_cyc, (int64_t)m->value, m->cu, m->simd, m->slot, m->flags};

		if (m->clock != clock)
			continue;
		ui_put_row(w, row, 6);
		file.begin_cyc = m->time_cyc < file.begin_cyc ? m->time_cyc : file.begin_cyc;
		file.end_cyc = m->time_cyc > file.end_cyc ? m->time_cyc : file.end_cyc;
	}
	json_w_end(w);
	json_w_kv_u64(w, "records_count", n);
	json_w_end(w);
	return ui_file_close(u, e) && (VEC_PUSH(&u->markers, file) || err_nomem(e));
}

static uint64_t span_of_issues(const struct trace *t, clock_idx clock, struct ui_side_file *file)
{
	uint64_t n = 0;

	EACH (const struct other_issue, o, t->other_issues, t->n_other_issues) {
		uint64_t end = o->time_cyc + o->dur_cyc;

		if (o->clock != clock)
			continue;
		n++;
		file->begin_cyc = o->time_cyc < file->begin_cyc ? o->time_cyc : file->begin_cyc;
		file->end_cyc = end > file->end_cyc ? end : file->end_cyc;
	}
	return n;
}

static bool write_issues(struct ui_writer *u, clock_idx clock, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	struct ui_side_file file = {.se = t->clocks[clock].id, .begin_cyc = UINT64_MAX};
	uint64_t n = span_of_issues(t, clock, &file);
	struct json_writer *w = &u->w;
	char name[40];

	if (!n)
		return true;
	snprintf(name, sizeof(name), "other_simd_se%u_0.json", file.se);
	if (!ui_file_open(u, name, e))
		return false;
	json_w_object(w);
	json_w_kv_u64(w, "begin_time", file.begin_cyc);
	json_w_kv_u64(w, "end_time", file.end_cyc);
	json_w_kv_array(w, "instructions");
	EACH (const struct other_issue, o, t->other_issues, t->n_other_issues) {
		int64_t row[] = {(int64_t)o->time_cyc, o->dur_cyc, o->category};

		if (o->clock == clock)
			ui_put_row(w, row, 3);
	}
	json_w_end(w);
	json_w_kv_u64(w, "instructions_count", n);
	json_w_kv_array(w, "instructions_schema");
	json_w_cstr(w, "time");
	json_w_cstr(w, "duration");
	json_w_cstr(w, "category");
	json_w_end(w);
	json_w_kv_cstr(w, "type", "OTHER_SIMD_INSTRUCTIONS");
	json_w_kv_i64(w, "wgp", t->meta.target_cu == NO_VALUE ? 0 : t->meta.target_cu);
	json_w_end(w);
	return ui_file_close(u, e) && (VEC_PUSH(&u->issues, file) || err_nomem(e));
}

bool ui_write_counters(struct ui_writer *u, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	clock_idx *order = ui_clocks_by_key(t);
	bool ok = order ? write_all_perf(u, e) && write_spm(u, e) : err_nomem(e);

	for (clock_idx i = 0; ok && i < t->n_clocks; i++)
		ok = (!t->n_markers || write_markers(u, order[i], e)) &&
		     (!t->n_other_issues || write_issues(u, order[i], e));
	mem_free(order);
	return ok;
}
