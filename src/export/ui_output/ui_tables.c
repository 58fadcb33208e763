/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ui_tables.c: the files of a ui_output directory that are made from the tables of a trace: code,
 * counters, sources. Parts: counters and markers; sources; code.
 */
#include "base/search.h"
#include "export/ui_output/writer.h"

/* --- counters and markers --------------------------------------------------------------------- */

/*
 * The files that are neither waves nor code: streamed counters (se<SE>_perfcounter.json and
 * spm.json), markers (shaderdata_<SE>_0.json), issues on SIMDs without detail
 * (other_simd_se<SE>_0.json). One file of each kind per shader engine.
 */

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

struct ui_counters_perf {
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

static bool add_series(struct ui_counters_perf *p, const struct counter_series *c, uint32_t index)
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
static void join_banks(struct ui_counters_perf *p)
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

static bool gather_perf(const struct trace *t, struct ui_counters_perf *p)
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
	struct ui_counters_perf p = {.n_strange = 0};
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

static void ui_counters_put_series(struct json_writer *w, const struct counter_series *c)
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
			ui_counters_put_series(w, v[last]);
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

/* --- sources ---------------------------------------------------------------------------------- */

/*
 * Copies of source files and the path of each: snapshots.json (an object nested by path component,
 * root key "/") and source_<i>_<name>. The producer's names for copies are kept where they are
 * plain; a path that cannot be nested is left out and counted.
 */

#define MAX_PARTS 48u /* most components of a path; the JSON writer's depth is limited */
#define MAX_NAME 200u

struct ui_sources_snapshot {
	const struct source_file *source;
	char name[MAX_NAME + 40]; /* file name of the copy */
};

/* The next component of a path; the first one of an absolute path is "/". */
static struct str ui_sources_next_part(const char **p)
{
	const char *start = *p;

	if (*start == '/') {
		*p = start + 1;
		return (struct str){"/", 1};
	}
	while (**p && **p != '/')
		(*p)++;
	if (**p == '/')
		(*p)++;
	return (struct str){start, (size_t)(*p - start) - (*p > start && (*p)[-1] == '/')};
}

/* Can the path be nested: no empty components, not too deep? */
static bool can_nest(const char *path)
{
	unsigned parts = 0;
	size_t n = strlen(path);

	if (!n || strstr(path, "//") || path[n - 1] == '/')
		return false;
	for (const char *p = path; *p; parts++)
		ui_sources_next_part(&p);
	return parts <= MAX_PARTS;
}

static bool is_copy_name(const char *s)
{
	return s && strncmp(s, "source_", 7) == 0 && strlen(s) <= MAX_NAME && !strchr(s, '/');
}

static const char *ui_sources_base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Compares by component, so that files of one folder are adjacent. */
static int compare_paths(const void *pa, const void *pb)
{
	const struct ui_sources_snapshot *a = pa, *b = pb;
	const char *p = a->source->path, *q = b->source->path;

	while (*p && *q) {
		int order = str_cmp(ui_sources_next_part(&p), ui_sources_next_part(&q));

		if (order)
			return order;
	}
	return *q ? -1 : *p ? 1 : 0;
}

struct nest { /* folders whose JSON objects are open */
	struct str open[MAX_PARTS];
	unsigned n_open;
};

static void put_leaf(struct json_writer *w, struct nest *n, const struct ui_sources_snapshot *s)
{
	struct str parts[MAX_PARTS];
	const char *p = s->source->path;
	unsigned n_parts = 0, same = 0;

	do /* paths are not empty: see can_nest() */
		parts[n_parts++] = ui_sources_next_part(&p);
	while (*p && n_parts < MAX_PARTS);
	while (same < n->n_open && same + 1 < n_parts && str_eq(n->open[same], parts[same]))
		same++;
	for (; n->n_open > same; n->n_open--)
		json_w_end(w);
	for (; n->n_open + 1 < n_parts; n->n_open++) {
		n->open[n->n_open] = parts[n->n_open];
		json_w_key_str(w, parts[n->n_open]);
		json_w_object(w);
	}
	json_w_key_str(w, parts[n_parts - 1]);
	json_w_cstr(w, s->name);
}

/* Is a path equal to, or a folder of, the next one? It would make a duplicate key. */
static bool is_folder_of(const struct ui_sources_snapshot *a, const struct ui_sources_snapshot *b)
{
	const char *p = a->source->path, *q = b->source->path;

	while (*p && *q)
		if (!str_eq(ui_sources_next_part(&p), ui_sources_next_part(&q)))
			return false;
	return !*p;
}

static bool write_copy(
	struct ui_writer *u, const struct ui_sources_snapshot *s, struct incore_error *e)
{
	FILE *f = out_dir_file(&u->dir, s->name, e);

