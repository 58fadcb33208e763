/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_run.c: builds and collects, one step after the other, and judges by the resulting files.
 * Parts: what msprof left; steps; the replay.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "replay/msprof/msprof.h"
#include "replay/msprof/msprof_steps.h"
#include "replay/msprof/symbol.h"
#include "replay/workspace.h"

/* --- what msprof left ------------------------------------------------------------------------- */

/*
 * What a run of msprof left in its output folder. The folder was new when the run began, so
 * everything in it belongs to the run. Files decide, never what was printed. Owner: paths are in
 * the given arena. NULL: not found (or no memory).
 */

/* Creates a folder <dir>/<name> that only this user can access; <name>_2 and so on if that
 * exists. */
static const char *msprof_new_dir(
	struct arena *a, const char *dir, const char *name, struct incore_error *e)
{
	for (unsigned i = 1; i < 1000; i++) {
		const char *path = i == 1 ? arena_printf(a, "%s/%s", dir, name)
					  : arena_printf(a, "%s/%s_%u", dir, name, i);

		if (!path)
			return err_nomem_null(e);
		if (mkdir(path, 0700) == 0)
			return path;
		if (errno != EEXIST) {
			err_errno(e, errno, path, "make the directory");
			return NULL;
		}
	}
	err_set(e, INCORE_FAILED, "no-place", "%s has a thousand folders %s", dir, name);
	return NULL;
}

/* --- the newest OPPROF_* --- */

struct newest {
	struct arena *arena;
	const char *dir, *path;
	struct timespec when;
};

static bool take_newest(void *ctx, const char *name, struct incore_error *e)
{
	struct newest *n = ctx;
	struct stat st;
	char *path;

	if (strncmp(name, "OPPROF_", 7) != 0)
		return true;
	path = arena_printf(n->arena, "%s/%s", n->dir, name);
	if (!path)
		return err_nomem(e);
	if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return true;
	/* names come in order: at equal times the later name wins */
	if (!n->path || st.st_mtim.tv_sec > n->when.tv_sec ||
		(st.st_mtim.tv_sec == n->when.tv_sec && st.st_mtim.tv_nsec >= n->when.tv_nsec)) {
		n->path = path;
		n->when = st.st_mtim;
	}
	return true;
}

static const char *newest_run(struct arena *a, const char *dir)
{
	struct newest n = {.arena = a, .dir = dir};

	return file_is_dir(dir) && dir_each(dir, take_newest, &n, NULL) ? n.path : NULL;
}

/* --- a complete directory --- */

struct cores {
	const char *dir;
	bool has_csv;
	struct arena *arena;
};

static bool has_csv(void *ctx, const char *name, struct incore_error *e)
{
	(void)e;
	if (strstr(name, "instr_exe") && str_ends(str_of(name), ".csv"))
		*(bool *)ctx = true;
	return true;
}

static bool look_in_core(void *ctx, const char *name, struct incore_error *e)
{
	struct cores *c = ctx;
	char *path = arena_printf(c->arena, "%s/%s", c->dir, name);

	if (!path)
		return err_nomem(e);
	return strncmp(name, "core", 4) != 0 || !file_is_dir(path) ||
	       dir_each(path, has_csv, &c->has_csv, e);
}

static bool has_bytes(struct arena *a, const char *dir, const char *name)
{
	const char *path = arena_printf(a, "%s/%s", dir, name);

	return path && file_size(path) > 0;
}

/* trace.json, visualize_data.bin, at least one core with an instruction table */
static bool is_complete(struct arena *a, const char *dir)
{
	struct cores c = {.dir = dir, .arena = a};

	return file_is_dir(dir) && has_bytes(a, dir, "trace.json") &&
	       has_bytes(a, dir, "visualize_data.bin") && dir_each(dir, look_in_core, &c, NULL) &&
	       c.has_csv;
}

/* --- device<N>/<kernel>/<launch>/simulator --- */

struct deep { /* one walk; level 0 is the OPPROF folder */
	struct arena *arena;
	const char *dir, *kernel, *best;
	unsigned level, n_found;
	bool is_kernel, best_is_kernel; /* is it the requested kernel? */
	uint64_t launch, best_launch;
};

