/* SPDX-License-Identifier: Apache-2.0 */
/* att.c: discovery, attempts until one can be trusted, and what stays in the directory. */
#include "capture/att.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

#define JOURNAL "journal"
#define RESULT "capture.json"
#define GRACE_MS 30000 /* for an application to end in its own way */
#define SPARE_BYTES ((uint64_t)64 << 20) /* of disk, besides the buffer */

void att_init(struct att *a, const struct att_request *q)
{
	*a = (struct att){.q = q, .answer = {.directory = q->dir}};
	arena_init(&a->arena);
	launches_init(&a->launches);
}

void att_deinit(struct att *a)
{
	for (size_t i = 0; i < a->answer.attempts.n; i++)
		VEC_FREE(&a->answer.attempts.v[i].captures);
	VEC_FREE(&a->answer.attempts);
	VEC_FREE(&a->answer.kernels);
	VEC_FREE(&a->answer.warnings);
	VEC_FREE(&a->window.launches.ranges);
	VEC_FREE(&a->tried.ranges);
	journal_close(&a->journal);
	launches_deinit(&a->launches);
	arena_deinit(&a->arena);
}

/* --- files --- */

static bool write_text(const char *path, const struct strbuf *text, struct incore_error *e)
{
	struct out_file out = {0};
	bool ok = (!text->failed || err_nomem(e)) && out_file_open(&out, path, e);

	if (ok && text->n && fwrite(text->p, 1, text->n, out.f) != text->n)
		ok = err_write(e);
	ok = ok && out_file_commit(&out, e);
	out_file_abort(&out);
	return ok;
}

static bool refuse_entry(void *ctx, const char *name, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "directory-used",
		"%s holds %s: a directory that is used again mixes runs; name a new one with -o",
		(const char *)ctx, name);
}

/* The directory, new or empty, as an absolute path: the tool and the app may change theirs. */
static bool make_directory(struct att *a, struct incore_error *e)
{
	const char *dir = a->q->dir;
	char *real;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_output(e, errno, dir, "cannot make the directory");
	if (!dir_each(dir, refuse_entry, (void *)dir, e))
		return false;
	real = realpath(dir, NULL);
	a->answer.directory = real ? arena_strdup(&a->arena, real) : NULL;
	free(real);
	a->answer.journal = arena_printf(&a->arena, "%s/" JOURNAL, dir);
	if (!a->answer.directory || !a->answer.journal)
		return err_nomem(e);
	return journal_open(&a->journal, a->answer.journal, NULL, NULL, e);
}

static bool check_room(const struct att *a, struct incore_error *e)
{
	struct statvfs fs;
	uint64_t need = a->window.buffer_bytes + SPARE_BYTES, room;

	if (statvfs(a->answer.directory, &fs) != 0)
		return true; /* what cannot be told is found out */
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room >= need)
		return true;
	return err_set(e, INCORE_FAILED, "no-room",
		"%s has room for %llu MiB, and a buffer of %llu MiB may fill %llu", a->q->dir,
		(unsigned long long)(room >> 20),
		(unsigned long long)(a->window.buffer_bytes >> 20),
		(unsigned long long)(need >> 20));
}

/* --- one run of rocprofv3 --- */

struct tool_run {
	const char *name; /* "discovery", "attempt_1": also its folder */
	const char *folder, *raw, *input, *log;
	const char *const *argv;
	struct job_result result;
};

static bool prepare_run(struct att *a, struct tool_run *r, const struct att_window *w,
	const char *because, struct incore_error *e)
{
	struct strbuf yaml = {0};
	bool ok;

	r->folder = arena_printf(&a->arena, "%s/%s", a->answer.directory, r->name);
	r->raw = r->folder ? arena_printf(&a->arena, "%s/raw", r->folder) : NULL;
	r->input = r->folder ? arena_printf(&a->arena, "%s/input.yaml", r->folder) : NULL;
	r->log = r->folder ? arena_printf(&a->arena, "%s/log", r->folder) : NULL;
	r->argv = r->input ? att_command(a, r->input) : NULL;
	if (!r->raw || !r->log || !r->argv)
		return err_nomem(e);
	if (mkdir(r->folder, 0777) != 0 || mkdir(r->raw, 0777) != 0)
		return err_output(e, errno, r->folder, "cannot make the directory");
	ok = att_put_yaml(a, w, r->raw, because, &yaml, e) && write_text(r->input, &yaml, e);
	sb_free(&yaml);
	return ok;
}

