/* SPDX-License-Identifier: Apache-2.0 */
/* clean.c: makes a simulator's trace readable. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/mem.h"
#include "export/clean/clean_job.h"
#include "export/clean/spill.h"
#include "page/page.h"
#include "trace/kind.h"
#include "trace/trace_text.h"

struct clean_params {
	const char *output;
	bool keep_scalar, keep_all, is_legacy, is_raw_metrics, is_copy_raw, is_no_copy_raw,
		is_bundle;
};
static const struct option_def options[] = {
	{OPT_OUTPUT_FOLDER, NULL, NULL,
		"directory for the files (default: this one; --legacy: beside the input)",
		OPTION_FIELD(clean_params, output)},
	{OPT_KEEP_SCALAR, NULL, NULL, "keep the lane SCALAR",
		OPTION_FIELD(clean_params, keep_scalar)},
	{OPT_KEEP_ALL, NULL, NULL, "keep SCALAR, FLOWCTRL, CACHEMISS and ALL too",
		OPTION_FIELD(clean_params, keep_all)},
	{OPT_LEGACY, NULL, NULL, "write trace.clean.json with the events of the older cleaner",
		OPTION_FIELD(clean_params, is_legacy)},
	{OPT_RAW_METRICS, NULL, NULL,
		"write the API_INSTR block to instr_metrics.json byte for byte",
		OPTION_FIELD(clean_params, is_raw_metrics)},
	{OPT_COPY_RAW, NULL, NULL, "copy the folder of the input to raw_simulator",
		OPTION_FIELD(clean_params, is_copy_raw)},
	{OPT_NO_COPY_RAW, NULL, NULL,
		"do not copy (default; accepts command lines of the older cleaner)",
		OPTION_FIELD(clean_params, is_no_copy_raw)},
	{OPT_BUNDLE, NULL, NULL,
		"put all files of a run, the raw ones too, into a new folder incore_<kernel>_<source>_<time>",
		OPTION_FIELD(clean_params, is_bundle)},
	{OPT_OUTPUT_DIR, .alias_of = "output"},
	OPTION_END,
};

/* For smaller files everything is kept in memory. */
#define LEAST_SPILLED_BYTES ((int64_t)256 << 20)

/* --- the answer --- */

static const struct column lane_columns[] = {
	COLUMN_AS(clean_lane, pid, "core", UNIT_NONE, "core that the pipe belongs to"),
	COLUMN(clean_lane, pipe, UNIT_NONE, "name of the pipe"),
	COLUMN_AS(clean_lane, is_wait, "is_sync", UNIT_NONE,
		"the lane holds flags, barriers or locks"),
	COLUMN(clean_lane, is_kept, UNIT_NONE, "the lane is in the trace that was written"),
	COLUMN_AS(
		clean_lane, n, "slices", UNIT_COUNT, "slices that were read, whether kept or not"),
	COLUMN_AS(clean_lane, n_rows, "rows", UNIT_COUNT,
		"number of rows on which the slices do not overlap"),
	COLUMN(clean_lane, busy, UNIT_NONE,
		"time in which the pipe worked; for a sync lane: exposed waits", .digits = 6),
	COLUMN_AS(clean_lane, sum.depth_max, "depth_max", UNIT_COUNT,
		"largest number of slices at the same time"),
};
static const struct record lane_record = RECORD_OF(clean_lane, RECORD_BLOCK, lane_columns);

