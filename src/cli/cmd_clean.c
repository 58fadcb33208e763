/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_clean.c: makes a simulator's trace readable. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/ask.h"
#include "cli/draw.h"
#include "export/clean/clean_job.h"
#include "export/clean/spill.h"
#include "page/say.h"
#include "trace/kind.h"
#include "trace/trace_text.h"

static const struct option_def clean_options_table[] = {
	{OPT_KEEP_SCALAR, NULL, NULL, "keep the lane SCALAR"},
	{OPT_KEEP_ALL, NULL, NULL, "keep SCALAR, FLOWCTRL, CACHEMISS and ALL too"},
	{OPT_LEGACY, NULL, NULL, "write trace.clean.json with the events of the older cleaner"},
	{OPT_RAW_METRICS, NULL, NULL,
		"write the API_INSTR block to instr_metrics.json byte for byte"},
	{OPT_COPY_RAW, NULL, NULL, "copy the folder of the input to raw_simulator"},
	{OPT_NO_COPY_RAW, NULL, NULL,
		"do not copy (default; accepts command lines of the older cleaner)"},
	OPTION_END,
};

/* For smaller files everything is kept in memory. */
#define LEAST_SPILLED_BYTES ((int64_t)256 << 20)

struct runs_out {
	struct cli *c;
	struct json_writer w;
	bool is_open; /* the envelope, opened once there is something to put into it */
	uint32_t n_done;
};

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