static bool run_tool(struct att *a, struct tool_run *r, struct incore_error *e)
{
	const struct att_request *q = a->q;
	struct job j = {.name = r->name,
		.argv = r->argv,
		.limit_ms = q->limit_s * 1000,
		.grace_ms = GRACE_MS,
		.log_path = r->log,
		.echo_fd = q->echo_fd,
		.journal = &a->journal,
		.is_cancelled = q->is_cancelled,
		.cancel_signal = q->cancel_signal};

	leftover_add(r->raw, false);
	if (!job_run(&j, &r->result, e))
		return false;
	if (r->result.process.end == PROCESS_CANCELLED)
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted while %s ran; log %s",
			r->name, r->log);
	return true;
}

/* What the tool says it lacks, in place of its last line. */
static const char *known_trouble(struct str said)
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

static bool app_failed(struct att *a, const struct tool_run *r, struct incore_error *e)
{
	struct strbuf how = {0};
	struct str said = {r->result.tail.p ? r->result.tail.p : "", r->result.tail.n};
	const char *trouble = known_trouble(said);

	a->app_status = job_exit_status(&r->result.process);
	job_describe(&(struct job){.argv = r->argv, .limit_ms = a->q->limit_s * 1000},
		&r->result.process, &how);
	err_set(e, INCORE_FAILED, "app-failed",
		"%s of rocprofv3 with the application: %s; log %s; %s%.*s", r->name,
		how.p ? how.p : "", r->log, trouble ? "" : "it ends: ",
		STR_ARG(trouble ? str_of(trouble) : job_last_line(&r->result)));
	sb_free(&how);
	return false;
}

static void end_run(struct att *a, struct tool_run *r)
{
	if (r->raw && !a->q->keeps_raw)
		remove_tree(r->raw);
	if (r->raw)
		leftover_drop(r->raw);
	job_result_deinit(&r->result);
}

/* --- discovery --- */

static bool list_kernels(struct att *a, struct incore_error *e)
{
	const struct launches *l = &a->launches;
	double all = 0;

	for (size_t i = 0; i < l->kernels.n; i++)
		all += (double)l->kernels.v[i].total_ns;
	for (size_t i = 0; i < l->kernels.n; i++) {
		const struct seen_kernel *k = &l->kernels.v[i];
		struct att_kernel row = {.name = k->name,
			.id = k->id,
			.process = k->process,
			.launches = k->launches,
			.first_dispatch = k->first_dispatch,
			.total_us = (double)k->total_ns / 1000,
			.mean_us = (double)k->total_ns / 1000 / k->launches,
			.longest_us = (double)k->longest_ns / 1000,
			.share = all > 0 ? 100 * (double)k->total_ns / all : 0};

		if (!VEC_PUSH(&a->answer.kernels, row))
			return err_nomem(e);
	}
	return true;
}

bool att_discover(struct att *a, struct incore_error *e)
{
	struct tool_run r = {.name = "discovery"};
	bool ok;

	if (!rocprof_has(&a->tool, "--kernel-trace"))
		return err_set(e, INCORE_MISSING, "no-kernel-trace",
			"rocprofv3 %s has no --kernel-trace: name --kernel and --launch, with --no-discovery",
			a->tool.version);
	ok = (a->answer.journal || make_directory(a, e)) &&
	     prepare_run(a, &r, NULL, ATT_DISCOVERY_REASON, e) && run_tool(a, &r, e);
	if (ok && (r.result.process.end != PROCESS_EXITED || r.result.process.code))
		ok = app_failed(a, &r, e);
	ok = ok && launches_read(&a->launches, r.raw, e) && launches_finish(&a->launches, e) &&
	     list_kernels(a, e);
	a->has_launches = ok;
	a->answer.verdict = "listed";
	end_run(a, &r);
	return ok;
}

