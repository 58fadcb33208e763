/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_run.c: build, collect, export, and judge by what lies there. Every step has a log and a
 * limit of its own; msprof's own limit is in minutes, ours around it in seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "replay/msprof/msprof.h"
#include "replay/msprof/msprof_output.h"
#include "replay/msprof/symbol.h"
#include "replay/workspace.h"
#include "run/job.h"

#define DEFAULT_STEP_S 300
#define DEFAULT_BUILD_S 600
#define MARGIN_S 300 /* msprof parses what it has when its own limit is over */
#define LOG_TAIL 800
#define MAX_WORDS 16

struct msprof_run {
	const struct replay_job *job;
	const struct msprof_options *o;
	struct cann cann;
	struct arena *arena;
	struct replay_outcome *out;
	struct incore_error *e;
	const char *kernel; /* the symbol that is launched */
	struct strbuf text; /* what the last step printed */
	struct strbuf warnings;
};

static void warn(struct msprof_run *m, const char *text)
{
	if (!text) { /* no memory for it */
		m->warnings.failed = true;
		return;
	}
	sb_printf(&m->warnings, "%s%s", m->warnings.n ? "; " : "", text);
}

static const char *below(struct msprof_run *m, const char *name)
{
	return arena_printf(m->arena, "%s/%s", m->job->workspace, name);
}