static void take_deep(struct deep *d, const char *path)
{
	if (!is_complete(d->arena, path))
		return;
	d->n_found++;
	if (!d->best || (d->is_kernel && !d->best_is_kernel) ||
		(d->is_kernel == d->best_is_kernel && d->launch < d->best_launch)) {
		d->best = path;
		d->best_is_kernel = d->is_kernel;
		d->best_launch = d->launch;
	}
}

static bool go_down(void *ctx, const char *name, struct incore_error *e)
{
	struct deep *d = ctx;
	const char *above = d->dir, *path = arena_printf(d->arena, "%s/%s", d->dir, name);
	bool ok = true;

	if (!path)
		return err_nomem(e);
	if (!file_is_dir(path) || (d->level == 0 && strncmp(name, "device", 6) != 0))
		return true;
	if (d->level == 1)
		d->is_kernel = strncmp(name, d->kernel, strlen(d->kernel)) == 0;
	if (d->level == 2 && !str_to_u64(str_of(name), &d->launch))
		d->launch = UINT64_MAX;
	if (d->level == 2) {
		path = arena_printf(d->arena, "%s/simulator", path);
		if (!path)
			return err_nomem(e);
		take_deep(d, path);
		return true;
	}
	d->dir = path;
	d->level++;
	ok = dir_each(path, go_down, d, e);
	d->level--;
	d->dir = above;
	return ok;
}

/* The complete simulator directory of the newest OPPROF_*: right in it, or device<N>/<kernel>/
 * <launch>/simulator, the lowest launch of `kernel` first. *n_found: how many there are. */
static const char *msprof_find_simulator(
	struct arena *a, const char *dir, const char *kernel, unsigned *n_found)
{
	const char *run = newest_run(a, dir);
	const char *flat = run ? arena_printf(a, "%s/simulator", run) : NULL;
	struct deep d = {.arena = a, .dir = run, .kernel = kernel};

	*n_found = 0;
	if (!flat)
		return NULL;
	if (is_complete(a, flat)) {
		*n_found = 1;
		return flat;
	}
	if (!dir_each(run, go_down, &d, NULL))
		return NULL;
	*n_found = d.n_found;
	return d.best;
}

/* Readers look for <OPPROF>/simulator: if the directory lies deeper, this creates a link to it
 * there. Returns that path. */
static const char *msprof_settle_simulator(
	struct arena *a, const char *simulator, struct incore_error *e)
{
	const char *device = strstr(simulator, "/OPPROF_"), *end;
	const char *place;

	/* the last such folder of the path */
	for (const char *p = device; p; p = strstr(p + 1, "/OPPROF_"))
		device = p;
	end = device ? strchr(device + 1, '/') : NULL;
	if (!end || strcmp(end, "/simulator") == 0)
		return simulator;
	place = arena_printf(a, "%.*s/simulator", (int)(end - simulator), simulator);
	if (!place)
		return err_nomem_null(e);
	if (symlink(end + 1, place) != 0) {
		err_errno(e, errno, place, "link the simulator directory");
		return NULL;
	}
	return place;
}

/* --- on the device --- */

struct looking { /* search for visualize_data.bin */
	struct arena *arena;
	const char *dir;
	unsigned depth;
	bool has_bin;
};

static bool look_for_bin(void *ctx, const char *name, struct incore_error *e)
{
	struct looking *l = ctx;
	const char *above = l->dir, *path = arena_printf(l->arena, "%s/%s", l->dir, name);
	bool ok = true;

	if (!path)
		return err_nomem(e);
	if (strcmp(name, "visualize_data.bin") == 0 && file_size(path) > 0) {
		l->has_bin = true;
	} else if (l->depth < 3 && file_is_dir(path)) {
		l->dir = path;
		l->depth++;
		ok = dir_each(path, look_for_bin, l, e);
		l->depth--;
		l->dir = above;
	}
	return ok;
}

/* Did a run on the device leave its OPPROF_*, with a visualize_data.bin in it or up to three folders
 * below? */