static const struct column source_columns[] = {
	COLUMN(clean_run, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN_AS(clean_run, path, "input", UNIT_NONE, "file or folder that was read"),
};
static const struct record source_record = RECORD_OF(clean_run, RECORD_BLOCK, source_columns);

static const struct column files_columns[] = {
	PART_AT(clean_job, run, &source_record),
	COLUMN(clean_job, input_bytes, UNIT_BYTES, "size of the input"),
	EVIDENCE_COLUMN(clean_job, "what its figures rest on"),
	COLUMN_AS(clean_job, paths[CLEAN_TRACE], "trace", UNIT_NONE, "path of the readable trace"),
	COLUMN_AS(clean_job, paths[CLEAN_METRICS], "metrics", UNIT_NONE,
		"path of the metrics of instructions", NULLABLE),
	COLUMN_AS(clean_job, paths[CLEAN_SUMMARY], "summary", UNIT_NONE,
		"path of the sums of pipes", NULLABLE),
	COLUMN_AS(clean_job, raw_path, "raw_copy", UNIT_NONE,
		"path of the copy of the input folder", NULLABLE),
	COLUMN_AS(clean_job, clean.time_name, "time_unit", UNIT_NONE, "unit of all times",
		.words = "us|cycles"),
	COLUMN_AS(clean_job, clean.n_events, "events", UNIT_COUNT,
		"number of events that were written"),
	COLUMN_AS(
		clean_job, clean.slices.n, "slices", UNIT_COUNT, "number of slices that were read"),
	COLUMN_AS(clean_job, clean.arrows.n, "arrows", UNIT_COUNT,
		"number of arrows from SET to WAIT"),
	COLUMN_AS(clean_job, clean.n_unmatched_sets, "unmatched_sets", UNIT_COUNT,
		"flags that are set but never waited for"),
	COLUMN_AS(clean_job, clean.n_unmatched_waits, "unmatched_waits", UNIT_COUNT,
		"waits for a flag that is never set"),
};
static const struct record files_record = RECORD_OF(clean_job, RECORD_BLOCK, files_columns);

struct cleaned {
	const struct clean_job *job;
	uint64_t arrows_left_out, counter_samples;
	struct rows lanes;
};
static const struct column cleaned_columns[] = {
	PART_AT(cleaned, job, &files_record),
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

static bool print_json(struct json_writer *w, const struct clean_job *j, struct incore_error *e)
{
	const struct clean *k = &j->clean;
	struct clean_lane *used = mem_zalloc(k->lanes.n + 1, sizeof(*used));
	struct cleaned x = {j, k->n_hidden_arrows + k->n_no_anchor, k->counters.n, {used, 0}};

	if (!used)
		return err_nomem(e);
	for (size_t i = 0; i < k->lanes.n; i++)
		if (k->lanes.v[i].n)
			used[x.lanes.n++] = k->lanes.v[i];
	record_json(&cleaned_record, &x, w);
	mem_free(used);
	return true;
}

static void open_envelope(struct runs_out *r)
{
	cli_json_begin(r->c, &r->w, NULL, 0);
	json_w_object(&r->w);
	json_w_kv_array(&r->w, "runs");
	r->is_open = true;
}

static bool close_envelope(struct runs_out *r)
{
	json_w_end(&r->w);
	json_w_end(&r->w);
	return cli_json_end(r->c, &r->w);
}

static void print_text(struct cli *c, const struct clean_job *j)
{
	for (unsigned i = 0; i < CLEAN_FILES; i++)
		if (j->paths[i])
			say(c->out, "wrote %s\n", j->paths[i]);
	if (j->raw_path)
		say(c->out, "copied the raw files into %s\n", j->raw_path);
}

/* Is it our own JSON export? Its name looks like that of a file of events. */
static bool is_document(const struct asked *x, const char *path)
{
	struct import_options o = request_import(&x->request, 0);
	struct capture_list l;
	bool is_one;

	if (!import_find(path, o.cache, &l, NULL))
		return false;
	is_one = l.n == 1 && strcmp(l.v[0].ops->name, "json") == 0;
	capture_list_deinit(&l);
	return is_one;
}

/* The trace belongs to x. */
static bool read_trace(
	struct cli *c, const struct clean_job *j, struct asked *x, struct trace **out)
{
	struct import_options o;
	struct trace *t;

	if (!cli_begin(c, x))
		return false;
	if (j->run->is_other || (!j->run->is_bin && is_document(x, j->run->path)))
		return cli_open(c, x, j->run->path, IMPORT_ALL, out);
	o = request_import(&x->request, IMPORT_TEXT);
	o.root = j->run->root;
	if (!import_read_as(clean_job_format(j), j->run->path, &o, &t, &c->error) ||
		!ANSWER_KEEP(&x->answer, t, trace_free, &c->error))
		return false;
	/* Defects of cycles do not matter to text that is copied. */
	if (t->text->has_numbered_lanes)
		answer_notes(&x->answer, t->notes, t->n_notes);
	cli_move_warnings(c, &x->answer);
	*out = t;
	return true;
}

static bool take_trace(struct cli *c, struct clean_job *j)
{
	struct asked x;
	struct trace *t = NULL;
	bool ok = read_trace(c, j, &x, &t);

	if (ok && (trace_kind(t) != KIND_PIPES || (!t->n_tracks && !t->text)))
		ok = err_file(&c->error, "no-pipes", j->run->path, INCORE_NO_OFFSET,
			"expected a trace of Ascend pipes, found %s",
			t->n_tracks ? vendor_name(t->meta.vendor) : "no slice");
	ok = ok && clean_job_take(j, t, &c->error);
	cli_answered(&x);
	return ok;
}

static void tell(struct cli *c, const struct clean_job *j)
{
	for (size_t i = 0; i < j->remarks.n; i++) {
		c->n_notes++;
		c->n_losses += j->remarks.v[i].is_loss;
		cli_warn(c, "%s", j->remarks.v[i].text);
	}
}

static bool clean_one(struct runs_out *r, struct clean_job *j)
{
	struct cli *c = r->c;

	if (!clean_job_open(j, &c->error) || !take_trace(c, j) || !clean_job_write(j, &c->error))
		return false;
	tell(c, j);
	if (cli_flag(c, "strict") && c->n_losses)
		return true; /* nothing is written; main.c reports why */
	if (!clean_job_commit(j, &c->error))
		return false;
	r->n_done++;
	if (!c->use_json) {
		print_text(c, j);
		return true;
	}
	if (!r->is_open)
		open_envelope(r);
	return print_json(&r->w, j, &c->error);
}

/* --- the verb --- */

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

static void run_all(
	struct runs_out *r, const struct clean_runs *runs, char **names, const char *dir)
{
	struct cli *c = r->c;
	struct incore_error first = {0};

	for (size_t i = 0; i < runs->v.n; i++) {
		struct clean_job j = {.run = &runs->v.v[i],
			.dir = dir,
			.prefix = runs->v.n > 1 ? names[i] : NULL,
			.is_raw_metrics = cli_flag(c, "raw-metrics"),
			.follow_links = cli_flag(c, "follow-links"),
			.is_copy_raw = cli_flag(c, "copy-raw") && !runs->v.v[i].is_other};

		j.options = (struct clean_options){.is_legacy = cli_flag(c, "legacy"),
			.keep_scalar = cli_flag(c, "keep-scalar"),
			.keep_all = cli_flag(c, "keep-all"),
			.progress = c->progress};
		if (file_size(j.run->path) >= LEAST_SPILLED_BYTES)
			spill_begin(dir);
		if (!clean_one(r, &j)) {
			spill_error(&c->error);
			if (first.status == INCORE_OK)
				err_move(&first, &c->error);
			else
				cli_warn(c, "%s: %s", j.run->path,
					c->error.message ? c->error.message : "failed");
			incore_error_clear(&c->error);
		}
		clean_job_deinit(&j);
		spill_end();
	}
	err_move(&c->error, &first);
}

/* Default directory. With --legacy that of the older cleaner: beside the input. */
static const char *default_dir(struct cli *c, struct clean_runs *runs)
{
	struct str path = str_of(runs->v.v[0].path);
	ptrdiff_t slash = str_rfind_char(path, '/');

	if (!cli_flag(c, "legacy") || runs->v.v[0].is_other || slash < 0)
		return ".";
	return slash == 0 ? "/" : arena_strndup(&runs->arena, path.p, (size_t)slash);
}

static bool clean_all(struct cli *c, struct clean_runs *runs)
{
	const char *dir = cli_text(c, "output");
	char **names = clean_name_runs(runs);
	struct runs_out r = {.c = c};
	bool is_new = false;

	dir = dir ? dir : default_dir(c, runs);
	if (!names || !dir)
		return err_nomem(&c->error);
	if (!make_dir(dir, &is_new, &c->error))
		return false;
	run_all(&r, runs, names, dir);
	if (is_new && !r.n_done)
		rmdir(dir);
	leftover_drop(dir);
	if (c->use_json && !r.is_open && !c->error.status)
		open_envelope(&r);
	/* Finished runs are reported in full even if another one failed. */
	return (!r.is_open || close_envelope(&r)) && !c->error.status;
}

static bool run(struct cli *c)
{
	struct clean_runs runs = {0};
	bool ok = true;

	arena_init(&runs.arena);
	for (unsigned i = 0; ok && i < c->n_args; i++)
		ok = clean_find_listed(&runs, c->args[i], &c->error);
	if (runs.n_unreadable) {
		cli_warn(c, "missing: %u folder%s could not be listed; runs in there are left out",
			runs.n_unreadable, plural(runs.n_unreadable));
		c->n_losses++;
	}
	ok = ok && clean_all(c, &runs);
	clean_runs_deinit(&runs);
	return ok;
}

const struct verb verb_clean = {
	.name = "clean",
	.args = "PATH...",
	.summary = "make an Ascend simulator trace readable",
	.groups = OPTIONS_OUTPUT | OPTIONS_CAPTURE | OPTIONS_OWN_FILE,
	.options = clean_options_table,
	.min_args = 1,
	.max_args = 1000,
	.run = run,
	.records = RECORDS(&answer_record),
};