/* The last bytes of a step's output, on one line. */
static const char *tail_of(struct msprof_run *m)
{
	const struct strbuf *out = &m->text;
	size_t from = out->n > LOG_TAIL ? out->n - LOG_TAIL : 0;
	char *t = arena_strndup(m->arena, out->p ? out->p + from : "", out->n - from);

	for (char *p = t; p && *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	return t ? t : "";
}

struct step {
	const char *name; /* of the log, and in messages */
	uint64_t limit_s;
	bool is_judged_by_files;     /* its status says little: the caller looks at what it left */
	const char *argv[MAX_WORDS]; /* NULL ends */
	unsigned n;
	bool failed; /* no memory for a word */
};

/* A word of the command; NULL: there was no memory for it. */
static void word(struct step *s, const char *text)
{
	if (text && s->n + 1 < MAX_WORDS)
		s->argv[s->n++] = text;
	else
		s->failed = true;
}

static bool judge(struct msprof_run *m, const struct step *s, const struct process_result *r,
	const char *why, const char *log)
{
	if (r->end == PROCESS_CANCELLED)
		return err_set(
			m->e, INCORE_FAILED, "interrupted", "interrupted while %s ran", s->argv[0]);
	if (r->end == PROCESS_NOT_STARTED)
		return err_set(m->e, INCORE_MISSING, "not-started",
			"%s %s: it is looked for in the PATH that %s sets", s->argv[0], why,
			m->cann.set_env);
	if (s->is_judged_by_files || (r->end == PROCESS_EXITED && r->code == 0))
		return true;
	return err_set(m->e, INCORE_FAILED, "step-failed",
		"%s of the replay failed: %s; log %s; it ends: %s", s->name, why, log, tail_of(m));
}

/* Runs a step from the workspace; its log says "$ command", output, "[exit status N]". */
static bool run_step(struct msprof_run *m, const struct step *s, struct process_result *r)
{
	const char *log = arena_printf(m->arena, "%s/logs/%s.log", m->job->workspace, s->name);
	struct strbuf line = {0};
	struct job job = {.name = s->name,
		.argv = s->argv,
		.cwd = m->job->workspace,
		.env = m->cann.env.v,
		.output = &m->text,
		.log_path = log,
		.limit_ms = s->limit_s * 1000,
		.is_cancelled = m->job->is_cancelled,
		.ctx = m->job->cancel_ctx};
	struct job_result result = {0};
	bool ok;

	if (!log || s->failed)
		return err_nomem(m->e);
	sb_reset(&m->text);
	process_quote(s->argv, &line);
	if (!line.failed)
		log_info("msprof", "running %s", line.p);
	sb_reset(&line);
	ok = job_run(&job, &result, m->e);
	*r = result.process;
	if (ok) {
		job_describe(&job, r, &line);
		ok = judge(m, s, r, line.p ? line.p : "", log);
	}
	job_result_deinit(&result);
	sb_free(&line);
	return ok;
}

/* --- build --- */

static bool configure(struct msprof_run *m)
{
	struct step s = {.name = "cmake",
		.limit_s = m->o->step_limit_s ? m->o->step_limit_s : DEFAULT_STEP_S,
		.argv = {"cmake", "-S", ".", "-B", "build", "-G", "Ninja"},
		.n = 7};
	struct strbuf dirs = {0};
	struct process_result r;
	bool ok = msprof_include_dirs(m->job, m->o, &dirs, m->e);

	word(&s, arena_printf(m->arena, "-DAICORE_ARCH=%s", msprof_arch(m->job, m->o)));
	word(&s, arena_printf(m->arena, "-DSOC_VERSION=%s", m->cann.soc));
	word(&s, arena_printf(m->arena, "-DINCLUDE_DIRS=%s", dirs.p ? dirs.p : ""));
	word(&s, m->job->has_debug_lines ? "-DDEBUG_LINES=ON" : "-DDEBUG_LINES=OFF");
	sb_free(&dirs);
	return ok && run_step(m, &s, &r);
}

/* The first line of the compiler that complains about the kernel's own text; empty: there is none. */
static struct str complaint(struct msprof_run *m)
{
	struct str rest = {m->text.p ? m->text.p : "", m->text.n}, line;

	while (str_cut(&rest, "\n", &line)) {
		if (!str_has(line, "error:"))
			continue;
		if (str_has(line, "replay_kernel.cpp:"))
			return line;
		for (uint32_t i = 0; i < m->job->n_members; i++)
			if (str_has(line, m->job->members[i].source))
				return line;
	}
	return (struct str){"", 0};
}

static bool compile(struct msprof_run *m)
{
	struct step s = {.name = "build",
		.limit_s = m->o->build_limit_s ? m->o->build_limit_s : DEFAULT_BUILD_S,
		.argv = {"cmake", "--build", "build"},
		.n = 3};
	struct process_result r;
	struct str why;

	if (run_step(m, &s, &r))
		return true;
	why = complaint(m);
	if (why.n && m->e && m->e->status == INCORE_FAILED)
		err_file(m->e, "does-not-compile", m->job->members[0].source, INCORE_NO_OFFSET,
			"the kernel does not compile: %.*s; log %s/logs/build.log", STR_ARG(why),
			m->job->workspace);
	return false;
}

static bool build(struct msprof_run *m)
{
	const char *library = below(m, "build/lib" MSPROF_LIB ".so"),
		   *host = below(m, "build/" MSPROF_HOST);
	struct symbol symbol;

	if (!library || !host)
		return err_nomem(m->e);
	if (!configure(m) || !compile(m))
		return false;
	if (!file_exists(library) || !file_exists(host))
		return err_set(m->e, INCORE_FAILED, "nothing-built",
			"cmake ended well but left no %s; log %s/logs/build.log",
			file_exists(library) ? host : library, m->job->workspace);
	if (!symbol_find(m->arena, library, (const char *const[]){MSPROF_SYMBOL, NULL},
		    m->cann.env.v, &symbol, m->e))
		return false;
	m->kernel = symbol.mangled;
	return true;
}

/* --- collect and export --- */

static uint64_t collect_limit(const struct msprof_run *m, uint32_t minutes)
{
	return m->o->collect_limit_s ? m->o->collect_limit_s : (uint64_t)minutes * 60 + MARGIN_S;
}

static bool collect(struct msprof_run *m, const char *dir)
{
	uint32_t minutes = m->o->timeout_minutes ? m->o->timeout_minutes : MSPROF_DEFAULT_MINUTES;
	struct step s = {.name = "collect",
		.limit_s = collect_limit(m, minutes),
		.is_judged_by_files = true,
		.argv = {"msprof", "op", "simulator", "--application=./build/" MSPROF_HOST},
		.n = 4};
	struct process_result r;
	unsigned n;

	word(&s, arena_printf(m->arena, "--kernel-name=%s", m->kernel));
	word(&s, arena_printf(m->arena, "--launch-count=%u",
			 m->o->launch_count ? m->o->launch_count : 1));
	word(&s, arena_printf(m->arena, "--soc-version=%s", m->cann.soc));
	word(&s, arena_printf(m->arena, "--timeout=%u", minutes));
	word(&s, arena_printf(m->arena, "--output=%s", dir));
	if (!run_step(m, &s, &r))
		return false;
	m->out->is_partial = r.end == PROCESS_TIMED_OUT || r.wall_ms >= (uint64_t)minutes * 60000;
	if ((r.end == PROCESS_EXITED && r.code == 0) || m->out->is_partial)
		return true;
	if (!msprof_find_simulator(m->arena, dir, m->kernel, &n) &&
		!msprof_find_dump(m->arena, dir))
		return err_set(m->e, INCORE_FAILED, "collect-failed",
			"msprof op simulator ended with %s %d and left nothing; log %s/logs/collect.log; it ends: %s",
			r.end == PROCESS_EXITED ? "exit status" : "signal", r.code,
			m->job->workspace, tail_of(m));
	warn(m, arena_printf(m->arena, "msprof ended with %s %d",
			r.end == PROCESS_EXITED ? "exit status" : "signal", r.code));
	return true;
}

static bool export_dump(struct msprof_run *m, const char *dump, const char *dir)
{
	struct step s = {.name = "export",
		.limit_s = m->o->step_limit_s ? m->o->step_limit_s : DEFAULT_STEP_S,
		.argv = {"msprof", "op", "simulator"},
		.n = 3};
	struct process_result r;

	word(&s, arena_printf(m->arena, "--export=%s", dump));
	word(&s, arena_printf(m->arena, "--output=%s", dir));
	return msprof_copy_start_address(m->arena, dump, m->e) && run_step(m, &s, &r);
}

static bool no_trace(struct msprof_run *m, const char *log)
{
	return err_set(m->e, INCORE_FAILED, "no-trace",
		"msprof ended but left no complete simulator directory (trace.json, visualize_data.bin and a core's instruction table are expected)%s; log %s/logs/%s.log; it ends: %s",
		m->out->is_partial ? ": the time limit came before anything was dumped" : "",
		m->job->workspace, log, tail_of(m));
}

/* A newer msprof has done it all in one step; an older one left a dump. Returns the folder that
 * holds the result, or NULL. */
static const char *result_folder(struct msprof_run *m, const char *raw)
{
	unsigned n;
	const char *dump, *dir;

	if (msprof_find_simulator(m->arena, raw, m->kernel, &n))
		return raw;
	dump = msprof_find_dump(m->arena, raw);
	if (!dump) {
		no_trace(m, "collect");
		return NULL;
	}
	dir = msprof_new_dir(m->arena, m->job->workspace, "export", m->e);
	if (!dir || !export_dump(m, dump, dir))
		return NULL;
	if (msprof_find_simulator(m->arena, dir, m->kernel, &n))
		return dir;
	no_trace(m, "export");
	return NULL;
}

static bool collect_and_export(struct msprof_run *m)
{
	const char *raw = msprof_new_dir(m->arena, m->job->workspace, "collect", m->e), *from;
	const char *final = below(m, "insight_export"), *found = NULL;
	bool has_success;
	unsigned n = 0;

	if (!raw || !collect(m, raw))
		return false;
	has_success = m->text.p && strstr(m->text.p, "All task success");
	from = result_folder(m, raw);
	if (!from)
		return false;
	/* it holds nothing but this run's: it becomes the result, whole */
	if (!final)
		return err_nomem(m->e);
	if (rename(from, final) != 0)
		return err_errno(m->e, errno, final, "put in place");
	found = msprof_find_simulator(m->arena, final, m->kernel, &n);
	m->out->simulator_dir = found ? msprof_settle_simulator(m->arena, found, m->e) : NULL;
	if (!m->out->simulator_dir)
		return found ? false : err_nomem(m->e);
	if (!has_success)
		warn(m, "msprof does not say that all tasks succeeded; the artefacts are complete");
	if (n > 1)
		warn(m, arena_printf(m->arena,
				"%u launches were recorded; this is the first of them", n));
	return true;
}

/* LD_LIBRARY_PATH of the chosen chip, before what the script set. */
static bool set_library_path(struct msprof_run *m)
{
	const char *line = arena_printf(
		m->arena, "LD_LIBRARY_PATH=%s/build:%s", m->job->workspace, m->cann.library_path);

	const char *device =
		m->o->has_device ? arena_printf(m->arena, "ACL_DEVICE_ID=%u", m->o->device) : line;

	return (line && device && cann_set_env(&m->cann, line) && cann_set_env(&m->cann, device)) ||
	       err_nomem(m->e);
}

static bool preflight(const struct replay_job *job, struct incore_error *e)
{
	const struct msprof_options *o = job->options;
	char scratch[PATH_MAX];
	struct cann c = {0};
	bool ok = msprof_check_options(o, e);

	snprintf(scratch, sizeof(scratch), "%s/incore-preflight-XXXXXX", file_temp_root());
	if (ok && !job->workspace && !mkdtemp(scratch))
		return err_errno(e, errno, scratch, "make the directory");
	ok = ok && cann_open(&c, &o->cann, job->target, e) &&
	     cann_probe(&c, msprof_arch(job, o), job->workspace ? job->workspace : scratch, e);
	if (!job->workspace)
		rmdir(scratch);
	cann_deinit(&c);
	return ok;
}

static bool run_all(struct msprof_run *m)
{
	return cann_open(&m->cann, &m->o->cann, m->job->target, m->e) &&
	       (m->job->is_ready ||
		       cann_probe(&m->cann, msprof_arch(m->job, m->o), m->job->workspace, m->e)) &&
	       msprof_write_project(m->job, m->o, &m->cann, m->e) &&
	       workspace_dir(below(m, "logs"), 0755, m->e) && build(m) && set_library_path(m) &&
	       collect_and_export(m);
}

static const char *whole_path(struct arena *a, const char *path, struct incore_error *e)
{
	char *full = realpath(path, NULL);
	const char *copy = full ? arena_strdup(a, full) : NULL;

	if (!full)
		err_errno(e, errno, path, "find");
	else if (!copy)
		err_nomem(e);
	free(full);
	return copy;
}

/* Programs run in the workspace: what is relative to our folder means nothing there. */
static bool make_whole(struct replay_job *job, struct arena *a, struct incore_error *e)
{
	job->workspace = whole_path(a, job->workspace, e);
	for (uint32_t i = 0; job->workspace && i < job->n_members; i++) {
		job->members[i].source = whole_path(a, job->members[i].source, e);
		if (!job->members[i].source)
			return false;
	}
	return job->workspace != NULL;
}

static bool run_msprof(const struct replay_job *stated, struct arena *a, struct replay_outcome *out,
	struct incore_error *e)
{
	struct replay_job job = *stated;
	struct msprof_run m = {.job = &job, .o = job.options, .arena = a, .out = out, .e = e};
	bool ok = msprof_check_options(m.o, e) && make_whole(&job, a, e);

	*out = (struct replay_outcome){.verdict = "project written, nothing was started"};
	if (!ok || job.is_dry)
		return ok && msprof_write_project(&job, m.o, NULL, e);
	ok = run_all(&m);
	if (ok) {
		out->verdict =
			out->is_partial
				? "partial trace: the time limit cut the simulation; not to be used for total time"
				: "complete simulator directory";
		if (m.cann.soc_note)
			warn(&m, m.cann.soc_note);
		if (m.warnings.n)
			out->warning = arena_strndup(a, m.warnings.p, m.warnings.n);
		ok = (!m.warnings.n || out->warning) && !m.warnings.failed ? true : err_nomem(e);
	}
	sb_free(&m.warnings);
	sb_free(&m.text);
	cann_deinit(&m.cann);
	return ok;
}

const struct backend_ops backend_msprof = {
	.name = "msprof",
	.summary = "the vendor's simulator, where CANN is installed",
	.evidence = "vendor-simulator",
	.symbol = MSPROF_SYMBOL,
	.does_compute = true,
	.preflight = preflight,
	.run = run_msprof,
};