static bool msprof_has_run(struct arena *a, const char *dir)
{
	struct looking l = {.arena = a, .dir = newest_run(a, dir)};

	return l.dir && dir_each(l.dir, look_for_bin, &l, NULL) && l.has_bin;
}

/* --- an older msprof --- */

/* Finds the dump that an older msprof leaves for its export. */
static const char *msprof_find_dump(struct arena *a, const char *dir)
{
	static const char *const PLACES[] = {
		"device0/tmp_dump", "device0/dump", "tmp_dump", "dump"};
	const char *run = newest_run(a, dir);

	for (size_t i = 0; run && i < sizeof(PLACES) / sizeof(*PLACES); i++) {
		const char *p = arena_printf(a, "%s/%s", run, PLACES[i]);

		if (p && file_is_dir(p))
			return p;
	}
	return NULL;
}

static bool copy_file(const char *from, const char *to, struct incore_error *e)
{
	struct file_data f = {0};
	struct out_file o = {0};
	bool ok = file_load(&f, from, e) && out_file_open(&o, to, e);

	if (ok) {
		fwrite(f.data, 1, f.size, o.f);
		ok = out_file_commit(&o, e);
	}
	file_unload(&f);
	return ok;
}

/* Copies the kernel's start address beside the dump, where the export needs it. */
static bool msprof_copy_start_address(struct arena *a, const char *dump, struct incore_error *e)
{
	static const char *const NEAR[] = {"..", "../.."};
	const char *to = arena_printf(a, "%s/pc_start_addr.txt", dump);

	if (!to)
		return err_nomem(e);
	for (size_t i = 0; i < 2 && !file_exists(to); i++) {
		const char *from = arena_printf(a, "%s/%s/pc_start_addr.txt", dump, NEAR[i]);

		if (!from)
			return err_nomem(e);
		if (file_exists(from))
			return copy_file(from, to, e);
	}
	return true;
}

/* --- steps ------------------------------------------------------------------------------------ */

/*
 * Declared in msprof_steps.h. The limit of msprof itself is in minutes, ours around it in seconds.
 */

#define MARGIN_S 300 /* at its own limit msprof still parses what it has collected */
#define LOG_TAIL 800

void msprof_steps_deinit(struct msprof_steps *m)
{
	sb_free(&m->text);
	sb_free(&m->warnings);
}

void msprof_warn(struct msprof_steps *m, const char *text)
{
	if (!text) { /* out of memory */
		m->warnings.failed = true;
		return;
	}
	sb_printf(&m->warnings, "%s%s", m->warnings.n ? "; " : "", text);
}