struct cleaned { /* one run; its job is gone when the answer is read */
	const char *kernel, *input, *evidence, *files[CLEAN_FILES], *raw_copy, *time_unit;
	uint64_t input_bytes, events, slices, arrows, unmatched_sets, unmatched_waits;
	uint64_t arrows_left_out, counter_samples;
	struct rows lanes;
};
static const struct column cleaned_columns[] = {
	COLUMN(cleaned, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN(cleaned, input, UNIT_NONE, "file or folder that was read"),
	COLUMN(cleaned, input_bytes, UNIT_BYTES, "size of the input"),
	EVIDENCE_COLUMN(cleaned, "what its figures rest on"),
	COLUMN_AS(cleaned, files[CLEAN_TRACE], "trace", UNIT_NONE, "path of the readable trace"),
	COLUMN_AS(cleaned, files[CLEAN_METRICS], "metrics", UNIT_NONE,
		"path of the metrics of instructions", NULLABLE),
	COLUMN_AS(cleaned, files[CLEAN_SUMMARY], "summary", UNIT_NONE, "path of the sums of pipes",
		NULLABLE),
	COLUMN_AS(cleaned, files[CLEAN_PIPES], "pipes", UNIT_NONE,
		"path of the table of pipes; with --bundle alone", OPTIONAL),
	COLUMN(cleaned, raw_copy, UNIT_NONE, "path of the copy of the input folder", NULLABLE),
	COLUMN(cleaned, time_unit, UNIT_NONE, "unit of all times", .words = "us|cycles"),
	COLUMN(cleaned, events, UNIT_COUNT, "number of events that were written"),
	COLUMN(cleaned, slices, UNIT_COUNT, "number of slices that were read"),
	COLUMN(cleaned, arrows, UNIT_COUNT, "number of arrows from SET to WAIT"),
	COLUMN(cleaned, unmatched_sets, UNIT_COUNT, "flags that are set but never waited for"),
	COLUMN(cleaned, unmatched_waits, UNIT_COUNT, "waits for a flag that is never set"),
	COLUMN(cleaned, arrows_left_out, UNIT_COUNT,
		"arrows with an end on a lane that was not kept"),
	COLUMN(cleaned, counter_samples, UNIT_COUNT, "number of counter samples"),
	LIST(cleaned, lanes, &lane_record, "lanes that hold at least one slice"),
};
static const struct record cleaned_record = RECORD_OF(cleaned, RECORD_BLOCK, cleaned_columns);

struct clean_answer {
	struct rows runs;
};
static const struct column answer_columns[] = {
	LIST(clean_answer, runs, &cleaned_record, "the runs that were cleaned"),
};
static const struct record answer_record = RECORD_OF(clean_answer, RECORD_BLOCK, answer_columns);

static bool put_lanes(
	struct answer *a, const struct clean *k, struct rows *out, struct incore_error *e)
{
	struct clean_lane *v = ANSWER_ROWS(a, out, k->lanes.n, clean_lane, e);

	if (!v)
		return false;
	out->n = 0;
	for (size_t i = 0; i < k->lanes.n; i++) {
		struct clean_lane *x = &v[out->n];

		if (!k->lanes.v[i].n)
			continue;
		*x = k->lanes.v[i];
		x->pid.p = arena_strndup(&a->arena, x->pid.p, x->pid.n);
		x->pipe.p = arena_strndup(&a->arena, x->pipe.p, x->pipe.n);
		if (!x->pid.p || !x->pipe.p)
			return err_nomem(e);
		out->n++;
	}
	return true;
}

static bool put_text(struct answer *a, const char **out, const char *text, struct incore_error *e)
{
	*out = text ? arena_strdup(&a->arena, text) : NULL;
	return *out || !text || err_nomem(e);
}

static bool put_cleaned(
	struct answer *a, const struct clean_job *j, struct cleaned *x, struct incore_error *e)
{
	const struct clean *k = &j->clean;

	*x = (struct cleaned){.kernel = j->run->kernel,
		.input = j->run->path,
		.evidence = j->evidence,
		.time_unit = k->time_name,
		.input_bytes = j->input_bytes,
		.events = k->n_events,
		.slices = k->slices.n,
		.arrows = k->arrows.n,
		.unmatched_sets = k->n_unmatched_sets,
		.unmatched_waits = k->n_unmatched_waits,
		.arrows_left_out = k->n_hidden_arrows + k->n_no_anchor,
		.counter_samples = k->counters.n};
	for (unsigned i = 0; i < CLEAN_FILES; i++)
		if (!put_text(a, &x->files[i], j->paths[i], e))
			return false;
	return put_lanes(a, k, &x->lanes, e);
}

static void clean_page(const struct answer *a, struct page *p)
{
	const struct clean_answer *all = a->data;
	const struct cleaned *v = all->runs.v;

	for (size_t k = 0; k < all->runs.n; k++) {
		for (unsigned i = 0; i < CLEAN_FILES; i++)
			if (v[k].files[i])
				page_line(p, "wrote %s", v[k].files[i]);
		if (v[k].raw_copy)
			page_line(p, "copied the raw files into %s", v[k].raw_copy);
	}
}

/* --- one run --- */

struct cleaning {
	const struct request *r;
	struct answer *a;
	struct clean_runs runs;
	struct clean_answer answer;
};

/* Is it our own JSON export? Its name looks like that of a file of events. */
static bool is_document(const struct request *r, const char *path)
{
	struct import_options o = request_import(r, 0);
	struct capture_list l;
	bool is_one;

	if (!import_find(path, o.cache, &l, NULL))
		return false;
	is_one = l.n == 1 && strcmp(l.v[0].ops->name, "json") == 0;
	capture_list_deinit(&l);
	return is_one;
}

/* Reads the trace; *held keeps it and its notes. */
static bool read_trace(const struct request *r, const struct clean_job *j, struct answer *held,
	struct trace **out, struct incore_error *e)
{
	struct import_options o;
	struct trace *t;

	if (j->run->is_other || (!j->run->is_bin && is_document(r, j->run->path)))
		return answer_open(held, r, j->run->path, IMPORT_ALL, out, e);
	o = request_import(r, IMPORT_TEXT);
	o.root = j->run->root;
	if (!import_read_as(clean_job_format(j), j->run->path, &o, &t, e) ||
		!ANSWER_KEEP(held, t, trace_free, e))
		return false;
	/* Defects of cycles do not matter to text that is copied. */
	if (t->text->has_numbered_lanes)
		answer_notes(held, t->notes, t->n_notes);
	*out = t;
	return true;
}

static void move_warnings(struct answer *from, struct answer *to)
{
	for (size_t i = 0; i < from->warnings.n; i++)
		answer_warn(to, "%s", from->warnings.v[i]);
	to->has_lost_warning |= from->has_lost_warning;
	to->n_notes += from->n_notes;
	to->n_losses += from->n_losses;
}

/* The trace is freed again: runs may be many. */
static bool take_trace(struct cleaning *c, struct clean_job *j, struct incore_error *e)
{
	struct answer held = {.question = c->r->question};
	struct trace *t = NULL;
	bool ok;

	arena_init(&held.arena);
	ok = read_trace(c->r, j, &held, &t, e);
	move_warnings(&held, c->a);
	if (ok && (trace_kind(t) != KIND_PIPES || (!t->n_tracks && !t->text)))
		ok = err_file(e, "no-pipes", j->run->path, INCORE_NO_OFFSET,
			"expected a trace of Ascend pipes, found %s", kind_found(t, (char[64]){0}));
	ok = ok && clean_job_take(j, t, e);
	answer_deinit(&held);
	return ok;
}

static void warn_remarks(struct answer *a, const struct clean_job *j)
{
	for (size_t i = 0; i < j->remarks.n; i++) {
		a->n_notes++;
		a->n_losses += note_is_loss(&j->remarks.v[i]);
		answer_warn(a, "%s", j->remarks.v[i].message);
	}
}

static bool clean_one(struct cleaning *c, struct clean_job *j, struct incore_error *e)
{
	struct cleaned *v = (struct cleaned *)c->answer.runs.v;

	const struct clean_params *p = c->r->params;

	if (!clean_job_open(j, e) || !take_trace(c, j, e) ||
		(p->is_bundle && !clean_job_bundle(j, NULL, e)) || !clean_job_write(j, e))
		return false;
	warn_remarks(c->a, j);
	if (c->r->is_strict && c->a->n_losses)
		return true; /* nothing is written; the losses are the asker's to report */
	/* What can fail comes before the files are in place. */
	if (!put_cleaned(c->a, j, &v[c->answer.runs.n], e) || !clean_job_commit(j, e) ||
		!put_text(c->a, &v[c->answer.runs.n].raw_copy, j->raw_path, e))
		return false;
	c->answer.runs.n++;
	return true;
}

/* --- all runs --- */

static bool make_dir(const char *path, bool *is_new, struct incore_error *e)
{
	*is_new = mkdir(path, 0777) == 0;
	if (*is_new)
		leftover_add(path, true);
	if (*is_new || (errno == EEXIST && file_is_dir(path)))
		return true;
	return err_set(e, errno == ENOENT || errno == EEXIST ? INCORE_USAGE : INCORE_FAILED,
		"cannot-create", "%s: cannot be made the output directory", path);
}

/* Every run is tried: *first is the first error, others are warnings. */
static void clean_each(
	struct cleaning *c, char **names, const char *dir, struct incore_error *first)
{
	const struct clean_params *p = c->r->params;
	const struct clean_runs *runs = &c->runs;

	for (size_t i = 0; i < runs->v.n; i++) {
		struct incore_error e = {0};
		struct clean_job j = {.run = &runs->v.v[i],
			.dir = dir,
			.prefix = runs->v.n > 1 ? names[i] : NULL,
			.is_raw_metrics = p->is_raw_metrics,
			.follow_links = c->r->follow_links,
			.is_copy_raw = p->is_copy_raw && !runs->v.v[i].is_other};

		j.options = (struct clean_options){.is_legacy = p->is_legacy,
			.keep_scalar = p->keep_scalar,
			.keep_all = p->keep_all,
			.progress = c->r->progress};
		if (file_size(j.run->path) >= LEAST_SPILLED_BYTES)
			spill_begin(dir);
		if (!clean_one(c, &j, &e)) {
			spill_error(&e);
			if (first->status == INCORE_OK)
				err_move(first, &e);
			else
				answer_warn(c->a, "%s: %s", j.run->path,
					e.message ? e.message : "failed");
			incore_error_clear(&e);
		}
		clean_job_deinit(&j);
		spill_end();
	}
}

/* Default directory. With --legacy that of the older cleaner: beside the input. */
static const char *default_dir(const struct clean_params *p, struct clean_runs *runs)
{
	struct str path = str_of(runs->v.v[0].path);
	ptrdiff_t slash = str_rfind_char(path, '/');

	if (!p->is_legacy || runs->v.v[0].is_other || slash < 0)
		return ".";
	return slash == 0 ? "/" : arena_strndup(&runs->arena, path.p, (size_t)slash);
}

static bool clean_all(struct cleaning *c, struct incore_error *e)
{
	const struct clean_params *p = c->r->params;
	const char *dir = p->output ? p->output : default_dir(p, &c->runs);
	char **names = clean_name_runs(&c->runs);
	struct incore_error first = {0};
	bool is_new = false;

	if (!names || !dir)
		return err_nomem(e);
	if (!ANSWER_ROWS(c->a, &c->answer.runs, c->runs.v.n, cleaned, e) ||
		!make_dir(dir, &is_new, e))
		return false;
	c->answer.runs.n = 0;
	clean_each(c, names, dir, &first);
	if (is_new && !c->answer.runs.n)
		rmdir(dir);
	leftover_drop(dir);
	/* Finished runs are reported in full even if another one failed. */
	err_move(c->answer.runs.n ? &c->a->failure : e, &first);
	return c->answer.runs.n || e->status == INCORE_OK;
}

static void drop_cleaning(struct cleaning *c)
{
	clean_runs_deinit(&c->runs);
	mem_free(c);
}

static bool check_bundle(const struct clean_params *p, struct incore_error *e)
{
	return !p->is_bundle || !(p->is_legacy || p->is_no_copy_raw) ||
	       err_set(e, INCORE_USAGE, "bad-option",
		       "--bundle has its own names and the raw files: without --legacy and --no-copy-raw");
}

static bool clean_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct cleaning *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	if (!check_bundle(r->params, e)) {
		mem_free(c);
		return false;
	}
	arena_init(&c->runs.arena);
	if (!ANSWER_KEEP(a, c, drop_cleaning, e))
		return false;
	c->r = r;
	c->a = a;
	for (unsigned i = 0; i < r->n_paths; i++)
		if (!clean_find_listed(&c->runs, r->paths[i], e))
			return false;
	if (c->runs.n_unreadable) {
		answer_warn(a,
			"missing: %u folder%s could not be listed; runs in there are left out",
			c->runs.n_unreadable, plural(c->runs.n_unreadable));
		a->n_losses++;
	}
	answer_set(a, &answer_record, &c->answer);
	if (!clean_all(c, e))
		return false;
	a->is_written = a->failure.status == INCORE_OK;
	return true;
}

const struct question question_clean = {
	.name = "clean",
	.summary = "make an Ascend simulator trace readable",
	.args = "PATH...",
	.min_paths = 1,
	.max_paths = 1000,
	.groups = OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct clean_params),
	.records = RECORDS(&answer_record),
	.ask = clean_ask,
	.page = clean_page,
};
