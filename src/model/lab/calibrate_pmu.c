/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_pmu.c: the counters of a run, one row per task. */
#include "base/file.h"
#include "codec/csv.h"
#include "model/lab/calibrate.h"

struct columns {
	int task, func, core, type, total;
	int busy[ENGINE_PIPES];
};

/* Busy counters are recognised by parts of their name: "pmu_vec_busy_cycles",
 * "pmu_fix_instr_busy". */
static int find_busy(const struct csv_reader *c, const char *word)
{
	for (size_t i = 0; i < c->header.n; i++)
		if (str_has(c->header.v[i], word) && str_has(c->header.v[i], "busy"))
			return (int)i;
	return -1;
}

static bool find_columns(struct csv_reader *c, struct columns *k, struct incore_error *e)
{
	static const struct {
		enum op_pipe pipe;
		const char *word;
	} words[] = {{OPP_S, "scalar"}, {OPP_V, "vec"}, {OPP_MTE1, "mte1"}, {OPP_MTE2, "mte2"},
		{OPP_MTE3, "mte3"}, {OPP_M, "cube"}, {OPP_FIX, "fix"}};
	bool any = false;

	*k = (struct columns){csv_column(c, "task_id"), csv_column(c, "func_id"),
		csv_column(c, "core_id"), csv_column(c, "core_type"),
		csv_column(c, "pmu_total_cycles"), {-1, -1, -1, -1, -1, -1, -1, -1}};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		k->busy[words[i].pipe] = find_busy(c, words[i].word);
		any = any || k->busy[words[i].pipe] >= 0;
	}
	if (k->task < 0 || k->func < 0 || k->type < 0 || k->total < 0 || !any)
		return err_file(e, "bad-pmu", c->path, 0,
			"expected columns task_id, func_id, core_type, pmu_total_cycles and busy counters of pipes (vec, cube, scalar, mte1, mte2, mte3, fix)");
	return true;
}

static bool bad_field(const struct csv_reader *c, const char *name, struct incore_error *e)
{
	err_file(e, "bad-pmu", c->path, INCORE_NO_OFFSET, "%s is not a number", name);
	if (e)
		e->line = c->line;
	return false;
}

static bool read_row(const struct csv_reader *c, const struct columns *k, struct pmu_row *r,
	struct incore_error *e)
{
	uint64_t type = 0;

	*r = (struct pmu_row){.line = c->line};
	if (!str_to_u64(csv_field(c, k->task), &r->task_id))
		return bad_field(c, "task_id", e);
	if (!str_to_u64(csv_field(c, k->func), &r->func_id))
		return bad_field(c, "func_id", e);
	if (!str_to_u64(csv_field(c, k->type), &type) || type > 1)
		return bad_field(c, "core_type (0 AIC, 1 AIV)", e);
	if (!str_to_u64(csv_field(c, k->total), &r->total_cyc))
		return bad_field(c, "pmu_total_cycles", e);
	if (k->core >= 0 && !str_to_u64(csv_field(c, k->core), &r->core_id))
		return bad_field(c, "core_id", e);
	r->core = type ? CORE_AIV : CORE_AIC;
	for (unsigned i = 0; i < ENGINE_PIPES; i++) {
		if (k->busy[i] < 0)
			continue;
		if (!str_to_u64(csv_field(c, k->busy[i]), &r->busy[i]))
			return bad_field(c, "a busy counter", e);
		r->has[i] = true;
	}
	return true;
}

static bool read_rows(struct pmu_rows *out, struct csv_reader *c, struct incore_error *e)
{
	struct columns k;
	bool at_end = false, any = false;

	if (!csv_header(c, e) || !find_columns(c, &k, e))
		return false;
	while (csv_row(c, &at_end, e)) {
		struct pmu_row r;

		if (!read_row(c, &k, &r, e))
			return false;
		for (unsigned i = 0; i < ENGINE_PIPES; i++)
			any = any || r.busy[i];
		if (!VEC_PUSH(&out->v, r))
			return err_nomem(e);
	}
	if (!at_end)
		return false;
	if (out->v.n == 0)
		return err_file(e, "bad-pmu", c->path, INCORE_NO_OFFSET, "no rows");
	if (!any)
		return err_file(e, "bad-pmu", c->path, INCORE_NO_OFFSET,
			"all counters are zero: a simulator's run, not a device's");
	return true;
}

bool pmu_read(struct pmu_rows *out, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	struct csv_reader c;
	bool ok;

	*out = (struct pmu_rows){0};
	if (!file_load(&f, path, e))
		return false;
	csv_init(&c, f.data, f.size, path);
	ok = read_rows(out, &c, e);
	csv_deinit(&c);
	file_unload(&f);
	if (!ok)
		pmu_deinit(out);
	return ok;
}

void pmu_deinit(struct pmu_rows *r)
{
	VEC_FREE(&r->v);
}
