/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roc.c: drives rocprofv3 for counters, PC samples and timelines. Parts: what all three share;
 * counters; PC samples; timelines.
 */
#include "capture/roc.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/name_filter.h"
#include "answer/captures.h"
#include "answer/rows.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/search.h"
#include "capture/before.h"
#include "capture/folder.h"
#include "codec/csv.h"

/* --- what all three share --------------------------------------------------------------------- */

/*
 * Runs of an application under rocprofv3, and what is kept of them.
 */

#define MAX_DEPTH 2 /* rocprofv3 may add a folder with the host's name */

void roc_init(struct roc *r, const struct roc_request *q)
{
	*r = (struct roc){.q = q, .answer = {.place = {.directory = q->dir}, .verdict = "planned"}};
	arena_init(&r->arena);
}

void roc_deinit(struct roc *r)
{
	for (size_t i = 0; i < r->answer.runs.n; i++)
		rocprof_run_deinit(&r->answer.runs.v[i].run);
	VEC_FREE(&r->answer.runs);
	VEC_FREE(&r->answer.captures);
	VEC_FREE(&r->answer.counters);
	VEC_FREE(&r->answer.refused);
	VEC_FREE(&r->answer.files);
	VEC_FREE(&r->answer.warnings);
	journal_close(&r->journal);
	arena_deinit(&r->arena);
}

static struct roc_run *roc_last(struct roc *r)
{
	return &r->answer.runs.v[r->answer.runs.n - 1];
}

static bool PRINTF_LIKE(3, 4) roc_warn(struct roc *r, struct incore_error *e, const char *fmt, ...)
{
	struct strbuf b = {0};
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	text = drive_text(&r->arena, &b);
	return (text && VEC_PUSH(&r->answer.warnings, text)) || err_nomem(e);
}

/* Finds the tool, checks that it has the options `needs` (ends with NULL), and creates the
 * directory. */
static bool roc_open(struct roc *r, const char *const *needs, struct incore_error *e)
{
	if (!rocprof_find(&r->tool, r->q->tool, &r->arena, e))
		return false;
	r->answer.tool = r->tool.path;
	r->answer.version = r->tool.version;
	for (; *needs; needs++)
		if (!rocprof_has(&r->tool, *needs))
			return err_set(e, INCORE_MISSING, "tool-too-old",
				"rocprofv3 %s at %s has no %s", r->tool.version, r->tool.path,
				*needs);
	return r->q->is_dry || folder_open(&r->answer.place, r->q->dir, &r->journal, &r->arena, e);
}

/* Adds a run of that name ("pass_1") with these lines of input.yaml at the end of answer.runs. */
static bool roc_plan(struct roc *r, const char *name, const char *because,
	const struct strbuf *settings, struct incore_error *e)
{
	struct roc_run t = {.because = arena_strdup(&r->arena, because)};
	struct strbuf b = {0};

	if (!t.because || !rocprof_run_place(&t.run, r->answer.place.directory, name, &r->arena) ||
		!rocprof_run_command(&t.run, &r->tool, r->q->drive.app, NO_COUNT, &r->arena))
		return err_nomem(e);
	rocprof_put_head(&r->tool, "capture", r->q->drive.app, because, &b);
	if (r->q->kernel)
		rocprof_put_key(&b, "kernel_include_regex", r->q->kernel);
	if (r->q->exclude)
		rocprof_put_key(&b, "kernel_exclude_regex", r->q->exclude);
	sb_str(&b, (struct str){settings->p, settings->n});
	rocprof_put_key(&b, "output_file", "out_%pid%");
	rocprof_put_key(&b, "output_directory", t.run.raw);
	b.failed |= settings->failed;
	t.run.configuration = drive_text(&r->arena, &b);
	return (t.run.configuration && VEC_PUSH(&r->answer.runs, t)) || err_nomem(e);
}

/* --- a run --- */

/* Executes the last run; any exit status is stored in it and is not an error. */
static bool roc_run_last(struct roc *r, struct incore_error *e)
{
	return rocprof_run_start(&roc_last(r)->run, &r->q->drive, r->q->limit_s, &r->journal, e);
}

/* Sets the error of a run that failed. Always returns false. */
static bool roc_app_failed(struct roc *r, struct incore_error *e)
{
	r->app_status = (int)roc_last(r)->run.status;
	return rocprof_run_failed(&roc_last(r)->run, r->q->limit_s, e);
}

/* --- results --- */

struct roc_listing {
	const char *dir, *suffix;
	unsigned depth;
	bool (*fn)(void *ctx, const char *path, struct incore_error *e);
	void *ctx;
};

static bool roc_look_at(void *ctx, const char *name, struct incore_error *e)
{
	struct roc_listing *x = ctx, below = *x;
	char *path = path_join(x->dir, name);
	bool ok = true;

	if (!path)
		return err_nomem(e);
	below.dir = path;
	below.depth++;
	if (str_ends(str_of(name), x->suffix))
		ok = x->fn(x->ctx, path, e);
	else if (x->depth < MAX_DEPTH && file_is_dir(path))
		ok = dir_each(path, roc_look_at, &below, e);
	mem_free(path);
	return ok;
}