/* The last bytes of a step's output, on one line. */
static const char *tail_of(struct msprof_steps *m)
{
	const struct strbuf *out = &m->text;
	size_t from = out->n > LOG_TAIL ? out->n - LOG_TAIL : 0;
	char *t = arena_strndup(m->arena, out->p ? out->p + from : "", out->n - from);

	for (char *p = t; p && *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	return t ? t : "";
}

#define MSPROF_MAX_WORDS 16

struct msprof_step {
	const char *name; /* of the log, and in messages */
	uint64_t limit_s;
	bool is_judged_by_files; /* its status is ignored: the caller checks what it left */
	const char *argv[MSPROF_MAX_WORDS]; /* NULL ends */
	unsigned n;
	bool failed; /* out of memory for a word */
};

/* Adds a word to the command; NULL: out of memory, which sets `failed`. */
static void msprof_word(struct msprof_step *s, const char *text)
{
	if (text && s->n + 1 < MSPROF_MAX_WORDS)
		s->argv[s->n++] = text;
	else
		s->failed = true;
}

static bool judge(struct msprof_steps *m, const struct msprof_step *s,
	const struct process_result *r, const char *why, const char *log)
{
	if (r->end == PROCESS_CANCELLED)
		return err_set(
			m->e, INCORE_FAILED, "interrupted", "interrupted while %s ran", s->argv[0]);
	if (r->end == PROCESS_NOT_STARTED)
		return err_set(m->e, INCORE_MISSING, "not-started",
			"%s %s: it is looked for in the PATH that %s sets", s->argv[0], why,
			m->cann->set_env);
	if (s->is_judged_by_files || (r->end == PROCESS_EXITED && r->code == 0))
		return true;
	return err_set(m->e, INCORE_FAILED, "step-failed",
		"%s of %s failed: %s; log %s; it ends: %s", s->name, m->of, why, log, tail_of(m));
}

/* Runs a step in the folder cwd; its log has "$ command", the output, "[exit status N]". */
static bool msprof_step_run(
	struct msprof_steps *m, const struct msprof_step *s, struct process_result *r)
{
	const char *log = arena_printf(m->arena, "%s/logs/%s.log", m->cwd, s->name);
	struct strbuf line = {0};
	struct job job = {.name = s->name,
		.argv = s->argv,
		.cwd = m->cwd,
		.env = m->cann->env.v,
		.output = &m->text,
		.log_path = log,
		.journal = m->journal,
		.echo_fd = m->echo_fd,
		.limit_ms = s->limit_s * 1000,
		.is_cancelled = m->is_cancelled,
		.cancel_signal = m->cancel_signal,
		.ctx = m->cancel_ctx};
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

/* --- collect and export --- */

static bool has_result(struct msprof_steps *m, const struct msprof_collection *c, const char *dir)
{
	unsigned n;

	if (c->is_on_device)
		return msprof_has_run(m->arena, dir);
	return msprof_find_simulator(m->arena, dir, c->kernel ? c->kernel : "", &n) != NULL;
}

static const char *tool_name(const struct msprof_collection *c)
{
	return c->is_on_device ? "msprof op" : "msprof op simulator";
}

static void put_options(struct msprof_steps *m, const struct msprof_collection *c,
	struct msprof_step *s, const char *dir)
{
	if (!c->is_on_device)
		msprof_word(s, "simulator");
	msprof_word(s, arena_printf(m->arena, "--application=%s", c->application));
	if (c->kernel)
		msprof_word(s, arena_printf(m->arena, "--kernel-name=%s", c->kernel));
	msprof_word(s, arena_printf(m->arena, "--launch-count=%u", c->launch_count));
	if (!c->is_on_device) {
		msprof_word(s, arena_printf(m->arena, "--soc-version=%s", m->cann->soc));
		msprof_word(s, arena_printf(m->arena, "--timeout=%u", c->minutes));
	}
	msprof_word(s, arena_printf(m->arena, "--output=%s", dir));
}

static bool collect(struct msprof_steps *m, struct msprof_collection *c, const char *dir)
{
	struct msprof_step s = {.name = "collect",
		.limit_s = c->limit_s ? c->limit_s : (uint64_t)c->minutes * 60 + MARGIN_S,
		.is_judged_by_files = true,
		.argv = {"msprof", "op"},
		.n = 2};
	struct process_result r;

	put_options(m, c, &s, dir);
	if (!msprof_step_run(m, &s, &r))
		return false;
	c->status = job_exit_status(&r);
	c->is_partial = r.end == PROCESS_TIMED_OUT || r.wall_ms >= (uint64_t)c->minutes * 60000;
	c->has_success = m->text.p && strstr(m->text.p, "All task success");
	if ((r.end == PROCESS_EXITED && r.code == 0) || c->is_partial)
		return true;
	if (!has_result(m, c, dir) && !msprof_find_dump(m->arena, dir))
		return err_set(m->e, INCORE_FAILED, "collect-failed",
			"%s ended with %s %d and left nothing; log %s/logs/collect.log; it ends: %s",
			tool_name(c), r.end == PROCESS_EXITED ? "exit status" : "signal", r.code,
			m->cwd, tail_of(m));
	msprof_warn(m, arena_printf(m->arena, "msprof ended with %s %d",
			       r.end == PROCESS_EXITED ? "exit status" : "signal", r.code));
	return true;
}

static bool export_dump(struct msprof_steps *m, const struct msprof_collection *c, const char *dump,
	const char *dir)
{
	struct msprof_step s = {.name = "export",
		.limit_s = c->step_limit_s,
		.argv = {"msprof", "op", "simulator"},
		.n = 3};
	struct process_result r;

	msprof_word(&s, arena_printf(m->arena, "--export=%s", dump));
	msprof_word(&s, arena_printf(m->arena, "--output=%s", dir));
	return msprof_copy_start_address(m->arena, dump, m->e) && msprof_step_run(m, &s, &r);
}

static const char *no_trace(
	struct msprof_steps *m, const struct msprof_collection *c, const char *log)
{
	err_set(m->e, INCORE_FAILED, "no-trace", "%s; log %s/logs/%s.log; it ends: %s",
		c->is_on_device ? "msprof ended but left no OPPROF_* with a visualize_data.bin"
		: c->is_partial
			? "msprof ended but left no complete simulator directory (trace.json, visualize_data.bin and a core's instruction table are expected): the time limit came before anything was dumped"
			: "msprof ended but left no complete simulator directory (trace.json, visualize_data.bin and a core's instruction table are expected)",
		m->cwd, log, tail_of(m));
	return NULL;
}

/* A newer msprof does everything in one step; an older one leaves a dump to be exported. */
const char *msprof_collect(struct msprof_steps *m, struct msprof_collection *c)
{
	const char *raw = msprof_new_dir(m->arena, m->cwd, "collect", m->e), *dump, *dir;

	if (!raw || !collect(m, c, raw))
		return NULL;
	if (has_result(m, c, raw))
		return raw;
	dump = c->is_on_device ? NULL : msprof_find_dump(m->arena, raw);
	if (!dump)
		return no_trace(m, c, "collect");
	dir = msprof_new_dir(m->arena, m->cwd, "export", m->e);
	if (!dir || !export_dump(m, c, dump, dir))
		return NULL;
	return has_result(m, c, dir) ? dir : no_trace(m, c, "export");
}

/* --- the replay ------------------------------------------------------------------------------- */

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
	msprof_word(&s, m->job->means->has_debug_lines ? "-DDEBUG_LINES=ON" : "-DDEBUG_LINES=OFF");
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
			"cmake succeeded but left no %s; log %s/logs/build.log",
			file_exists(library) ? host : library, m->job->workspace);
	if (!symbol_find(m->arena, library, (const char *const[]){MSPROF_SYMBOL, NULL},
		    m->cann.env.v, &symbol, m->e))
		return false;
	m->kernel = symbol.mangled;
	m->out->app = host;
	m->out->library = library;
	m->out->symbol = symbol.mangled;
	m->out->demangled = symbol.demangled;
	return true;
}