/* --- attempts --- */

static bool warn(struct att *a, struct incore_error *e, const char *text)
{
	return (text && VEC_PUSH(&a->answer.warnings, text)) || err_nomem(e);
}

/* What was set in this shell would change what the tool does. */
static bool warn_of_environment(struct att *a, struct incore_error *e)
{
	static const char *const STARTS[] = {"ROCPROF_ATT_",
		"ROCPROF_ADVANCED_THREAD_TRACE=", "ROCPROFILER_SQTT_", "HSA_CU_MASK="};
	bool ok = true;

	for (char **p = environ; ok && *p; p++)
		for (size_t i = 0; ok && i < sizeof(STARTS) / sizeof(*STARTS); i++)
			if (strncmp(*p, STARTS[i], strlen(STARTS[i])) == 0)
				ok = warn(a, e,
					arena_printf(&a->arena,
						"%.*s is set in the environment and may change what is traced",
						(int)strcspn(*p, "="), *p));
	for (const struct rocprof_fault *f = rocprof_faults; ok && f->id; f++)
		if (rocprof_has_fault(&a->tool, f))
			ok = warn(a, e,
				arena_printf(&a->arena, "rocprofv3 %s %s: %s", a->tool.version,
					f->what, f->fix));
	return ok;
}

static bool has_lost(const struct tool_run *r)
{
	struct str said = {r->result.tail.p ? r->result.tail.p : "", r->result.tail.n};

	return str_has(said, "Thread trace buffer full") || str_has(said, "Data Lost") ||
	       str_has(said, "STITCH_INCOMPLETE");
}

static bool describe_attempt(struct att *a, const struct tool_run *r, const char *because,
	struct att_attempt *t, struct incore_error *e)
{
	struct strbuf set = {0}, command = {0};

	att_put_set(&a->window.launches, "", "", &set);
	process_quote(r->argv, &command);
	*t = (struct att_attempt){.number = a->answer.attempts.n + 1,
		.because = arena_strdup(&a->arena, because),
		.input = r->input,
		.log = r->log,
		.command = arena_strndup(&a->arena, command.p ? command.p : "", command.n),
		.launches = arena_strndup(&a->arena, set.p ? set.p : "", set.n),
		.cu = a->window.cu,
		.se_mask = a->window.se_mask,
		.simd = a->window.simd,
		.buffer_bytes = a->window.buffer_bytes,
		.outcome = "not finished"};
	sb_free(&set);
	sb_free(&command);
	for (size_t i = 0; i < a->window.launches.ranges.n; i++)
		if (!VEC_PUSH(&a->tried.ranges, a->window.launches.ranges.v[i]))
			return err_nomem(e);
	return (t->because && t->command && t->launches) || err_nomem(e);
}

static const char *outcome_of(const struct att_attempt *t, const struct att_sight *s)
{
	if (!t->captures.n)
		return "no stream was written";
	if (s->is_empty)
		return "a dispatch has no wave on the target CU";
	if (s->is_early)
		return "no wave did any work";
	if (s->is_truncated)
		return "records were lost";
	return t->n_usable == t->captures.n ? "usable" : "check says that it cannot be trusted";
}