/* Calls fn with every file of the last run whose name ends with the suffix. */
static bool roc_each_file(struct roc *r, const char *suffix,
	bool (*fn)(void *ctx, const char *path, struct incore_error *e), void *ctx,
	struct incore_error *e)
{
	struct roc_listing x = {
		.dir = roc_last(r)->run.raw, .suffix = suffix, .fn = fn, .ctx = ctx};

	return dir_each(x.dir, roc_look_at, &x, e);
}

/* Is this kernel requested? */
static bool roc_wants(const struct roc *r, const char *kernel, bool *does, struct incore_error *e)
{
	const char *const asked[] = {r->q->kernel, r->q->exclude};
	bool ok = true;

	*does = true;
	for (int i = 0; ok && i < 2; i++) {
		struct name_filter f = {0};
		bool is_match = false;

		if (!asked[i])
			continue;
		ok = name_filter_init(&f, asked[i], e) &&
		     name_filter_match(&f, kernel ? kernel : "", &is_match, e);
		name_filter_deinit(&f);
		*does &= is_match == !i;
	}
	return ok;
}

/* Removes what is not kept and writes the result; call it at the end, also after a failure. ok: did
 * the job succeed? */
static bool roc_finish(struct roc *r, bool ok, struct incore_error *e)
{
	if (r->q->is_dry || !r->answer.place.journal)
		return ok;
	for (size_t i = 0; i < r->answer.runs.n; i++)
		rocprof_run_clear(&r->answer.runs.v[i].run, r->q->keeps_raw);
	r->is_no |= !r->answer.captures.n && !r->answer.counters.n;
	r->answer.verdict = !ok ? "failed" : r->is_no ? "unusable" : "usable";
	return folder_write_result(r->q->dir, &roc_record, &r->answer, &r->arena, ok, e);
}

/* --- fields --- */

static const struct column run_columns[] = {
	COLUMN_AS(roc_run, run.name, "name", UNIT_NONE,
		"name of the run's folder in the output directory"),
	COLUMN(roc_run, because, UNIT_NONE, "reason for the settings of this run"),
	COLUMN(roc_run, counters, UNIT_NONE, "counters that this pass collected", NULLABLE),
	PART(roc_run, run, &rocprof_run_record),
};
static const struct record roc_run_record = RECORD_OF(roc_run, RECORD_BLOCK, run_columns);

static const struct column capture_columns[] = {
	COLUMN(roc_capture, file, UNIT_NONE, "file that incore reads"),
	COLUMN(roc_capture, kernel, UNIT_NONE,
		"name of the kernel, if the file is about one kernel", NULLABLE),
	COLUMN(roc_capture, samples, UNIT_COUNT, "PC samples in the file"),
	COLUMN(roc_capture, launches, UNIT_COUNT, "kernel launches that the file covers"),
	COLUMN(roc_capture, slices, UNIT_COUNT, "calls, launches, copies and markers in the file"),
	COLUMN(roc_capture, health, UNIT_NONE, "result of reading the file"),
};
static const struct record roc_capture_record =
	RECORD_OF(roc_capture, RECORD_BLOCK, capture_columns);

static const struct column counter_columns[] = {
	COLUMN(roc_counter, kernel, UNIT_NONE, "name of the kernel", .flags = COLUMN_WIDE),
	COLUMN(roc_counter, counter, UNIT_NONE, "name of the counter"),
	COLUMN(roc_counter, pass, UNIT_INDEX,
		"number of the run that collected the counter, from 1"),
	COLUMN(roc_counter, launches, UNIT_COUNT, "launches with a value for the counter"),
	COLUMN(roc_counter, sum, UNIT_NONE, "sum over all launches", .digits = 3),
	COLUMN(roc_counter, mean, UNIT_NONE, "mean over the launches", .digits = 3),
	COLUMN(roc_counter, least, UNIT_NONE, "smallest value of a launch", .title = "min",
		.digits = 3),
	COLUMN(roc_counter, most, UNIT_NONE, "largest value of a launch", .title = "max",
		.digits = 3),
};
const struct record roc_counter_record = RECORD_OF(roc_counter, RECORD_BLOCK, counter_columns);

static const struct column roc_columns[] = {
	COLUMN(roc_answer, tool, UNIT_NONE, "path of the rocprofv3 that was used"),
	COLUMN(roc_answer, version, UNIT_NONE, "release of rocprofv3"),
	PART(roc_answer, place, &folder_record),
	COLUMN(roc_answer, verdict, UNIT_NONE, "whether the run produced a capture",
		.words = "usable|unusable|failed|planned"),
	COLUMN(roc_answer, method, UNIT_NONE, "how PC samples were taken", NULLABLE),
	COLUMN(roc_answer, interval, UNIT_NONE,
		"distance of samples in cycles, for host_trap in microseconds; 0: no samples"),
	COLUMN(roc_answer, table, UNIT_NONE, "CSV file with the counters of every launch",
		NULLABLE),
	VECTOR(roc_answer, runs, "runs", &roc_run_record, "runs of the application"),
	VECTOR(roc_answer, captures, "captures", &roc_capture_record,
		"captures that the runs produced"),
	VECTOR(roc_answer, files, "files", &text_item_record,
		"files in other formats of rocprofv3, which were asked for"),
	VECTOR(roc_answer, counters, "counters", &roc_counter_record,
		"counters by kernel, with the pass that collected them"),
	VECTOR(roc_answer, refused, "refused", &text_item_record,
		"counters that could not be collected"),
};
const struct record roc_record = RECORD_OF(roc_answer, RECORD_BLOCK, roc_columns);

