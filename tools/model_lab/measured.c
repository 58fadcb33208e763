/* SPDX-License-Identifier: Apache-2.0 */
/* measured.c: matches op streams with measurements of them. */
#include "model_lab/measured.h"

#include "analysis/pipes/pipes.h"
#include "base/file.h"
#include "isa/ascend.h"
#include "trace/kind.h"

void measured_deinit(struct measured *m)
{
	for (size_t i = 0; i < m->files.n; i++) {
		opstream_set_deinit(&m->files.v[i]->set);
		mem_free(m->files.v[i]->name);
		mem_free(m->files.v[i]);
	}
	VEC_FREE(&m->files);
	VEC_FREE(&m->tasks);
}

/* --- op streams --- */

static bool add_file(struct measured *m, const char *path, struct str name, struct incore_error *e)
{
	struct measured_file *f = mem_zalloc(1, sizeof(*f));

	if (!f || !VEC_PUSH(&m->files, f)) {
		mem_free(f);
		return err_nomem(e);
	}
	opstream_set_init(&f->set);
	f->name = mem_strndup(name.p, name.n);
	return f->name ? opstream_load(&f->set, path, e) : err_nomem(e);
}

struct stream_folder {
	struct measured *m;
	const char *dir;
};

static bool add_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct stream_folder *l = ctx;
	struct str s = str_of(name);
	char *path;
	bool ok;

	if (str_ends(s, ".opstream"))
		s.n -= strlen(".opstream");
	else if (str_ends(s, ".jsonl"))
		s.n -= strlen(".jsonl");
	else
		return true;
	path = path_join(l->dir, name);
	if (!path)
		return err_nomem(e);
	ok = add_file(l->m, path, s, e);
	mem_free(path);
	return ok;
}

static bool load_streams(struct measured *m, const char *path, struct incore_error *e)
{
	struct stream_folder l = {m, path};

	if (!file_is_dir(path))
		return add_file(m, path, str_of(path_base(path)), e);
	if (!dir_each(path, add_entry, &l, e))
		return false;
	return m->files.n || err_file(e, "no-opstream", path, INCORE_NO_OFFSET,
				     "expected files .opstream or .jsonl, found none");
}

/* "task-7" or "task-0x7". */
static bool is_named(const char *name, const char *kind, uint64_t id)
{
	char a[48], b[48];

	snprintf(a, sizeof(a), "%s-%llu", kind, (unsigned long long)id);
	snprintf(b, sizeof(b), "%s-0x%llx", kind, (unsigned long long)id);
	return strcmp(name, a) == 0 || strcmp(name, b) == 0;
}

static const struct opstream *stream_of(const struct opstream_set *set, enum opstream_core core)
{
	for (size_t i = 0; i < set->v.n; i++)
		if (set->v.v[i].core == core)
			return &set->v.v[i];
	return NULL;
}

/* The stream of the task itself, else of its function, else of the only file. */
static const struct opstream *find_stream(const struct measured *m, const struct pmu_row *r)
{
	for (size_t i = 0; i < m->files.n; i++)
		if (is_named(m->files.v[i]->name, "task", r->task_id))
			return stream_of(&m->files.v[i]->set, r->core);
	for (size_t i = 0; i < m->files.n; i++)
		if (is_named(m->files.v[i]->name, "func", r->func_id))
			return stream_of(&m->files.v[i]->set, r->core);
	return m->files.n == 1 ? stream_of(&m->files.v[0]->set, r->core) : NULL;
}

/* --- counters --- */

static bool add_counters(struct measured *m, const char *path, struct incore_error *e)
{
	struct pmu_rows rows = {0};
	bool ok = pmu_read(&rows, path, e);

	for (size_t i = 0; ok && i < rows.v.n; i++) {
		const struct pmu_row *r = &rows.v.v[i];
		struct calib_task t = {.id = r->task_id, .stream = find_stream(m, r)};

		if (!t.stream) {
			m->n_skipped++;
			continue;
		}
		memcpy(t.busy, r->busy, sizeof(t.busy));
		memcpy(t.has, r->has, sizeof(t.has));
		ok = VEC_PUSH(&m->tasks, t) || err_nomem(e);
	}
	pmu_deinit(&rows);
	return ok;
}

/* --- traces --- */

enum op_pipe measured_pipe(const char *lane)
{
	static const struct {
		const char *lane;
		enum op_pipe pipe;
	} lanes[] = {{"SCALAR", OPP_S}, {"VECTOR", OPP_V}, {"MTE1", OPP_MTE1}, {"MTE2", OPP_MTE2},
		{"MTE3", OPP_MTE3}, {"CUBE", OPP_M}, {"FIXP", OPP_FIX}};

	for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++)
		if (strcmp(lane, lanes[i].lane) == 0)
			return lanes[i].pipe;
	return OPP_NONE;
}

/* The stream for a block and unit (0 cube, 1 and 2 vector) of a trace. */
static const struct opstream *stream_at(const struct measured *m, uint32_t block, uint32_t unit)
{
	for (size_t i = 0; i < m->files.n; i++)
		EACH (const struct opstream, s, m->files.v[i]->set.v.v, m->files.v[i]->set.v.n) {
			uint32_t its = s->core == CORE_AIC ? 0 : 1 + s->lane;

			if (s->block_idx == block && its == unit)
				return s;
		}
	return NULL;
}

