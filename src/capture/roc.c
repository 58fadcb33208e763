/* SPDX-License-Identifier: Apache-2.0 */
/* roc.c: runs of an application below rocprofv3, and what stays of them. */
#include "capture/roc.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "analysis/name_filter.h"
#include "answer/rows.h"
#include "base/file.h"
#include "capture/folder.h"

#define GRACE_MS 30000 /* for an application to end in its own way */
#define MAX_DEPTH 2    /* rocprofv3 may put its files below the host's name */

void roc_init(struct roc *r, const struct roc_request *q)
{
	*r = (struct roc){.q = q, .answer = {.directory = q->dir, .verdict = "planned"}};
	arena_init(&r->arena);
}

void roc_deinit(struct roc *r)
{
	for (size_t i = 0; i < r->answer.runs.n; i++)
		job_result_deinit(&r->answer.runs.v[i].result);
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

struct str roc_said(const struct roc_run *t)
{
	return (struct str){t->result.tail.p ? t->result.tail.p : "", t->result.tail.n};
}

bool roc_warn(struct roc *r, struct incore_error *e, const char *fmt, ...)
{
	struct strbuf b = {0};
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	text = b.failed ? NULL : arena_strndup(&r->arena, b.p, b.n);
	sb_free(&b);
	return (text && VEC_PUSH(&r->answer.warnings, text)) || err_nomem(e);
}

bool roc_open(struct roc *r, const char *const *needs, struct incore_error *e)
{
	struct folder f;

	if (!rocprof_find(&r->tool, r->q->tool, &r->arena, e))
		return false;
	r->answer.tool = r->tool.path;
	r->answer.version = r->tool.version;
	for (; *needs; needs++)
		if (!rocprof_has(&r->tool, *needs))
			return err_set(e, INCORE_MISSING, "tool-too-old",
				"rocprofv3 %s at %s has no %s", r->tool.version, r->tool.path,
				*needs);
	if (r->q->is_dry)
		return true;
	if (!folder_open(&f, r->q->dir, &r->journal, &r->arena, e))
		return false;
	r->answer.directory = f.real;
	r->answer.journal = f.journal;
	return true;
}

/* --- input.yaml --- */

void roc_put_key(struct strbuf *out, const char *key, const char *value)
{
	sb_printf(out, "    %s: \"", key);
	for (const char *p = value; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 127) {
			sb_printf(out, "\\x%02x", (unsigned)(unsigned char)*p);
			continue;
		}
		if (*p == '"' || *p == '\\')
			sb_putc(out, '\\');
		sb_putc(out, *p);
	}
	sb_puts(out, "\"\n");
}

/* Comments cannot be left by a line break in what they hold. */
static void put_comment(struct strbuf *out, const char *what, const char *text)
{
	sb_printf(out, "# %s", what);
	for (const char *p = text; *p; p++)
		sb_add(out, (unsigned char)*p < ' ' ? " " : p, 1);
	sb_putc(out, '\n');
}

void roc_put_head(const struct rocprof *tool, const char *verb, const char *const *app,
	const char *because, struct strbuf *out)
{
	struct strbuf words = {0};

	process_quote(app, &words);
	sb_printf(out, "# Written by incore " INCORE_VERSION " %s.\n", verb);
	sb_printf(out, "# rocprofv3 %s: %s\n", tool->version, tool->path);
	put_comment(out, "for: ", words.p ? words.p : "");
	put_comment(out, "because: ", because);
	sb_puts(out, "jobs:\n  -\n");
	out->failed |= words.failed;
	sb_free(&words);
}

const char *const *roc_command(struct arena *a, const struct rocprof *tool, const char *input,
	const char *const *app, uint64_t attach_pid)
{
	size_t n = 0, at = 0;
	const char **v;

	while (app[n])
		n++;
	v = arena_zalloc(a, n + 6, sizeof(*v));
	if (!v)
		return NULL;
	v[at++] = tool->path;
	v[at++] = "-i";
	v[at++] = input;
	if (attach_pid != NO_COUNT) {
		v[at++] = "--attach";
		v[at] = arena_printf(a, "%llu", (unsigned long long)attach_pid);
		return v[at] ? v : NULL;
	}
	v[at++] = "--";
	for (size_t i = 0; i < n; i++)
		v[at++] = app[i];
	return v;
}

/* What was put into b, in the arena. */
static const char *taken(struct roc *r, struct strbuf *b)
{
	const char *copy = b->failed ? NULL : arena_strndup(&r->arena, b->p ? b->p : "", b->n);

	sb_free(b);
	return copy;
}

