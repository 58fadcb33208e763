/* SPDX-License-Identifier: Apache-2.0 */
/* diff_runs.c: what changed between two runs of many kernels, kernel by kernel? */
#include "answer/diff_runs.h"

#include <math.h>
#include <stdlib.h>

#include "answer/captures.h"
#include "base/search.h"
#include "import/ascend/opprof.h"
#include "import/capture_cache.h"

/* --- columns ---------------------------------------------------------------------------------- */

static const struct column run_row_columns[] = {
	COLUMN(diff_run_row, func, UNIT_NONE, "name of the kernel"),
	COLUMN(diff_run_row, state, UNIT_NONE, "in which of the runs the kernel is",
		.words = "both|new|gone|unreadable"),
	COLUMN(diff_run_row, by, UNIT_NONE,
		"what can be compared: the whole run, instructions alone because control values differ, or nothing because the code does",
		.title = "compared by", .words = "run|instruction|nothing"),
	COLUMN(diff_run_row, cycles_a, UNIT_CYCLES, "cycles of the longest core in A", .title = "A",
		NULLABLE),
	COLUMN(diff_run_row, cycles_b, UNIT_CYCLES, "cycles of the longest core in B", .title = "B",
		NULLABLE),
	COLUMN(diff_run_row, change, UNIT_CYCLES,
		"B - A; a kernel that is in one run alone changes by all of its cycles"),
	COLUMN(diff_run_row, change_pct, UNIT_PERCENT, "change as a share of the cycles in A",
		.title = "change %", .digits = 4, .table_digits = 2),
	COLUMN(diff_run_row, share, UNIT_SHARE,
		"change of the kernel as a share of the sum of all cycles in A", .digits = 6),
	COLUMN(diff_run_row, per_hit_pct, UNIT_PERCENT,
		"change of the cycles of one execution of an instruction", .title = "cyc/hit %",
		.digits = 4, .table_digits = 2),
	COLUMN(diff_run_row, values, UNIT_NONE, "control values that differ between A and B",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(diff_run_row, where, UNIT_NONE, "instruction that changed most",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
};
const struct record diff_run_row_record = RECORD_OF(diff_run_row, RECORD_BLOCK, run_row_columns);

static const struct column runs_columns[] = {
	COLUMN(diff_runs_answer, run_a, UNIT_NONE, "folder of the run A"),
	COLUMN(diff_runs_answer, run_b, UNIT_NONE, "folder of the run B"),
	RECORD(diff_runs_answer, evidence, &diff_evidence_record, "what the figures rest on"),
	COLUMN(diff_runs_answer, kernels_a, UNIT_COUNT, "kernels that have a trace in A"),
	COLUMN(diff_runs_answer, kernels_b, UNIT_COUNT, "kernels that have a trace in B"),
	COLUMN(diff_runs_answer, cycles_a, UNIT_CYCLES, "sum of the cycles of all kernels in A"),
	COLUMN(diff_runs_answer, cycles_b, UNIT_CYCLES, "sum of the cycles of all kernels in B"),
	COLUMN(diff_runs_answer, change, UNIT_CYCLES, "B - A; the sum of the four parts below"),
	COLUMN(diff_runs_answer, of_same, UNIT_CYCLES,
		"change of the kernels that had the same control values"),
	COLUMN(diff_runs_answer, of_values, UNIT_CYCLES,
		"change of the kernels that had other control values or other code"),
	COLUMN(diff_runs_answer, of_new, UNIT_CYCLES, "cycles of the kernels that are only in B"),
	COLUMN(diff_runs_answer, of_gone, UNIT_CYCLES,
		"minus the cycles of the kernels that are only in A"),
	COLUMN(diff_runs_answer, n_total, UNIT_COUNT, "number of kernels; --top shows fewer"),
	LIST(diff_runs_answer, kernels, &diff_run_row_record,
		"the kernels of both runs, by size of the change"),
};
const struct record diff_runs_record = RECORD_OF(diff_runs_answer, RECORD_BLOCK, runs_columns);

/* --- the kernels of a run --------------------------------------------------------------------- */

struct run_kernel {
	const char *func;
	const char *path; /* of its simulator folder */
	const char *root; /* of the run */
};
typedef VEC(struct run_kernel) run_kernels;

ORDER(by_func, struct run_kernel, A_TO_Z(func) A_TO_Z(path))

/* The kernel's name: below "funcs", or else the folder above its files. */
static const char *func_of(struct arena *a, const char *root, const char *path)
{
	const char *rest = strncmp(path, root, strlen(root)) == 0 ? path + strlen(root) : path;
	const char *at = strstr(rest, "/funcs/");
	size_t n;

	at = at ? at + strlen("/funcs/") : path_base(path);
	n = strcspn(at, "/");
	return arena_strndup(a, at, n);
}

static bool list_kernels(const struct request *r, const char *path, struct arena *a,
	run_kernels *out, struct incore_error *e)
{
	struct captures *k = r->captures;
	const char **paths;
	uint32_t n;

	captures_lock(k);
	opprof_list_manifest(path, &k->cache, a, &paths, &n);
	captures_unlock(k);
	for (uint32_t i = 0; i < n; i++) {
		struct run_kernel x = {func_of(a, path, paths[i]), paths[i], path};

		if (!x.func || !VEC_PUSH(out, x))
			return err_nomem(e);
	}
	if (out->n)
		SORT(out->v, out->n, by_func);
	return true;
}

bool diff_runs_asked(const struct request *r)
{
	unsigned n_runs = 0;

	for (unsigned i = 0; i < 2 && i < r->n_paths; i++) {
		const char **paths;
		struct arena a;
		uint32_t n = 0;

		arena_init(&a);
		captures_lock(r->captures);
		opprof_list_manifest(r->paths[i], &r->captures->cache, &a, &paths, &n);
		captures_unlock(r->captures);
		n_runs += n > 1;
		arena_deinit(&a);
	}
	return n_runs == 2;
}

/* --- control values --------------------------------------------------------------------------- */

/* Reads what the kernel was given from its profile.txt; "" where nothing says so. */
static const char *workload_of(const struct request *r, struct arena *a, const struct run_kernel *k)
{
	struct import_options o = request_import(r, 0);
	char *path = arena_printf(a, "%s/funcs/%s/profile.txt", k->root, k->func);
	struct file_data f = {0};
	const char *found = "";
	struct str rest, line, key;

	o.root = k->root;
	if (!path || !file_exists_in(import_fence(&o), path) || !import_load(&o, &f, path, NULL))
		return found;
	rest = (struct str){(const char *)f.data, f.size};
	while (str_cut(&rest, "\n", &line) && str_cut(&line, "=", &key))
		if (str_is(key, "workload"))
			found = arena_strndup(a, line.p, line.n);
	file_unload(&f);
	return found ? found : "";
}

/* Cuts the next value off a workload: "row=0x0 (set)" or "count: INT32 8 (file x.bin)". */
static bool cut_value(struct str *rest, struct str *out)
{
	size_t depth = 0, i = 0;

	while (rest->n && (*rest->p == ' ' || *rest->p == ';'))
		*rest = str_sub(*rest, 1, rest->n);
	for (; i < rest->n; i++) {
		char c = rest->p[i];

		depth += c == '(';
		if (!depth && c == ';')
			break;
		if (c == ')' && depth && --depth == 0) {
			i++;
			break;
		}
	}
	*out = str_sub(*rest, 0, i);
	*rest = str_sub(*rest, i, rest->n);
	return i > 0;
}

/* Is it the value of a parameter, not a remark? */
static bool is_value(struct str v)
{
	size_t n = strcspn(v.p, "=: ;");

	return n && n < v.n && (v.p[n] == '=' || v.p[n] == ':');
}

static bool has_value(const char *workload, struct str value)
{
	struct str rest = str_of(workload), v;

	while (cut_value(&rest, &v))
		if (str_eq(v, value))
			return true;
	return false;
}

/* Appends the values of one workload that the other does not have. */
static void put_others(struct strbuf *b, const char *from, const char *other, const char *mark)
{
	struct str rest = str_of(from), v;
	bool is_first = true;

	while (cut_value(&rest, &v)) {
		if (!is_value(v) || has_value(other, v))
			continue;
		sb_printf(b, "%s%s%.*s", b->n ? (is_first ? "; " : ", ") : "", is_first ? mark : "",
			STR_ARG(v));
		is_first = false;
	}
}

/* --- one kernel ------------------------------------------------------------------------------- */

struct runs_job {
	const struct request *r;
	struct answer *a;
	struct diff_runs_answer *out;
	struct arena scratch;
	run_kernels kernels[2];
	VEC(struct diff_run_row) rows;
};

static bool read_kernel(
	struct runs_job *j, const struct run_kernel *k, struct trace **out, struct incore_error *e)
{
	struct captures *c = j->r->captures;
	struct import_options o = request_import(j->r, 0);
	struct capture_list list = {0};
	bool ok = captures_named(c, k->path, e) && captures_find(c, k->path, &list, e) && list.n;

	ok = ok && captures_read(c, &list.v[0], &o, out, e);
	capture_list_deinit(&list);
	return ok;
}

static uint64_t cycles_of(const struct trace *t)
{
	uint64_t most = 0;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		uint64_t n = t->tracks[i].end_cyc - t->tracks[i].begin_cyc;

		most = n > most ? n : most;
	}
	return most;
}

static void take_diff(struct runs_job *j, const struct diff *d, struct diff_run_row *row)
{
	for (uint32_t i = 0; i < d->n_values; i++)
		if (strcmp(d->values[i].name, "latency_per_hit") == 0 && d->values[i].is_known)
			row->per_hit_pct = d->values[i].change_pct;
	if (d->n_parts && fabs(d->parts[0].change) > 0)
		row->where = arena_strdup(&j->a->arena, d->parts[0].key);
}

/* Compares instructions; code that differs too much is a fact about the kernel, not a failure. */
static bool compare_code(struct runs_job *j, const struct trace *const t[2],
	struct diff_run_row *row, struct incore_error *e)
{
	struct diff_options o = {.by = DIFF_BY_INSTR, .min_match = 0.5, .noise_factor = 1};
	struct walk_options walk = request_walk(j->r, NULL);
	struct diff_side sides[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
	struct walk_result notes[2];
	struct diff d = {0};
	unsigned n = 0;
	bool ok = true;

	memset(notes, 0, sizeof(notes));
	for (; ok && n < 2; n++)
		ok = diff_side_open(&sides[n], t[n], &walk, &notes[n], e);
	if (ok && !diff_run(&d, &sides[0], &sides[1], &o, e)) {
		ok = e->status == INCORE_BAD_INPUT;
		row->by = "nothing";
		if (ok)
			incore_error_clear(e);
	} else if (ok) {
		take_diff(j, &d, row);
	}
	diff_deinit(&d);
	for (unsigned i = 0; i < 2; i++) {
		if (sides[i].trace)
			diff_side_close(&sides[i]);
		walk_result_deinit(&notes[i]);
	}
	return ok;
}

static bool compare_values(struct runs_job *j, const struct run_kernel *const k[2],
	struct diff_run_row *row, struct incore_error *e)
{
	const char *a = workload_of(j->r, &j->scratch, k[0]);
	const char *b = workload_of(j->r, &j->scratch, k[1]);
	struct strbuf text = {0};
	bool ok = true;

	put_others(&text, a, b, "A ");
	put_others(&text, b, a, "B ");
	if (text.n) {
		row->values = text.failed ? NULL : arena_strndup(&j->a->arena, text.p, text.n);
		row->by = "instruction";
		ok = row->values || err_nomem(e);
	}
	sb_free(&text);
	return ok;
}

/* k[0] or k[1] is NULL where the kernel is in one run alone. */
static bool add_kernel(
	struct runs_job *j, const struct run_kernel *const k[2], struct incore_error *e)
{
	struct diff_run_row row = {.func = arena_strdup(&j->a->arena, (k[0] ? k[0] : k[1])->func),
		.state = !k[0]	 ? "new"
			 : !k[1] ? "gone"
				 : "both",
		.by = k[0] && k[1] ? "run" : "nothing",
		.cycles_a = NO_U64,
		.cycles_b = NO_U64,
		.change_pct = NAN,
		.per_hit_pct = NAN};
	uint64_t *const cycles[2] = {&row.cycles_a, &row.cycles_b};
	struct trace *t[2] = {NULL, NULL};
	bool ok = row.func || err_nomem(e);

	for (unsigned i = 0; ok && i < 2; i++) {
		struct incore_error why = {0};

		if (!k[i])
			continue;
		if (read_kernel(j, k[i], &t[i], &why)) {
			*cycles[i] = cycles_of(t[i]);
			*(i ? &j->out->evidence.b : &j->out->evidence.a) =
				evidence_name(t[i]->meta.evidence);
		} else if (why.status == INCORE_BAD_INPUT) {
			row.state = "unreadable";
			row.by = "nothing";
			answer_warn(j->a, "%s: %s", k[i]->path, why.message ? why.message : "?");
		} else {
			err_move(e, &why);
			ok = false;
		}
		incore_error_clear(&why);
	}
	if (ok && t[0] && t[1]) {
		const struct trace *const both[2] = {t[0], t[1]};

		ok = compare_values(j, k, &row, e) && compare_code(j, both, &row, e);
	}
	trace_free(t[0]);
	trace_free(t[1]);
	return ok && (VEC_PUSH(&j->rows, row) || err_nomem(e));
}

/* --- the sum ---------------------------------------------------------------------------------- */

static void add_up(struct runs_job *j)
{
	struct diff_runs_answer *x = j->out;

	EACH (struct diff_run_row, row, j->rows.v, j->rows.n) {
		uint64_t a = row->cycles_a == NO_U64 ? 0 : row->cycles_a;
		uint64_t b = row->cycles_b == NO_U64 ? 0 : row->cycles_b;

		row->change = (int64_t)(b - a);
		if (row->cycles_b != NO_U64 && a)
			row->change_pct = 100 * (double)row->change / (double)a;
		x->cycles_a += a;
		x->cycles_b += b;
		x->change += row->change;
		*(row->cycles_a == NO_U64	  ? &x->of_new
			: row->cycles_b == NO_U64 ? &x->of_gone
			: strcmp(row->by, "run")  ? &x->of_values
						  : &x->of_same) += row->change;
	}
	EACH (struct diff_run_row, row, j->rows.v, j->rows.n)
		row->share = x->cycles_a ? (double)row->change / (double)x->cycles_a : NAN;
}

static int by_change(const void *pa, const void *pb)
{
	const struct diff_run_row *a = pa, *b = pb;
	int64_t x = llabs(a->change), y = llabs(b->change);

	return x != y ? (x > y ? -1 : 1) : strcmp(a->func, b->func);
}

static bool compare_all(struct runs_job *j, struct incore_error *e)
{
	const run_kernels *a = &j->kernels[0], *b = &j->kernels[1];

	for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
		int order = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->v[i].func, b->v[k].func);
		const struct run_kernel *const pair[2] = {
			order <= 0 ? &a->v[i] : NULL, order >= 0 ? &b->v[k] : NULL};

		if (!add_kernel(j, pair, e))
			return false;
		i += order <= 0;
		k += order >= 0;
	}
	return true;
}