/* Detects exports cut short: matrix products without the copy of their result, or vice versa. */
static bool check_whole(const struct pipes *p, const char *path, struct incore_error *e)
{
	const struct trace *t = p->trace;
	uint64_t mads = 0, copies = 0;

	for (code_idx i = 0; i < t->n_code; i++) {
		struct str name = str_of(t->opcodes[t->code[i].opcode]);

		if (str_starts(name, "MMAD"))
			mads += p->row_totals[i].hit;
		else if (str_starts(name, "FIX_L0C_TO_DST"))
			copies += p->row_totals[i].hit;
	}
	if (mads && (!copies || mads % copies))
		return err_file(e, "truncated", path, INCORE_NO_OFFSET,
			"%llu MMAD and %llu FIX_L0C_TO_DST: not whole tile loops, the export is cut",
			(unsigned long long)mads, (unsigned long long)copies);
	return true;
}

static bool add_core(struct measured *m, const struct pipes *p, const struct pipe_core *k,
	struct incore_error *e)
{
	const struct track *first = &p->trace->tracks[k->first];
	struct calib_task t = {.id = (uint64_t)first->coord[0] * 4 + first->coord[1],
		.stream = stream_at(m, first->coord[0], first->coord[1])};

	if (!t.stream) {
		m->n_skipped++;
		return true;
	}
	for (track_idx i = k->first; i < k->first + k->n; i++) {
		enum op_pipe pipe = measured_pipe(pipe_lane_name(&p->trace->tracks[i]));

		if (pipe == OPP_NONE)
			continue;
		t.busy[pipe] = p->rows[i].busy_cyc;
		t.has[pipe] = true;
	}
	return VEC_PUSH(&m->tasks, t) || err_nomem(e);
}

static bool add_trace(const struct request *r, struct answer *a, struct measured *m,
	struct calib_options *o, struct incore_error *e)
{
	const char *path = o->source;
	struct walk_options w = request_walk(r, NULL);
	struct walk_result result = {0};
	struct pipes *p;
	struct trace *t;
	bool ok;

	if (!answer_open(a, r, path, IMPORT_ALL, &t, e))
		return false;
	if (trace_kind(t) != KIND_PIPES)
		return err_set(
			e, INCORE_BAD_INPUT, "no-pipes", "%s: its tracks are not pipes", path);
	if (t->meta.evidence == EVIDENCE_ESTIMATE)
		return err_set(e, INCORE_BAD_INPUT, "estimate",
			"%s: an estimate is not a measurement", path);
	p = pipes_new(t, e);
	ok = p && pipes_collect(p, &w, &result, e) && check_whole(p, path, e);
	for (uint32_t i = 0; ok && i < p->n_cores; i++)
		ok = add_core(m, p, &p->cores[i], e);
	if (ok && t->meta.evidence != EVIDENCE_VENDOR_SIMULATOR)
		o->status = STATUS_DEVICE;
	walk_result_deinit(&result);
	pipes_free(p);
	return ok;
}

/* --- tables of instructions --- */

/* Latencies add up to busy cycles only if one instruction runs at a time. */
static bool add_table(struct measured *m, const struct named_table *k, struct incore_error *e)
{
	for (uint32_t i = 0; i < k->n_rows; i++) {
		const char *core = named_table_cell(k, i, "Core");
		const char *lane = named_table_cell(k, i, "pipe");
		const char *cycles = named_table_cell(k, i, "cycles");
		enum op_pipe pipe = lane ? measured_pipe(lane) : OPP_NONE;
		struct ascend_unit u;
		struct calib_task *t = NULL;
		int64_t e4;

		if ((pipe != OPP_M && pipe != OPP_FIX) || !core || !cycles ||
			!ascend_unit_of(str_of(core), &u) || !prof_number(str_of(cycles), &e4) ||
			e4 < 0)
			continue;
		for (size_t n = 0; n < m->tasks.n; n++)
			if (m->tasks.v[n].id == (uint64_t)u.core * 4 + u.unit)
				t = &m->tasks.v[n];
		if (!t) {
			struct calib_task new = {.id = (uint64_t)u.core * 4 + u.unit,
				.stream = stream_at(m, u.core, u.unit)};

			if (!new.stream) {
				m->n_skipped++;
				continue;
			}
			if (!VEC_PUSH(&m->tasks, new))
				return err_nomem(e);
			t = &m->tasks.v[m->tasks.n - 1];
		}
		t->busy[pipe] += (uint64_t)e4 / PROF_ONE;
		t->has[pipe] = true;
	}
	return true;
}

static bool add_instructions(const struct request *r, struct answer *a, struct measured *m,
	const char *path, struct incore_error *e)
{
	const struct named_table *k;
	struct trace *t;

	if (!answer_open(a, r, path, IMPORT_ALL, &t, e))
		return false;
	k = trace_find_table(t, ASCEND_TABLE_INSTR_CSV);
	if (!k)
		return err_file(e, "no-table", path, INCORE_NO_OFFSET,
			"no table of instructions (instr_exe) is in it");
	return add_table(m, k, e);
}

bool measured_load(const struct request *r, struct answer *a, struct measured *m,
	struct calib_options *o, struct incore_error *e)
{
	const struct calibrate_params *p = r->params;
	bool ok;

	o->source = p->pmu ? p->pmu : p->trace ? p->trace : p->instr_csv;
	o->status = p->pmu ? STATUS_DEVICE : STATUS_CAMODEL;
	if (!load_streams(m, p->ops, e))
		return false;
	ok = p->pmu	? add_counters(m, p->pmu, e)
	     : p->trace ? add_trace(r, a, m, o, e)
			: add_instructions(r, a, m, o->source, e);
	if (ok && !m->tasks.n)
		ok = err_set(e, INCORE_BAD_INPUT, "no-task",
			"no op stream in %s belongs to what %s measures (task-ID, func-ID, or block and core)",
			p->ops, o->source);
	return ok;
}