bool roc_plan(struct roc *r, const char *name, const char *because, const struct strbuf *settings,
	struct incore_error *e)
{
	struct arena *m = &r->arena;
	struct roc_run t = {.name = arena_strdup(m, name),
		.because = arena_strdup(m, because),
		.outcome = "planned",
		.folder = arena_printf(m, "%s/%s", r->answer.directory, name),
		.raw = arena_printf(m, "%s/%s/raw", r->answer.directory, name),
		.input = arena_printf(m, "%s/%s/input.yaml", r->answer.directory, name),
		.log = arena_printf(m, "%s/%s/log", r->answer.directory, name)};
	struct strbuf b = {0}, command = {0};

	t.argv = t.input ? roc_command(m, &r->tool, t.input, r->q->app, NO_COUNT) : NULL;
	if (!t.name || !t.because || !t.folder || !t.raw || !t.log || !t.argv || settings->failed)
		return err_nomem(e);
	roc_put_head(&r->tool, "capture", r->q->app, because, &b);
	if (r->q->kernel)
		roc_put_key(&b, "kernel_include_regex", r->q->kernel);
	if (r->q->exclude)
		roc_put_key(&b, "kernel_exclude_regex", r->q->exclude);
	sb_str(&b, (struct str){settings->p, settings->n});
	roc_put_key(&b, "output_file", "out_%pid%");
	roc_put_key(&b, "output_directory", t.raw);
	process_quote(t.argv, &command);
	t.command = taken(r, &command);
	t.configuration = taken(r, &b);
	return (t.command && t.configuration && VEC_PUSH(&r->answer.runs, t)) || err_nomem(e);
}

/* --- a run --- */

bool roc_run_last(struct roc *r, struct incore_error *e)
{
	const struct roc_request *q = r->q;
	struct roc_run *t = roc_last(r);
	struct job j = {.name = t->name,
		.argv = t->argv,
		.limit_ms = q->limit_s * 1000,
		.grace_ms = GRACE_MS,
		.log_path = t->log,
		.echo_fd = q->echo_fd,
		.journal = &r->journal,
		.is_cancelled = q->is_cancelled,
		.cancel_signal = q->cancel_signal};

	t->outcome = "not finished";
	if (mkdir(t->folder, 0777) != 0 || mkdir(t->raw, 0777) != 0)
		return err_output(e, errno, t->folder, "cannot make the directory");
	leftover_add(t->raw, false);
	if (!folder_write(t->input, str_of(t->configuration), e) || !job_run(&j, &t->result, e))
		return false;
	t->status = job_exit_status(&t->result.process);
	t->outcome = t->status ? "failed" : "ended well";
	if (t->result.process.end == PROCESS_CANCELLED)
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted while %s ran; log %s",
			t->name, t->log);
	return true;
}

const char *roc_known_trouble(struct str said)
{
	if (str_has(said, "decoder") &&
		(str_has(said, "not found") || str_has(said, "could not find")))
		return "it wants AMD's decoder library, which incore does not need: install rocprof-trace-decoder, or a release that traces without it (ROCm 7.13)";
	if (str_has(said, "/dev/kfd") || str_has(said, "ermission denied"))
		return "it may not use the device: see incore doctor att";
	if (str_has(said, "already in use") || str_has(said, "context conflict"))
		return "another profiler holds the device, or the application starts processes of its own: trace one process, or one rank";
	return NULL;
}

bool roc_app_failed(struct roc *r, struct incore_error *e)
{
	const struct roc_run *t = roc_last(r);
	const char *trouble = roc_known_trouble(roc_said(t));
	struct strbuf how = {0};

	r->app_status = (int)t->status;
	job_describe(&(struct job){.argv = t->argv, .limit_ms = r->q->limit_s * 1000},
		&t->result.process, &how);
	err_set(e, INCORE_FAILED, "app-failed",
		"%s of rocprofv3 with the application: %s; log %s; %s%.*s", t->name,
		how.p ? how.p : "", t->log, trouble ? "" : "it ends: ",
		STR_ARG(trouble ? str_of(trouble) : job_last_line(&t->result)));
	sb_free(&how);
	return false;
}