static bool put_rows(struct runs_job *j, struct incore_error *e)
{
	uint64_t top = request_top(j->r, 40, 1000);
	size_t n = j->rows.n < top ? j->rows.n : (size_t)top;
	struct diff_run_row *v = ANSWER_ROWS(j->a, &j->out->kernels, n, diff_run_row, e);

	if (!v)
		return false;
	add_up(j);
	SORT(j->rows.v, j->rows.n, by_change);
	if (n)
		memcpy(v, j->rows.v, n * sizeof(*v));
	j->out->n_total = j->rows.n;
	return true;
}

bool diff_runs_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct runs_job j = {.r = r, .a = a, .out = ANSWER_NEW(a, diff_runs_answer, e)};
	bool ok = j.out != NULL;

	arena_init(&j.scratch);
	for (unsigned i = 0; ok && i < 2; i++)
		ok = list_kernels(r, r->paths[i], &j.scratch, &j.kernels[i], e);
	if (ok) {
		j.out->run_a = r->paths[0];
		j.out->run_b = r->paths[1];
		j.out->evidence = (struct diff_evidence){"unknown", "unknown"};
		j.out->kernels_a = j.kernels[0].n;
		j.out->kernels_b = j.kernels[1].n;
		ok = compare_all(&j, e) && put_rows(&j, e);
		answer_set(a, &diff_runs_record, j.out);
	}
	VEC_FREE(&j.kernels[0]);
	VEC_FREE(&j.kernels[1]);
	VEC_FREE(&j.rows);
	arena_deinit(&j.scratch);
	return ok;
}
