/* SPDX-License-Identifier: Apache-2.0 */
/* roc.c: runs of an application under rocprofv3, and what is kept of them. */
#include "capture/roc.h"

#include <stdarg.h>

#include "analysis/name_filter.h"
#include "answer/rows.h"
#include "base/file.h"

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
	VEC_FREE(&r->answer.warnings);
	journal_close(&r->journal);
	arena_deinit(&r->arena);
}

struct roc_run *roc_last(struct roc *r)
{
	return &r->answer.runs.v[r->answer.runs.n - 1];
}

bool roc_warn(struct roc *r, struct incore_error *e, const char *fmt, ...)
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

bool roc_open(struct roc *r, const char *const *needs, struct incore_error *e)
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

bool roc_plan(struct roc *r, const char *name, const char *because, const struct strbuf *settings,
	struct incore_error *e)
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

bool roc_run_last(struct roc *r, struct incore_error *e)
{
	return rocprof_run_start(&roc_last(r)->run, &r->q->drive, r->q->limit_s, &r->journal, e);
}

bool roc_app_failed(struct roc *r, struct incore_error *e)
{
	r->app_status = (int)roc_last(r)->run.status;
	return rocprof_run_failed(&roc_last(r)->run, r->q->limit_s, e);
}

/* --- results --- */

struct listing {
	const char *dir, *suffix;
	unsigned depth;
	bool (*fn)(void *ctx, const char *path, struct incore_error *e);
	void *ctx;
};

static bool look_at(void *ctx, const char *name, struct incore_error *e)
{
	struct listing *x = ctx, below = *x;
	char *path = path_join(x->dir, name);
	bool ok = true;

	if (!path)
		return err_nomem(e);
	below.dir = path;
	below.depth++;
	if (str_ends(str_of(name), x->suffix))
		ok = x->fn(x->ctx, path, e);
	else if (x->depth < MAX_DEPTH && file_is_dir(path))
		ok = dir_each(path, look_at, &below, e);
	mem_free(path);
	return ok;
}

bool roc_each_file(struct roc *r, const char *suffix,
	bool (*fn)(void *ctx, const char *path, struct incore_error *e), void *ctx,
	struct incore_error *e)
{
	struct listing x = {.dir = roc_last(r)->run.raw, .suffix = suffix, .fn = fn, .ctx = ctx};

	return dir_each(x.dir, look_at, &x, e);
}

bool roc_wants(const struct roc *r, const char *kernel, bool *does, struct incore_error *e)
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

bool roc_finish(struct roc *r, bool ok, struct incore_error *e)
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
	VECTOR(roc_answer, counters, "counters", &roc_counter_record,
		"counters by kernel, with the pass that collected them"),
	VECTOR(roc_answer, refused, "refused", &text_item_record,
		"counters that could not be collected"),
};
const struct record roc_record = RECORD_OF(roc_answer, RECORD_BLOCK, roc_columns);