/* --- counters --------------------------------------------------------------------------------- */

/*
 * Counters of every launch, in as many runs as they need. How many counters of a block fit one run
 * is known for gfx9; if the tool still refuses a set, it is halved until it fits. The results are
 * merged by kernel and launch, and each value keeps the pass it was measured in.
 */

#define MAX_COUNTERS 512u
#define MAX_PASSES 256u

/* Counters per block and run on gfx9 (MI200, MI300); if more would fit, this is only slower. */
static const struct {
	const char *block;
	unsigned n;
} blocks[] = {{"SQ_", 8}, {"SQC_", 8}, {"TA_", 2}, {"TD_", 2}, {"TCP_", 4}, {"TCC_", 4},
	{"CPC_", 2}, {"CPF_", 2}, {"SPI_", 2}, {"GRBM_", 2}, {"GDS_", 4}};
#define N_BLOCKS (sizeof(blocks) / sizeof(blocks[0]))

struct pass {
	uint32_t counter[MAX_COUNTERS]; /* indices */
	uint32_t n;
};

struct pmc_value {
	uint32_t kernel, counter, process, ordinal; /* ordinal: launch of its kernel, from 1 */
	uint32_t pass;
	uint64_t dispatch;
	double v;
};

struct pmc {
	struct roc *r;
	struct intern names, kernels;
	VEC(struct pass) queue;
	VEC(struct pmc_value) values;
	uint32_t pass;		  /* pass being read */
	uint32_t n_processes;	  /* processes whose files were read in this pass */
	struct u64_map launch_of; /* (process, kernel, dispatch) -> ordinal, of this pass */
	struct u64_map launches;  /* (process, kernel) -> how many, of this pass */
	uint64_t first_launches;  /* of the first pass */
	uint64_t n_launches;	  /* of this one */
};

/* --- passes --- */

static unsigned block_of(struct str name)
{
	for (unsigned i = 0; i < N_BLOCKS; i++)
		if (str_starts(name, blocks[i].block))
			return i;
	return N_BLOCKS; /* a derived metric: its needs are not known */
}

static bool pmc_read_names(struct pmc *x, struct incore_error *e)
{
	const char *p = x->r->q->counters;

	while (p && *p) {
		size_t n = strcspn(p, ", \t\n");

		if (n && intern_add(&x->names, (struct str){p, n}) == INTERN_NONE)
			return err_nomem(e);
		p += n + (p[n] != '\0');
	}
	if (!x->names.n || x->names.n > MAX_COUNTERS)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--counters names 1 to %u counters, separated by commas", MAX_COUNTERS);
	for (uint32_t i = 0; i < x->names.n; i++)
		for (size_t k = 0; k < x->names.strs[i].n; k++)
			if (!strchr("_:.[]=-", x->names.strs[i].p[k]) &&
				!(x->names.strs[i].p[k] >= '0' && x->names.strs[i].p[k] <= '9') &&
				!(x->names.strs[i].p[k] >= 'a' && x->names.strs[i].p[k] <= 'z') &&
				!(x->names.strs[i].p[k] >= 'A' && x->names.strs[i].p[k] <= 'Z'))
				return err_set(e, INCORE_USAGE, "bad-option-value",
					"'%s' is not the name of a counter", x->names.strs[i].p);
	return true;
}

/* Puts each counter into the first pass with room for its block, each metric into its own pass. */
static bool first_passes(struct pmc *x)
{
	for (uint32_t i = 0; i < x->names.n; i++) {
		unsigned block = block_of(x->names.strs[i]);
		struct pass *p = NULL;

		for (size_t k = 0; k < x->queue.n && !p && block < N_BLOCKS; k++) {
			unsigned n = 0, n_metrics = 0;

			for (uint32_t c = 0; c < x->queue.v[k].n; c++) {
				unsigned of = block_of(x->names.strs[x->queue.v[k].counter[c]]);

				n += of == block;
				n_metrics += of == N_BLOCKS;
			}
			if (n < blocks[block].n && !n_metrics)
				p = &x->queue.v[k];
		}
		if (!p) {
			if (!VEC_PUSH(&x->queue, (struct pass){{0}, 0}))
				return false;
			p = &x->queue.v[x->queue.n - 1];
		}
		p->counter[p->n++] = i;
	}
	return true;
}

static bool pmc_plan(
	struct pmc *x, const struct pass *p, const char *because, struct incore_error *e)
{
	struct strbuf s = {0}, list = {0};
	char name[32];
	bool ok;

	snprintf(name, sizeof(name), "pass_%zu", x->r->answer.runs.n + 1);
	sb_puts(&s, "    pmc: [");
	for (uint32_t i = 0; i < p->n; i++) {
		sb_printf(&s, "%s\"%s\"", i ? ", " : "", x->names.strs[p->counter[i]].p);
		sb_printf(&list, "%s%s", i ? " " : "", x->names.strs[p->counter[i]].p);
	}
	sb_puts(&s, "]\n    output_format: [csv]\n");
	ok = roc_plan(x->r, name, because, &s, e);
	if (ok) {
		roc_last(x->r)->counters = list.failed ? NULL : arena_strdup(&x->r->arena, list.p);
		ok = roc_last(x->r)->counters || err_nomem(e);
	}
	sb_free(&s);
	sb_free(&list);
	return ok;
}