/* --- what it left --- */

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
	struct listing x = {.dir = roc_last(r)->raw, .suffix = suffix, .fn = fn, .ctx = ctx};

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
	struct incore_error late = {0};

	if (r->q->is_dry || !r->answer.journal)
		return ok;
	for (size_t i = 0; i < r->answer.runs.n; i++) {
		if (!r->q->keeps_raw)
			remove_tree(r->answer.runs.v[i].raw);
		leftover_drop(r->answer.runs.v[i].raw);
	}
	r->is_no |= !r->answer.captures.n && !r->answer.counters.n;
	r->answer.verdict = !ok ? "failed" : r->is_no ? "unusable" : "usable";
	if (folder_write_result(r->q->dir, &roc_record, &r->answer, &r->arena, &late))
		return ok;
	if (!ok) /* the first failure is the one to tell */
		incore_error_clear(&late);
	else
		err_move(e, &late);
	return false;
}

/* --- fields --- */

static const struct column run_columns[] = {
	COLUMN(roc_run, name, UNIT_NONE, "its folder in the directory"),
	COLUMN(roc_run, because, UNIT_NONE, "why it asks for what it asks for"),
	COLUMN(roc_run, counters, UNIT_NONE, "counters of this pass", NULLABLE),
	COLUMN(roc_run, input, UNIT_NONE, "configuration that was given to rocprofv3"),
	COLUMN(roc_run, configuration, UNIT_NONE, "what stands in it"),
	COLUMN(roc_run, command, UNIT_NONE, "command that was run"),
	COLUMN(roc_run, log, UNIT_NONE, "what it printed"),
	COLUMN(roc_run, status, UNIT_NONE, "exit status of rocprofv3: the application's"),
	COLUMN(roc_run, outcome, UNIT_NONE, "what came of it"),
};
static const struct record roc_run_record = RECORD_OF(roc_run, RECORD_BLOCK, run_columns);

static const struct column capture_columns[] = {
	COLUMN(roc_capture, file, UNIT_NONE, "what incore reads"),
	COLUMN(roc_capture, kernel, UNIT_NONE, "kernel, where it is of one", NULLABLE),
	COLUMN(roc_capture, samples, UNIT_COUNT, "PC samples in it"),
	COLUMN(roc_capture, launches, UNIT_COUNT, "launches of kernels that it covers"),
	COLUMN(roc_capture, slices, UNIT_COUNT, "calls, launches, copies and markers in it"),
	COLUMN(roc_capture, health, UNIT_NONE, "what reading it says"),
};
static const struct record roc_capture_record =
	RECORD_OF(roc_capture, RECORD_BLOCK, capture_columns);

static const struct column counter_columns[] = {
	COLUMN(roc_counter, kernel, UNIT_NONE, "name of the kernel", .flags = COLUMN_WIDE),
	COLUMN(roc_counter, counter, UNIT_NONE, "name of the counter"),
	COLUMN(roc_counter, pass, UNIT_INDEX, "run that it was taken in, from 1"),
	COLUMN(roc_counter, launches, UNIT_COUNT, "launches with a value"),
	COLUMN(roc_counter, sum, UNIT_NONE, "of all launches", .digits = 3),
	COLUMN(roc_counter, mean, UNIT_NONE, "of a launch", .digits = 3),
	COLUMN(roc_counter, least, UNIT_NONE, "of a launch", .title = "min", .digits = 3),
	COLUMN(roc_counter, most, UNIT_NONE, "of a launch", .title = "max", .digits = 3),
};
const struct record roc_counter_record = RECORD_OF(roc_counter, RECORD_BLOCK, counter_columns);

static const struct column roc_columns[] = {
	COLUMN(roc_answer, tool, UNIT_NONE, "rocprofv3 that was used"),
	COLUMN(roc_answer, version, UNIT_NONE, "its release"),
	COLUMN(roc_answer, directory, UNIT_NONE, "where the results are"),
	COLUMN(roc_answer, journal, UNIT_NONE, "what was run, a line a fact", NULLABLE),
	COLUMN(roc_answer, verdict, UNIT_NONE, "whether something came of it",
		.words = "usable|unusable|failed|planned"),
	COLUMN(roc_answer, method, UNIT_NONE, "how PC samples were taken", NULLABLE),
	COLUMN(roc_answer, interval, UNIT_NONE,
		"between samples: cycles, or microseconds of host_trap; 0: no samples"),
	COLUMN(roc_answer, table, UNIT_NONE, "CSV file with the counters of every launch",
		NULLABLE),
	VECTOR(roc_answer, runs, "runs", &roc_run_record, "runs of the application"),
	VECTOR(roc_answer, captures, "captures", &roc_capture_record, "what came of them"),
	VECTOR(roc_answer, counters, "counters", &roc_counter_record,
		"counters by kernel, and the pass of each"),
	VECTOR(roc_answer, refused, "refused", &text_item_record, "counters that were not taken"),
};
const struct record roc_record = RECORD_OF(roc_answer, RECORD_BLOCK, roc_columns);