/* --- collect and export --- */

static bool collect_and_export(struct msprof_run *m)
{
	struct msprof_collection c = {.application = "./build/" MSPROF_HOST,
		.kernel = m->kernel,
		.launch_count = (uint32_t)m->o->launch_count,
		.minutes = (uint32_t)m->o->timeout_minutes,
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

	const char *device = m->o->device == NO_COUNT ? line
						      : arena_printf(m->arena, "ACL_DEVICE_ID=%u",
								(unsigned)m->o->device);

	return (line && device && cann_set_env(&m->cann, line) && cann_set_env(&m->cann, device)) ||
	       err_nomem(m->e);
}

static bool preflight(const struct replay_job *job, struct incore_error *e)
{
	const struct msprof_options *o = &job->means->msprof;
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
	struct msprof_run m = {
		.job = &job, .o = &job.means->msprof, .arena = a, .out = out, .e = e};
	bool ok = msprof_check_options(m.o, e) && make_whole(&job, a, e);

	m.steps = (struct msprof_steps){.arena = a,
		.cann = &m.cann,
		.cwd = job.workspace,
		.of = "the replay",
		.is_cancelled = job.means->is_cancelled,
		.cancel_ctx = job.means->cancel_ctx,
		.e = e};
	*out = (struct replay_outcome){.verdict = "project written, nothing was started"};
	if (!ok || job.means->is_dry)
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
	.does_compute = true,
	.preflight = preflight,
	.run = run_msprof,
};