/* --- results of a pass --- */

struct places {
	int dispatch, name, kernel_id, counter, value;
};

/* Finds which launch of its kernel this is, in the order of dispatches. */
static bool ordinal_of(struct pmc *x, struct pmc_value *v, struct incore_error *e)
{
	uint64_t group = (uint64_t)v->process << 32 | v->kernel;
	uint64_t *at = u64_map_at(
			 &x->launch_of, hash_mix64(group * 1000003 ^ hash_mix64(v->dispatch))),
		 *n;

	if (!at)
		return err_nomem(e);
	if (!*at) {
		n = u64_map_at(&x->launches, group);
		if (!n)
			return err_nomem(e);
		*at = ++*n;
		x->n_launches++;
	}
	v->ordinal = (uint32_t)*at;
	return true;
}

static bool pmc_take_row(
	struct pmc *x, const struct csv_reader *c, const struct places *p, struct incore_error *e)
{
	struct str number = str_trim(csv_field(c, p->value)), name = csv_field(c, p->name);
	struct pmc_value v = {.process = x->n_processes, .pass = x->pass};
	char text[64], *end;
	bool does;

	snprintf(text, sizeof(text), "%.*s", (int)(number.n < 63 ? number.n : 63), number.p);
	v.v = strtod(text, &end);
	v.counter = intern_find(&x->names, csv_field(c, p->counter));
	if (!str_to_u64(str_trim(csv_field(c, p->dispatch)), &v.dispatch) || end == text || *end ||
		!isfinite(v.v))
		return err_set(e, INCORE_BAD_INPUT, "bad-counters",
			"%s:%u: expected numbers for Dispatch_Id and Counter_Value", c->path,
			c->line);
	v.kernel = intern_add(&x->kernels, name);
	if (v.kernel == INTERN_NONE)
		return err_nomem(e);
	if (!roc_wants(x->r, x->kernels.strs[v.kernel].p, &does, e))
		return false;
	if (!does || v.counter == INTERN_NONE)
		return true;
	return ordinal_of(x, &v, e) && (VEC_PUSH(&x->values, v) || err_nomem(e));
}

static bool pmc_take_file(void *ctx, const char *path, struct incore_error *e)
{
	struct pmc *x = ctx;
	struct file_data f = {0};
	struct csv_reader c;
	struct places p;
	bool at_end = false, ok;

	if (!file_load(&f, path, e))
		return false;
	csv_init(&c, f.data, f.size, path);
	ok = csv_header(&c, e);
	p = (struct places){csv_column(&c, "Dispatch_Id"), csv_column(&c, "Kernel_Name"),
		csv_column(&c, "Kernel_Id"), csv_column(&c, "Counter_Name"),
		csv_column(&c, "Counter_Value")};
	if (ok && (p.dispatch < 0 || p.name < 0 || p.counter < 0 || p.value < 0))
		ok = err_file(e, "bad-counters", path, INCORE_NO_OFFSET,
			"counters have the columns Dispatch_Id, Kernel_Name, Counter_Name and Counter_Value");
	while (ok && csv_row(&c, &at_end, e))
		ok = pmc_take_row(x, &c, &p, e);
	csv_deinit(&c);
	file_unload(&f);
	x->n_processes++;
	return ok && at_end;
}

/* Notes counters that were requested but not delivered. */
static bool note_missing(struct pmc *x, const struct pass *p, struct incore_error *e)
{
	for (uint32_t i = 0; i < p->n; i++) {
		bool has_come = false;

		for (size_t k = 0; k < x->values.n && !has_come; k++)
			has_come = x->values.v[k].pass == x->pass &&
				   x->values.v[k].counter == p->counter[i];
		if (!has_come &&
			(!VEC_PUSH(&x->r->answer.refused,
				 arena_strdup(&x->r->arena, x->names.strs[p->counter[i]].p)) ||
				!x->r->answer.refused.v[x->r->answer.refused.n - 1]))
			return err_nomem(e);
	}
	return true;
}

static bool read_pass(struct pmc *x, const struct pass *p, struct incore_error *e)
{
	u64_map_deinit(&x->launch_of);
	u64_map_deinit(&x->launches);
	x->launch_of = x->launches = (struct u64_map){0};
	x->n_processes = 0;
	x->n_launches = 0;
	x->pass = (uint32_t)x->r->answer.runs.n;
	if (!roc_each_file(x->r, "_counter_collection.csv", pmc_take_file, x, e) ||
		!note_missing(x, p, e))
		return false;
	roc_last(x->r)->run.outcome = x->n_launches ? "usable" : "no launch was counted";
	if (!x->first_launches)
		x->first_launches = x->n_launches;
	return x->n_launches == x->first_launches || !x->n_launches ||
	       roc_warn(x->r, e,
		       "pass %u saw %llu launches and an earlier one %llu: the application does not run alike",
		       x->pass, (unsigned long long)x->n_launches,
		       (unsigned long long)x->first_launches);
}

/* --- runs --- */

static bool does_not_fit(struct str said)
{
	return str_has(said, "exceeds the capabilities") || str_has(said, "EXCEEDS_HW_LIMIT") ||
	       str_has(said, "cannot be collected");
}