/* One run, judged. *s says what to change; the row stays, also after a failure. */
static bool attempt(struct att *a, const char *because, struct att_sight *s, struct incore_error *e)
{
	struct tool_run r = {
		.name = arena_printf(&a->arena, "attempt_%zu", a->answer.attempts.n + 1)};
	struct att_attempt t = {0};
	bool ok;

	if (!r.name)
		return err_nomem(e);
	ok = check_room(a, e) && prepare_run(a, &r, &a->window, because, e) &&
	     describe_attempt(a, &r, because, &t, e) && run_tool(a, &r, e);
	if (ok) {
		t.status = job_exit_status(&r.result.process);
		ok = att_judge(a, r.raw, r.folder, &t, s, e);
		s->is_truncated |= has_lost(&r);
		t.n_truncated += has_lost(&r);
		t.outcome = ok ? outcome_of(&t, s) : "not what was asked for";
	}
	if (ok && t.status)
		ok = app_failed(a, &r, e);
	end_run(a, &r);
	if (t.number && !VEC_PUSH(&a->answer.attempts, t)) {
		VEC_FREE(&t.captures);
		return err_nomem(e);
	}
	return ok;
}

static bool is_better(const struct att_attempt *a, const struct att_attempt *b)
{
	return a->n_usable != b->n_usable ? a->n_usable > b->n_usable
					  : a->n_truncated < b->n_truncated;
}

/* The captures of the best attempt stand in the directory itself; those of others go. */
static bool place_files(struct att *a, struct incore_error *e)
{
	struct att_attempt *v = a->answer.attempts.v, *best = NULL;

	for (size_t i = 0; i < a->answer.attempts.n; i++)
		if (v[i].captures.n && (!best || is_better(&v[i], best)))
			best = &v[i];
	a->answer.chosen = best ? best->number : 0;
	for (size_t i = 0; i < a->answer.attempts.n; i++)
		for (size_t k = 0; k < v[i].captures.n; k++) {
			struct att_capture *c = &v[i].captures.v[k];
			const char *to;

			if (!c->file)
				continue;
			if (&v[i] != best) {
				unlink(c->file);
				c->file = NULL;
				continue;
			}
			to = arena_printf(&a->arena, "%s/%s", a->q->dir, path_base(c->file));
			if (!to)
				return err_nomem(e);
			if (rename(c->file, to) != 0)
				return err_output(e, errno, to, "cannot put in place");
			c->file = to;
		}
	a->is_no = !best || !best->n_usable;
	a->answer.verdict = a->is_no ? "unusable" : "usable";
	return true;
}

static bool write_result(struct att *a, struct incore_error *e)
{
	const char *path = arena_printf(&a->arena, "%s/" RESULT, a->q->dir);
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	if (!path)
		return err_nomem(e);
	json_w_buf(&w, &b, 1);
	record_json(&att_record, &a->answer, &w);
	ok = json_w_finish(&w, e);
	sb_putc(&b, '\n');
	ok = ok && write_text(path, &b, e);
	sb_free(&b);
	return ok;
}

/* Attempts until one is good, nothing is left to try, or their number is reached. */
static bool try_attempts(struct att *a, struct incore_error *e)
{
	struct strbuf because = {0};
	bool ok = true, has_more = true;

	sb_puts(&because, ATT_FIRST_REASON);
	progress_begin(a->q->progress, "attempts", a->q->retries + 1);
	for (uint64_t i = 0; ok && has_more && i <= a->q->retries; i++) {
		struct att_sight s = {0};

		a->answer.repeat = att_repeat(a);
		ok = ((!because.failed && a->answer.repeat) || err_nomem(e)) &&
		     attempt(a, because.p, &s, e);
		sb_reset(&because);
		has_more = ok && i < a->q->retries && att_steer(a, &s, &because);
		progress_add(a->q->progress, 1);
	}
	progress_end(a->q->progress);
	sb_free(&because);
	return ok;
}

bool att_take(struct att *a, struct incore_error *e)
{
	struct incore_error late = {0};
	bool ok;

	if (!warn_of_environment(a, e) || !make_directory(a, e))
		return false;
	if (!a->q->has_no_discovery && !(att_discover(a, e) && att_choose(a, e)))
		return false;
	ok = try_attempts(a, e);
	if (place_files(a, &late)) {
		if (!ok && e->status == INCORE_NO)
			a->answer.verdict = "wrong";
		if (write_result(a, &late))
			return ok;
	}
	if (!ok) /* the first failure is the one to tell */
		incore_error_clear(&late);
	else
		err_move(e, &late);
	return false;
}
