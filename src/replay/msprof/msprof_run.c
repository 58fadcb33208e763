/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_run.c: builds, collects (msprof_steps.h), and judges by the resulting files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "replay/msprof/msprof.h"
#include "replay/msprof/msprof_output.h"
#include "replay/msprof/msprof_steps.h"
#include "replay/msprof/symbol.h"
#include "replay/workspace.h"

#define DEFAULT_STEP_S 300
#define DEFAULT_BUILD_S 600

struct msprof_run {
	const struct replay_job *job;
	const struct msprof_options *o;
	struct cann cann;
	struct arena *arena;
	struct replay_outcome *out;
	struct incore_error *e;
	const char *kernel; /* the launched symbol */
	struct msprof_steps steps;
};

static const char *below(struct msprof_run *m, const char *name)
{
	return arena_printf(m->arena, "%s/%s", m->job->workspace, name);
}

/* --- build --- */

static bool configure(struct msprof_run *m)
{
	struct msprof_step s = {.name = "cmake",
		.limit_s = m->o->step_limit_s ? m->o->step_limit_s : DEFAULT_STEP_S,
		.argv = {"cmake", "-S", ".", "-B", "build", "-G", "Ninja"},
		.n = 7};
	struct strbuf dirs = {0};
	struct process_result r;
	bool ok = msprof_include_dirs(m->job, m->o, &dirs, m->e);

	msprof_word(&s, arena_printf(m->arena, "-DAICORE_ARCH=%s", msprof_arch(m->job, m->o)));
	msprof_word(&s, arena_printf(m->arena, "-DSOC_VERSION=%s", m->cann.soc));
	msprof_word(&s, arena_printf(m->arena, "-DINCLUDE_DIRS=%s", dirs.p ? dirs.p : ""));
	msprof_word(&s, m->job->has_debug_lines ? "-DDEBUG_LINES=ON" : "-DDEBUG_LINES=OFF");
	sb_free(&dirs);
	return ok && msprof_step_run(&m->steps, &s, &r);
}

/* The first compiler error about the kernel's own text, or empty. */
static struct str complaint(struct msprof_run *m)
{
	struct str rest = {m->steps.text.p ? m->steps.text.p : "", m->steps.text.n}, line;

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
	struct msprof_step s = {.name = "build",
		.limit_s = m->o->build_limit_s ? m->o->build_limit_s : DEFAULT_BUILD_S,
		.argv = {"cmake", "--build", "build"},
		.n = 3};
	struct process_result r;
	struct str why;

	if (msprof_step_run(&m->steps, &s, &r))
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

static bool collect_and_export(struct msprof_run *m)
{
	struct msprof_collection c = {.application = "./build/" MSPROF_HOST,
		.kernel = m->kernel,
		.launch_count = m->o->launch_count ? m->o->launch_count : 1,
		.minutes = m->o->timeout_minutes ? m->o->timeout_minutes : MSPROF_DEFAULT_MINUTES,
		.limit_s = m->o->collect_limit_s,
		.step_limit_s = m->o->step_limit_s ? m->o->step_limit_s : DEFAULT_STEP_S};
	const char *from = msprof_collect(&m->steps, &c), *found;
	const char *final = below(m, "insight_export");
	unsigned n = 0;

	m->out->is_partial = c.is_partial;
	if (!from)
		return false;
	/* it only holds files of this run, so all of it becomes the result */
	if (!final)
		return err_nomem(m->e);
	if (rename(from, final) != 0)
		return err_errno(m->e, errno, final, "put in place");
	found = msprof_find_simulator(m->arena, final, m->kernel, &n);
	m->out->simulator_dir = found ? msprof_settle_simulator(m->arena, found, m->e) : NULL;
	if (!m->out->simulator_dir)
		return found ? false : err_nomem(m->e);
	if (!c.has_success)
		msprof_warn(&m->steps,
			"msprof does not say that all tasks succeeded; the artefacts are complete");
	if (n > 1)
		msprof_warn(&m->steps,
			arena_printf(m->arena,
				"%u launches were recorded; this is the first of them", n));
	return true;
}

/* Puts the chosen chip's folders before the LD_LIBRARY_PATH that the script set. */
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

/* Makes paths absolute: programs run in the workspace, where paths relative to our folder are
 * invalid. */
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

	m.steps = (struct msprof_steps){.arena = a,
		.cann = &m.cann,
		.cwd = job.workspace,
		.of = "the replay",
		.is_cancelled = job.is_cancelled,
		.cancel_ctx = job.cancel_ctx,
		.e = e};
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
			msprof_warn(&m.steps, m.cann.soc_note);
		if (m.steps.warnings.n)
			out->warning = arena_strndup(a, m.steps.warnings.p, m.steps.warnings.n);
		ok = (!m.steps.warnings.n || out->warning) && !m.steps.warnings.failed
			     ? true
			     : err_nomem(e);
	}
	msprof_steps_deinit(&m.steps);
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