static bool is_unknown_counter(struct str said)
{
	return str_has(said, "Unable to find") || str_has(said, "COUNTER_NOT_FOUND") ||
	       str_has(said, "not a valid counter") || str_has(said, "unsupported counter");
}

/* Adds the two halves of a pass at the end of the queue; a single counter is not split. */
static bool halve(struct pmc *x, const struct pass *p, struct incore_error *e)
{
	struct pass half[2] = {{{0}, 0}, {{0}, 0}};

	roc_last(x->r)->run.outcome = "does not fit one pass";
	if (p->n == 1) {
		const char *name = arena_strdup(&x->r->arena, x->names.strs[p->counter[0]].p);

		return (name && VEC_PUSH(&x->r->answer.refused, name)) || err_nomem(e);
	}
	for (uint32_t i = 0; i < p->n; i++)
		half[i >= p->n / 2].counter[half[i >= p->n / 2].n++] = p->counter[i];
	return (VEC_PUSH(&x->queue, half[0]) && VEC_PUSH(&x->queue, half[1])) || err_nomem(e);
}

static bool run_pass(struct pmc *x, size_t number, struct incore_error *e)
{
	struct pass p = x->queue.v[number];
	struct str said;

	if (!pmc_plan(x, &p, number < 1 ? "the first pass" : "counters that were left", e) ||
		!roc_run_last(x->r, e))
		return false;
	if (!roc_last(x->r)->run.status)
		return read_pass(x, &p, e);
	said = rocprof_run_said(&roc_last(x->r)->run);
	if (does_not_fit(said))
		return halve(x, &p, e);
	if (is_unknown_counter(said))
		return err_set(e, INCORE_USAGE, "unknown-counter",
			"rocprofv3 does not know a counter of %s: %.*s (rocprofv3 --list-avail lists them)",
			roc_last(x->r)->counters,
			STR_ARG(job_last_line(&roc_last(x->r)->run.result)));
	return roc_app_failed(x->r, e);
}

/* --- answer --- */

ORDER(by_kernel, struct pmc_value, UP(kernel) UP(counter) UP(process) UP(ordinal) UP(pass) UP(v))

static bool pmc_write_table(struct pmc *x, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	x->r->answer.table = arena_printf(&x->r->arena, "%s/counters.csv", x->r->q->dir);
	sb_puts(&b, "process,kernel,launch,dispatch,counter,value,pass\n");
	for (size_t i = 0; i < x->values.n; i++) {
		const struct pmc_value *v = &x->values.v[i];

		sb_printf(&b, "%u,", v->process);
		csv_put_text(&b, x->kernels.strs[v->kernel]);
		sb_printf(&b, ",%u,%llu,%s,%.17g,%u\n", v->ordinal, (unsigned long long)v->dispatch,
			x->names.strs[v->counter].p, v->v, v->pass);
	}
	ok = x->r->answer.table && !b.failed
		     ? out_file_text(x->r->answer.table, (struct str){b.p, b.n}, e)
		     : err_nomem(e);
	sb_free(&b);
	return ok;
}

/* Instances of a counter in one launch are summed. */
static void pmc_add_launch(struct roc_counter *c, const struct pmc_value *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i].v;
	c->least = !c->launches || sum < c->least ? sum : c->least;
	c->most = !c->launches || sum > c->most ? sum : c->most;
	c->sum += sum;
	c->launches++;
}

static bool sum_up(struct pmc *x, struct incore_error *e)
{
	const struct pmc_value *v = x->values.v;

	SORT(x->values.v, x->values.n, by_kernel);
	for (size_t i = 0, n, k; i < x->values.n; i += n) {
		struct roc_counter c = {.pass = v[i].pass,
			.kernel = arena_strdup(&x->r->arena, x->kernels.strs[v[i].kernel].p),
			.counter = arena_strdup(&x->r->arena, x->names.strs[v[i].counter].p)};

		for (n = 0; i + n < x->values.n && v[i + n].kernel == v[i].kernel &&
			    v[i + n].counter == v[i].counter;
			n += k) {
			for (k = 1; i + n + k < x->values.n && v[i + n + k].kernel == v[i].kernel &&
				    v[i + n + k].counter == v[i].counter &&
				    v[i + n + k].process == v[i + n].process &&
				    v[i + n + k].ordinal == v[i + n].ordinal;)
				k++;
			pmc_add_launch(&c, &v[i + n], k);
		}
		c.mean = c.sum / (double)c.launches;
		if (!c.kernel || !c.counter || !VEC_PUSH(&x->r->answer.counters, c))
			return err_nomem(e);
	}
	return !x->values.n || pmc_write_table(x, e);
}

static bool pmc_take(struct pmc *x, struct incore_error *e)
{
	bool ok = true;

	progress_begin(x->r->q->drive.progress, "passes", x->queue.n);
	for (size_t i = 0; ok && i < x->queue.n; i++) {
		ok = i < MAX_PASSES ? run_pass(x, i, e)
				    : err_set(e, INCORE_FAILED, "too-many-passes",
					      "more than %u passes would be needed", MAX_PASSES);
		progress_add(x->r->q->drive.progress, 1);
	}
	progress_end(x->r->q->drive.progress);
	ok = ok && sum_up(x, e);
	x->r->is_no = ok && x->r->answer.refused.n > 0;
	return ok;
}