	if (!f)
		return false;
	if (s->source->text_len)
		fwrite(s->source->text, 1, s->source->text_len, f); /* see out_dir_done() */
	return out_dir_done(&u->dir, f, s->name, e);
}

static bool write_tree(
	struct ui_writer *u, const struct ui_sources_snapshot *v, size_t n, struct incore_error *e)
{
	struct json_writer *w = &u->w;
	struct nest nest = {.n_open = 0};

	if (!ui_file_open(u, "snapshots.json", e))
		return false;
	json_w_object(w);
	for (size_t i = 0; i < n; i++)
		put_leaf(w, &nest, &v[i]);
	for (; nest.n_open > 0; nest.n_open--)
		json_w_end(w);
	json_w_end(w);
	return ui_file_close(u, e);
}

/* Gives the copies unique names: the producer's if it is usable. */
static bool name_copies(struct ui_sources_snapshot *v, size_t n)
{
	struct intern names;
	bool ok = true;

	intern_init(&names);
	for (size_t i = 0; ok && i < n; i++) {
		const char *given = v[i].source->snapshot;
		uint32_t before = names.n;

		if (!is_copy_name(given))
			continue;
		ok = intern_add(&names, str_of(given)) != INTERN_NONE;
		if (names.n > before)
			snprintf(v[i].name, sizeof(v[i].name), "%s", given);
	}
	for (size_t i = 0, number = 0; ok && i < n; i += v[i].name[0] != '\0') {
		uint32_t before = names.n;

		if (v[i].name[0])
			continue;
		snprintf(v[i].name, sizeof(v[i].name), "source_%zu_%.*s", number++, (int)MAX_NAME,
			ui_sources_base_of(v[i].source->path));
		ok = intern_add(&names, str_of(v[i].name)) != INTERN_NONE;
		if (names.n == before)
			v[i].name[0] = '\0'; /* in use: try again with the next number */
	}
	intern_deinit(&names);
	return ok;
}

static struct ui_sources_snapshot *ui_sources_gather(
	const struct trace *t, size_t *n, uint64_t *n_left_out)
{
	struct ui_sources_snapshot *v = mem_zalloc((size_t)t->n_sources + 1, sizeof(*v));
	size_t found = 0, kept = 0;

	if (!v)
		return NULL;
	for (source_idx i = 0; i < t->n_sources; i++) {
		if (!t->sources[i].text)
			continue;
		if (can_nest(t->sources[i].path))
			v[found++].source = &t->sources[i];
		else
			++*n_left_out;
	}
	SORT(v, found, compare_paths);
	for (size_t i = 0; i < found; i++) {
		if (i + 1 < found && is_folder_of(&v[i], &v[i + 1]))
			++*n_left_out;
		else
			v[kept++] = v[i];
	}
	*n = kept;
	return v;
}

bool ui_write_sources(struct ui_writer *u, struct incore_error *e)
{
	uint64_t n_left_out = 0;
	size_t n = 0;
	struct ui_sources_snapshot *v = ui_sources_gather(u->x->trace, &n, &n_left_out);
	bool ok = v && name_copies(v, n);

	if (!ok)
		err_nomem(e);
	for (size_t i = 0; ok && i < n; i++)
		ok = write_copy(u, &v[i], e);
	if (ok && n)
		ok = write_tree(u, v, n, e);
	mem_free(v);
	return ok && export_cut(u->x, "source files", "their paths cannot be nested by folder",
			     n_left_out, e);
}

/* --- code ------------------------------------------------------------------------------------- */

/*
 * The disassembly with totals, code.json. Rows, their order and their numbers are those of the
 * trace; the totals are those of the waves in this directory.
 */

static const char *const columns[] = {"ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr", "Hit",
	"Latency", "Stall", "Idle", "PC_Issued", "PC_Stalled", "Stall_Reasons"};
#define N_PLAIN 10u
#define N_SAMPLED 13u

/* Writes the producer's own text of the source position, or else the frames of the row. */
static bool ui_code_put_source(struct ui_writer *u, const struct code_row *row, struct strbuf *text)
{
	const struct trace *t = u->x->trace;

	if (row->source[0] || !row->n_frames) {
		json_w_cstr(&u->w, row->source);
		return true;
	}
	sb_reset(text);
	for (uint32_t i = 0; i < row->n_frames; i++)
		if ((i && !sb_puts(text, " -> ")) ||
			!trace_put_frame(t, &t->frames[row->first_frame + i], text))
			return false;
	json_w_str(&u->w, (struct str){text->p, text->n});
	return true;
}

/* Are the reasons AMD's? The format has fixed positions for these and stores no names. */
static bool has_places(const struct trace *t)
{
	return trace_has_amd_reasons(t);
}

static void ui_code_put_samples(struct json_writer *w, const struct trace *t, code_idx i)
{
	json_w_u64(w, t->samples[i].issued);
	json_w_u64(w, t->samples[i].stalled);
	json_w_array(w);
	for (unsigned k = 0; k < AMD_STALL_REASONS; k++)
		json_w_u64(w, has_places(t) ? trace_reasons_of(t, i)[k].all : 0);
	json_w_end(w);
}

static bool ui_code_put_row(struct ui_writer *u, code_idx i, struct strbuf *text)
{
	const struct trace *t = u->x->trace;
	const struct code_row *row = &t->code[i];
	const struct code_totals *sum = &u->totals[i];
	struct json_writer *w = &u->w;

	json_w_array(w);
	json_w_str(w, (struct str){row->text, row->text_len});
	json_w_u64(w, 0);
	json_w_i64(w, row->number);
	if (!ui_code_put_source(u, row, text))
		return false;
	json_w_u64(w, row->code_object);
	json_w_u64(w, row->address);
	json_w_u64(w, sum->hit);
	json_w_u64(w, sum->latency);
	json_w_u64(w, sum->stall);
	json_w_u64(w, sum->idle);
	if (t->samples)
		ui_code_put_samples(w, t, i);
	json_w_end(w);
	return true;
}

/* Writes the header: one string of names, or a list if there are samples, as the producer does. */
static bool ui_code_put_header(struct ui_writer *u, struct strbuf *text)
{
	struct json_writer *w = &u->w;

	json_w_key(w, "header");
	if (u->x->trace->samples) {
		json_w_array(w);
		for (unsigned i = 0; i < N_SAMPLED; i++)
			json_w_cstr(w, columns[i]);
		json_w_end(w);
		return true;
	}
	sb_reset(text);
	for (unsigned i = 0; i < N_PLAIN; i++)
		sb_printf(text, "%s%s", i ? ", " : "", columns[i]);
	json_w_str(w, (struct str){text->p, text->n});
	return !text->failed;
}

static bool ui_code_put_code(struct ui_writer *u, struct strbuf *text)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	json_w_object(w);
	json_w_key(w, "code");
	if (!t->n_code) {
		json_w_null(w);
	} else {
		json_w_array(w);
		for (code_idx i = 0; i < t->n_code; i++)
			if (!ui_code_put_row(u, i, text))
				return false;
		json_w_end(w);
	}
	if (!ui_code_put_header(u, text))
		return false;
	json_w_kv_cstr(w, "version", UI_VERSION);
	json_w_end(w);
	return true;
}

bool ui_write_code(struct ui_writer *u, struct incore_error *e)
{
	struct strbuf text = {0};
	bool ok = ui_file_open(u, "code.json", e);

	if (ok && !ui_code_put_code(u, &text))
		ok = err_nomem(e);
	sb_free(&text);
	return ok && ui_file_close(u, e);
}