bool roc_take_pmc(struct roc *r, struct incore_error *e)
{
	static const char *const needs[] = {"--pmc", "--output-format", NULL};
	struct pmc x = {.r = r};
	bool ok;

	intern_init(&x.names);
	intern_init(&x.kernels);
	ok = pmc_read_names(&x, e) && (first_passes(&x) || err_nomem(e)) && roc_open(r, needs, e) &&
	     before_check_counters(&r->tool, r->q->counters, false, r->q->is_dry, &r->arena, e);
	for (size_t i = 0; ok && r->q->is_dry && i < x.queue.n; i++)
		ok = pmc_plan(&x, &x.queue.v[i], "as far as is known before a run", e);
	if (ok && !r->q->is_dry)
		ok = pmc_take(&x, e);
	if (r->answer.place.journal)
		ok = roc_finish(r, ok, e);
	u64_map_deinit(&x.launch_of);
	u64_map_deinit(&x.launches);
	VEC_FREE(&x.queue);
	VEC_FREE(&x.values);
	intern_deinit(&x.names);
	intern_deinit(&x.kernels);
	return ok;
}

/* --- PC samples ------------------------------------------------------------------------------- */

/*
 * PC samples with the best method of the installed release and device: stochastic if available,
 * else host_trap; a shorter interval if there were no samples. Samples are read back and packed,
 * one file per kernel.
 */

/* The public examples use 1048576 cycles; kernels of some milliseconds need more samples. */
#define FIRST_CYCLES 65536
#define LEAST_CYCLES 256
#define CYCLES_STEP 16
#define FIRST_US 100 /* host_trap: interrupts every wave */
#define LEAST_US 1
#define US_STEP 10

struct pcs_state {
	struct roc *r;
	bool is_trap;
	uint64_t interval, n_samples;
};

/* --- reading back --- */

static uint64_t samples_of(const struct trace *t)
{
	uint64_t n = 0;

	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		n += t->samples[i].issued + t->samples[i].stalled;
	return n;
}

static bool pcs_keep(struct pcs_state *x, const struct capture *found, struct incore_error *e)
{
	struct roc *r = x->r;
	struct import_options o = {.want = IMPORT_ALL, .pool = r->q->drive.pool};
	struct roc_capture c = {.health = "ok"};
	struct trace *t;
	bool does, ok;

	if (!import_read(found, &o, &t, e))
		return false;
	if (!t->samples) { /* has only a timeline */
		trace_free(t);
		return true;
	}
	if (!x->is_trap)
		t->sampling.period_cyc = x->interval;
	c.samples = samples_of(t);
	c.launches = t->meta.launch.launch_count > 0 ? (uint64_t)t->meta.launch.launch_count : 0;
	ok = roc_wants(r, t->meta.kernel, &does, e);
	if (ok && does) {
		c.kernel = t->meta.kernel ? arena_strdup(&r->arena, t->meta.kernel) : NULL;
		c.file = folder_file_name(&r->arena, r->q->dir, c.kernel, "_samples");
		ok = c.file ? folder_pack(c.file, t, &r->q->drive, e) : err_nomem(e);
		ok = ok && (VEC_PUSH(&r->answer.captures, c) || err_nomem(e));
		x->n_samples += ok ? c.samples : 0;
	}
	trace_free(t);
	return ok;
}

/* A file without samples is no error here: a shorter interval is tried. */
static bool take_results(void *ctx, const char *path, struct incore_error *e)
{
	struct pcs_state *x = ctx;
	struct capture_list list;
	struct incore_error why = {0};
	bool ok = true;

	if (!import_find(path, NULL, &list, &why)) {
		incore_error_clear(&why);
		return true;
	}
	for (uint32_t i = 0; ok && i < list.n; i++) {
		ok = pcs_keep(x, &list.v[i], &why);
		if (!ok && err_is(&why, "no-samples")) {
			incore_error_clear(&why);
			ok = true;
		}
	}
	capture_list_deinit(&list);
	if (!ok)
		err_move(e, &why);
	return ok;
}

/* --- attempts --- */

static bool pcs_plan(
	struct pcs_state *x, uint64_t number, const char *because, struct incore_error *e)
{
	struct strbuf s = {0};
	char name[32];
	bool ok;

	snprintf(name, sizeof(name), "attempt_%llu", (unsigned long long)number);
	sb_puts(&s, "    pc_sampling_beta_enabled: true\n");
	rocprof_put_key(&s, "pc_sampling_method", x->is_trap ? "host_trap" : "stochastic");
	rocprof_put_key(&s, "pc_sampling_unit", x->is_trap ? "time" : "cycles");
	sb_printf(&s, "    pc_sampling_interval: %llu\n    kernel_trace: true\n",
		(unsigned long long)x->interval);
	sb_puts(&s, "    output_format: [json]\n");
	ok = roc_plan(x->r, name, because, &s, e);
	sb_free(&s);
	x->r->answer.method = x->is_trap ? "host_trap" : "stochastic";
	x->r->answer.interval = x->interval;
	return ok;
}

static bool is_unsupported(struct str said)
{
	return str_has(said, "not supported") || str_has(said, "NOT_AVAILABLE") ||
	       str_has(said, "NOT_IMPLEMENTED") || str_has(said, "no PC sampling");
}

/* Chooses the next settings; false: nothing is left to try. */
static bool steer(struct pcs_state *x, struct strbuf *because)
{
	const struct rocprof_run *t = &roc_last(x->r)->run;

	sb_reset(because);
	if (t->status) {
		if (x->is_trap || x->r->q->method || !is_unsupported(rocprof_run_said(t)))
			return false;
		x->is_trap = true;
		x->interval = x->r->q->interval == NO_COUNT ? FIRST_US : x->r->q->interval;
		sb_puts(because, "the device has no stochastic sampling: host_trap");
		return true;
	}
	if (x->r->q->interval != NO_COUNT || x->interval <= (x->is_trap ? LEAST_US : LEAST_CYCLES))
		return false;
	x->interval /= x->is_trap ? US_STEP : CYCLES_STEP;
	sb_printf(because, "no sample: one every %llu %s", (unsigned long long)x->interval,
		x->is_trap ? "us" : "cycles");
	return true;
}

static bool attempts(struct pcs_state *x, struct incore_error *e)
{
	struct strbuf because = {0};
	bool ok = true, has_more = true;

	sb_puts(&because, "the first attempt");
	for (uint64_t i = 0; ok && has_more && i <= x->r->q->retries; i++) {
		ok = (!because.failed || err_nomem(e)) && pcs_plan(x, i + 1, because.p, e) &&
		     roc_run_last(x->r, e) &&
		     (roc_last(x->r)->run.status ||
			     roc_each_file(x->r, "_results.json", take_results, x, e));
		if (ok && !roc_last(x->r)->run.status)
			roc_last(x->r)->run.outcome = x->n_samples ? "usable" : "no sample";
		has_more = ok && !x->n_samples && i < x->r->q->retries && steer(x, &because);
	}
	sb_free(&because);
	if (ok && !x->n_samples && roc_last(x->r)->run.status)
		ok = roc_app_failed(x->r, e);
	return ok;
}

bool roc_take_pcs(struct roc *r, struct incore_error *e)
{
	static const char *const needs[] = {"--pc-sampling-beta-enabled", "--pc-sampling-method",
		"--pc-sampling-unit", "--pc-sampling-interval", "--kernel-trace", NULL};
	const struct roc_request *q = r->q;
	struct pcs_state x = {.r = r};

	if (q->method && strcmp(q->method, "stochastic") != 0 &&
		strcmp(q->method, "host_trap") != 0)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--method is stochastic or host_trap, not %s", q->method);
	if (q->interval == 0)
		return err_set(e, INCORE_USAGE, "bad-option-value", "--interval is at least 1");
	if (!roc_open(r, needs, e))
		return false;
	x.is_trap = q->method ? !strcmp(q->method, "host_trap")
			      : !str_has(str_of(r->tool.help), "stochastic");
	x.interval = q->interval != NO_COUNT ? q->interval : x.is_trap ? FIRST_US : FIRST_CYCLES;
	if (!x.is_trap && (x.interval & (x.interval - 1)))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--interval of stochastic samples is a power of two, not %llu",
			(unsigned long long)x.interval);
	return roc_finish(
		r, q->is_dry ? pcs_plan(&x, 1, "the first attempt", e) : attempts(&x, e), e);
}

/* --- timelines -------------------------------------------------------------------------------- */

/*
 * What an application does around its kernels: calls, launches, copies and markers, as a rocprofv3
 * database that is kept and read back.
 */

/* Reads what the database contains; an unreadable one is kept and noted. */
static bool sys_read_back(struct roc *r, struct roc_capture *c, struct incore_error *e)
{
	struct import_options o = {.want = IMPORT_ALL, .pool = r->q->drive.pool};
	struct incore_error why = {0};
	struct strbuf text = {0};
	struct trace *t;

	if (!import_read_as("rocpd", c->file, &o, &t, &why)) {
		err_format(&why, &text);
		c->health = text.failed ? NULL
					: arena_printf(&r->arena, "unreadable: %s",
						  text.p ? text.p : "");
		sb_free(&text);
		incore_error_clear(&why);
		return c->health || err_nomem(e);
	}
	c->launches = t->meta.launch.launch_count > 0 ? (uint64_t)t->meta.launch.launch_count : 0;
	for (track_idx i = 0; i < t->n_tracks; i++)
		c->slices += t->tracks[i].n_slices;
	c->kernel = t->meta.kernel ? arena_strdup(&r->arena, t->meta.kernel) : NULL;
	c->health = c->launches ? "ok" : "no kernel was launched";
	trace_free(t);
	return true;
}

static bool take_database(void *ctx, const char *path, struct incore_error *e)
{
	struct roc *r = ctx;
	struct roc_capture c = {
		.file = arena_printf(&r->arena, "%s/%s", r->q->dir, path_base(path))};

	if (!c.file)
		return err_nomem(e);
	if (rename(path, c.file) != 0)
		return err_output(e, errno, c.file, "cannot put in place");
	return sys_read_back(r, &c, e) && (VEC_PUSH(&r->answer.captures, c) || err_nomem(e));
}

static bool is_good(const struct roc_answer *a)
{
	for (size_t i = 0; i < a->captures.n; i++)
		if (a->captures.v[i].launches)
			return true;
	return false;
}

/* What can be traced, by its word here: the key of input.yaml and the option that a release has. */
static const struct sys_trace {
	const char *word, *key, *option;
} sys_traces[] = {{"all", "sys_trace", "--sys-trace"},
	{"runtime", "runtime_trace", "--runtime-trace"},
	{"kernel", "kernel_trace", "--kernel-trace"},
	{"memory-copy", "memory_copy_trace", "--memory-copy-trace"},
	{"memory-allocation", "memory_allocation_trace", "--memory-allocation-trace"},
	{"scratch-memory", "scratch_memory_trace", "--scratch-memory-trace"},
	{"marker", "marker_trace", "--marker-trace"}, {"hip", "hip_trace", "--hip-trace"},
	{"hsa", "hsa_trace", "--hsa-trace"}, {"rccl", "rccl_trace", "--rccl-trace"}};

/* Formats of rocprofv3 with the ends of their files; rocpd is what incore reads. */
static const struct sys_format {
	const char *word, *suffix;
} sys_formats[] = {{"rocpd", "_results.db"}, {"csv", ".csv"}, {"json", "_results.json"},
	{"pftrace", ".pftrace"}, {"otf2", ".otf2"}};

static bool put_traces(struct roc *r, struct strbuf *out, struct incore_error *e)
{
	const size_t n = sizeof(sys_traces) / sizeof(*sys_traces);
	struct str rest = str_of(r->q->trace), word;

	while (str_cut(&rest, ",", &word)) {
		const struct sys_trace *t = sys_traces;

		word = str_trim(word);
		while (t < sys_traces + n && !str_is(word, t->word))
			t++;
		if (t == sys_traces + n)
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--trace takes all, runtime, kernel, memory-copy, memory-allocation, scratch-memory, marker, hip, hsa and rccl, not '%.*s'",
				STR_ARG(word));
		if (r->tool.path && !rocprof_has(&r->tool, t->option))
			return err_set(e, INCORE_MISSING, "tool-too-old",
				"rocprofv3 %s at %s has no %s", r->tool.version, r->tool.path,
				t->option);
		sb_printf(out, "    %s: true\n", t->key);
	}
	return true;
}

/* "output_format: [rocpd, csv]": rocpd always, since that is what is read back. */
static bool put_formats(struct roc *r, struct strbuf *out, struct incore_error *e)
{
	const size_t n = sizeof(sys_formats) / sizeof(*sys_formats);
	struct str rest = r->q->formats ? str_of(r->q->formats) : (struct str){0}, word;

	sb_puts(out, "    output_format: [rocpd");
	while (str_cut(&rest, ",", &word)) {
		size_t i = 0;

		word = str_trim(word);
		while (i < n && !str_is(word, sys_formats[i].word))
			i++;
		if (i == n)
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--formats takes csv, json, pftrace and otf2 beside rocpd, not '%.*s'",
				STR_ARG(word));
		if (r->tool.path && !str_has(str_of(r->tool.help), sys_formats[i].word))
			return err_set(e, INCORE_MISSING, "tool-too-old",
				"rocprofv3 %s at %s writes no %s", r->tool.version, r->tool.path,
				sys_formats[i].word);
		if (i)
			sb_printf(out, ", %s", sys_formats[i].word);
	}
	sb_puts(out, "]\n");
	return true;
}

static bool keep_file(void *ctx, const char *path, struct incore_error *e)
{
	struct roc *r = ctx;
	const char *to = arena_printf(&r->arena, "%s/%s", r->q->dir, path_base(path));

	if (!to)
		return err_nomem(e);
	if (rename(path, to) != 0)
		return err_output(e, errno, to, "cannot put in place");
	return VEC_PUSH(&r->answer.files, to) || err_nomem(e);
}

static bool sys_take(struct roc *r, struct incore_error *e)
{
	struct str rest = r->q->formats ? str_of(r->q->formats) : (struct str){0}, word;

	if (!roc_run_last(r, e))
		return false;
	if (!roc_each_file(r, "_results.db", take_database, r, e))
		return false;
	while (str_cut(&rest, ",", &word))
		for (size_t i = 1; i < sizeof(sys_formats) / sizeof(*sys_formats); i++)
			if (str_is(str_trim(word), sys_formats[i].word) &&
				!roc_each_file(r, sys_formats[i].suffix, keep_file, r, e))
				return false;
	if (roc_last(r)->run.status)
		return roc_app_failed(r, e);
	if (!r->answer.captures.n)
		roc_last(r)->run.outcome = "no database was written";
	r->is_no = !is_good(&r->answer);
	return true;
}

bool roc_take_sys(struct roc *r, struct incore_error *e)
{
	static const char *const needs[] = {"--output-format", NULL};
	struct strbuf settings = {0};
	bool ok = put_traces(r, &settings, e) && put_formats(r, &settings, e);

	sb_reset(&settings);
	if (!ok || !roc_open(r, needs, e)) {
		sb_free(&settings);
		return false;
	}
	if (!str_has(str_of(r->tool.help), "rocpd")) {
		sb_free(&settings);
		return err_set(e, INCORE_MISSING, "tool-too-old",
			"rocprofv3 %s at %s writes no databases (rocpd): install ROCm 7.0 or newer",
			r->tool.version, r->tool.path);
	}
	ok = put_traces(r, &settings, e) && put_formats(r, &settings, e) &&
	     roc_plan(r, "run", "the timeline around the kernels", &settings, e) &&
	     (r->q->is_dry || sys_take(r, e));
	sb_free(&settings);
	return roc_finish(r, ok, e);
}
