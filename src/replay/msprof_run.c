/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_run.c: build, collect, export, and judge by what lies there. Every step has a log and a
 * limit of its own; msprof's own limit is in minutes, ours around it in seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "replay/msprof.h"
#include "replay/symbol.h"

#define DEFAULT_MINUTES 120
#define DEFAULT_STEP_S 300
#define DEFAULT_BUILD_S 600
#define MARGIN_S 300 /* msprof parses what it has when its own limit is over */
#define LOG_TAIL 800

struct msprof_run {
	const struct replay_job *job;
	const struct msprof_options *o;
	struct cann cann;
	struct arena *arena;
	struct replay_outcome *out;
	struct incore_error *e;
};

static bool make_dir(const char *path, mode_t mode, struct incore_error *e)
{
	if (mkdir(path, mode) != 0 && errno != EEXIST)
		return err_errno(e, errno, path, "make the directory");
	return chmod(path, mode) == 0 || err_errno(e, errno, path, "set the mode of");
}

static const char *below(struct msprof_run *m, const char *name)
{
	return arena_printf(m->arena, "%s/%s", m->job->workspace, name);
}

/* The last bytes of a step's output, on one line. */
static const char *tail_of(struct msprof_run *m, const struct strbuf *out)
{
	size_t from = out->n > LOG_TAIL ? out->n - LOG_TAIL : 0;
	char *t = arena_strndup(m->arena, out->p ? out->p + from : "", out->n - from);

	for (char *p = t; p && *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	return t ? t : "";
}

struct step {
	const char *name; /* of the log, and in messages */
	const char *const *argv;
	uint64_t limit_s;
	bool is_judged_by_files; /* its status says little: the caller looks at what it left */
};

/* Runs a step from the workspace; its log says "$ command", output, "[exit N]". */
static bool run_step(
	struct msprof_run *m, const struct step *s, struct process_result *r, struct strbuf *out)
{
	const char *log = arena_printf(m->arena, "%s/logs/%s.log", m->job->workspace, s->name);
	struct strbuf line = {0}, why = {0};
	struct process_spec spec = {.argv = s->argv,
		.cwd = m->job->workspace,
		.output = out,
		.limit_ms = s->limit_s * 1000,
		.is_cancelled = m->job->is_cancelled,
		.cancel_ctx = m->job->cancel_ctx};
	bool ok;

	spec.env = m->cann.env.v;
	spec.log_fd = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	if (spec.log_fd < 0)
		return err_errno(m->e, errno, log, "open the log");
	sb_puts(&line, "$ ");
	process_quote(s->argv, &line);
	sb_putc(&line, '\n');
	ok = write_all(spec.log_fd, line.p, line.n, m->e) && process_run(&spec, r, m->e);
	if (ok) {
		process_describe(&spec, r, &why);
		sb_reset(&line);
		sb_printf(&line, "[%s]\n", why.p ? why.p : "");
		ok = write_all(spec.log_fd, line.p, line.n, m->e);
	}
	close(spec.log_fd);
	if (ok && r->end == PROCESS_CANCELLED)
		ok = err_set(
			m->e, INCORE_FAILED, "interrupted", "interrupted while %s ran", s->argv[0]);
	else if (ok && !(r->end == PROCESS_EXITED && r->code == 0) && !s->is_judged_by_files)
		ok = err_set(m->e, r->end == PROCESS_NOT_STARTED ? INCORE_MISSING : INCORE_FAILED,
			"step-failed", "%s of the replay failed: %s; log %s; it ends: %s", s->name,
			why.p ? why.p : "", log, tail_of(m, out));
	sb_free(&why);
	sb_free(&line);
	return ok;
}

static bool run_plain(
	struct msprof_run *m, const char *name, const char *const *argv, uint64_t limit_s)
{
	struct strbuf out = {0};
	struct process_result r;
	bool ok = run_step(m, &(struct step){name, argv, limit_s, false}, &r, &out);

	sb_free(&out);
	return ok;
}

static bool build(struct msprof_run *m)
{
	const struct cann_target *t = cann_target(m->job->target);
	struct strbuf dirs = {0};
	const char *argv[16];
	struct symbol symbol;
	unsigned n = 0;
	bool ok;

	for (size_t i = 0; i < m->job->n_include_dirs; i++)
		sb_printf(&dirs, "%s%s", i ? ";" : "", m->job->include_dirs[i]);
	argv[n++] = "cmake";
	argv[n++] = "-S";
	argv[n++] = ".";
	argv[n++] = "-B";
	argv[n++] = "build";
	argv[n++] = "-G";
	argv[n++] = "Ninja";
	argv[n++] = arena_printf(
		m->arena, "-DAICORE_ARCH=%s", m->o->cann.arch ? m->o->cann.arch : t->arch);
	argv[n++] = arena_printf(m->arena, "-DSOC_VERSION=%s", m->cann.soc);
	argv[n++] = arena_printf(m->arena, "-DINCLUDE_DIRS=%s", dirs.p ? dirs.p : "");
	argv[n++] = arena_printf(
		m->arena, "-DPTO_ISA_ROOT=%s", m->o->cann.pto_isa ? m->o->cann.pto_isa : "");
	argv[n++] = m->job->has_debug_lines ? "-DDEBUG_LINES=ON" : "-DDEBUG_LINES=OFF";
	argv[n] = NULL;
	ok = run_plain(
		     m, "cmake", argv, m->o->step_limit_s ? m->o->step_limit_s : DEFAULT_STEP_S) &&
	     run_plain(m, "build", (const char *const[]){"cmake", "--build", "build", NULL},
		     m->o->build_limit_s ? m->o->build_limit_s : DEFAULT_BUILD_S);
	sb_free(&dirs);
	return ok &&
	       symbol_find(m->arena, below(m, "build/lib" MSPROF_LIB ".so"),
		       (const char *const[]){MSPROF_SYMBOL, NULL}, m->cann.env.v, &symbol, m->e);
}

/* --- what a run leaves --- */

struct newest {
	struct msprof_run *m;
	const char *dir, *path;
};

static bool take_newest(void *ctx, const char *name, struct incore_error *e)
{
	struct newest *n = ctx;
	char *path;

	if (strncmp(name, "OPPROF_", 7) != 0)
		return true;
	path = arena_printf(n->m->arena, "%s/%s", n->dir, name);
	if (!path)
		return err_nomem(e);
	if (file_is_dir(path))
		n->path =
			path; /* names in order: the last is the newest; the folder is of this run alone */
	return true;
}

static bool has_csv(void *ctx, const char *name, struct incore_error *e)
{
	(void)e;
	if (strstr(name, "instr_exe") && strstr(name, ".csv"))
		*(bool *)ctx = true;
	return true;
}

struct cores {
	const char *dir;
	bool has_csv;
	struct arena *arena;
};

static bool look_in_core(void *ctx, const char *name, struct incore_error *e)
{
	struct cores *c = ctx;
	char *path = arena_printf(c->arena, "%s/%s", c->dir, name);

	if (!path)
		return err_nomem(e);
	return strncmp(name, "core", 4) != 0 || !file_is_dir(path) ||
	       dir_each(path, has_csv, &c->has_csv, e);
}

/* Complete: trace.json, visualize_data.bin, at least one core with an instruction table. */
static const char *complete_simulator(struct msprof_run *m, const char *opprof)
{
	const char *dir = arena_printf(m->arena, "%s/simulator", opprof);
	struct cores c = {.dir = dir, .arena = m->arena};

	if (!dir || !file_is_dir(dir) ||
		file_size(arena_printf(m->arena, "%s/trace.json", dir)) <= 0 ||
		file_size(arena_printf(m->arena, "%s/visualize_data.bin", dir)) <= 0 ||
		!dir_each(dir, look_in_core, &c, NULL) || !c.has_csv)
		return NULL;
	return dir;
}

static const char *find_simulator(struct msprof_run *m, const char *dir)
{
	struct newest n = {.m = m, .dir = dir};

	if (!file_is_dir(dir) || !dir_each(dir, take_newest, &n, NULL) || !n.path)
		return NULL;
	return complete_simulator(m, n.path);
}

static const char *find_dump(struct msprof_run *m, const char *dir)
{
	static const char *const PLACES[] = {
		"device0/tmp_dump", "device0/dump", "tmp_dump", "dump"};
	struct newest n = {.m = m, .dir = dir};

	if (!file_is_dir(dir) || !dir_each(dir, take_newest, &n, NULL) || !n.path)
		return NULL;
	for (size_t i = 0; i < sizeof(PLACES) / sizeof(*PLACES); i++) {
		const char *p = arena_printf(m->arena, "%s/%s", n.path, PLACES[i]);

		if (p && file_is_dir(p))
			return p;
	}
	return NULL;
}

/* msprof's parser wants the kernel's start address beside the dump. */
static bool copy_start_address(struct msprof_run *m, const char *dump)
{
	static const char *const NEAR[] = {"..", "../.."};
	const char *to = arena_printf(m->arena, "%s/pc_start_addr.txt", dump);
	struct file_data f = {0};
	struct out_file o = {0};
	bool ok = true;

	if (!to || file_exists(to))
		return to || err_nomem(m->e);
	for (size_t i = 0; i < 2; i++) {
		const char *from = arena_printf(m->arena, "%s/%s/pc_start_addr.txt", dump, NEAR[i]);

		if (!from || !file_exists(from))
			continue;
		ok = file_load(&f, from, m->e) && out_file_open(&o, to, m->e);
		if (ok) {
			fwrite(f.data, 1, f.size, o.f);
			ok = out_file_commit(&o, m->e);
		}
		file_unload(&f);
		break;
	}
	return ok;
}

/* --- collect and export --- */

static bool collect(struct msprof_run *m, const char *dir, struct strbuf *text)
{
	uint32_t minutes = m->o->timeout_minutes ? m->o->timeout_minutes : DEFAULT_MINUTES;
	const char *argv[] = {"msprof", "op", "simulator", "--application=./build/" MSPROF_HOST,
		"--kernel-name=" MSPROF_SYMBOL,
		arena_printf(
			m->arena, "--launch-count=%u", m->o->launch_count ? m->o->launch_count : 1),
		arena_printf(m->arena, "--soc-version=%s", m->cann.soc),
		arena_printf(m->arena, "--timeout=%u", minutes),
		arena_printf(m->arena, "--output=%s", dir), NULL};
	struct process_result r;

	if (!run_step(m, &(struct step){"collect", argv, (uint64_t)minutes * 60 + MARGIN_S, true},
		    &r, text))
		return false;
	m->out->is_partial = r.end == PROCESS_TIMED_OUT || r.wall_ms >= (uint64_t)minutes * 60000;
	if (r.end == PROCESS_EXITED && r.code == 0)
		return true;
	if (r.end == PROCESS_NOT_STARTED)
		return err_set(m->e, INCORE_MISSING, "no-msprof", "msprof cannot be started");
	if (!m->out->is_partial && !find_simulator(m, dir) && !find_dump(m, dir))
		return err_set(m->e, INCORE_FAILED, "collect-failed",
			"msprof op simulator ended with status %d and left nothing; log %s; it "
			"ends: %s",
			r.code, below(m, "logs/collect.log"), tail_of(m, text));
	return true;
}

static bool export_dump(struct msprof_run *m, const char *dump, const char *dir)
{
	return copy_start_address(m, dump) && make_dir(dir, 0700, m->e) &&
	       run_plain(m, "export",
		       (const char *const[]){"msprof", "op", "simulator",
			       arena_printf(m->arena, "--export=%s", dump),
			       arena_printf(m->arena, "--output=%s", dir), NULL},
		       m->o->step_limit_s ? m->o->step_limit_s : DEFAULT_STEP_S);
}

static bool no_trace(struct msprof_run *m, const struct strbuf *text)
{
	return err_set(m->e, INCORE_FAILED, "no-trace",
		"msprof ended but left no complete simulator directory (trace.json, "
		"visualize_data.bin and a "
		"core's instruction table are expected)%s; log %s; it ends: %s",
		m->out->is_partial ? ": the time limit came before anything was dumped" : "",
		below(m, "logs/collect.log"), tail_of(m, text));
}

static bool collect_and_export(struct msprof_run *m)
{
	const char *raw = below(m, "collect"), *final = below(m, "insight_export");
	const char *dump, *found;
	struct strbuf text = {0};
	bool ok = make_dir(raw, 0700, m->e) && collect(m, raw, &text);

	found = ok ? find_simulator(m, raw) : NULL;
	if (found) { /* the folder above holds nothing else of this run: it becomes the result */
		ok = rename(raw, final) == 0 || err_errno(m->e, errno, final, "put in place");
		found = ok ? find_simulator(m, final) : NULL;
	} else if (ok) {
		dump = find_dump(m, raw);
		ok = dump ? export_dump(m, dump, final) : no_trace(m, &text);
		found = ok ? find_simulator(m, final) : NULL;
	}
	if (ok && !found)
		ok = no_trace(m, &text);
	if (ok && text.p && !strstr(text.p, "All task success"))
		m->out->warning =
			"msprof does not say that all tasks succeeded; the artefacts are complete";
	m->out->simulator_dir = found;
	sb_free(&text);
	return ok;
}

/* LD_LIBRARY_PATH of the chosen chip, before what the script set. */
static bool set_library_path(struct msprof_run *m)
{
	const char *line = arena_printf(
		m->arena, "LD_LIBRARY_PATH=%s/build:%s", m->job->workspace, m->cann.library_path);
	size_t n = m->cann.env.n;

	if (!line)
		return err_nomem(m->e);
	for (size_t i = 0; i + 1 < n; i++)
		if (strncmp(m->cann.env.v[i], "LD_LIBRARY_PATH=", 16) == 0) {
			m->cann.env.v[i] = line;
			return true;
		}
	m->cann.env.v[n - 1] = line;
	return VEC_PUSH(&m->cann.env, NULL) || err_nomem(m->e);
}

static bool preflight(const struct replay_job *job, struct incore_error *e)
{
	const struct msprof_options *o = job->options;
	struct cann c = {0};
	bool ok = msprof_check_options(o, e) && cann_open(&c, &o->cann, job->target, e);

	ok = ok && cann_probe(&c, job->workspace, e);
	cann_deinit(&c);
	return ok;
}

static bool run(const struct replay_job *job, struct arena *a, struct replay_outcome *out,
	struct incore_error *e)
{
	struct msprof_run m = {.job = job, .o = job->options, .arena = a, .out = out, .e = e};
	bool ok = msprof_check_options(m.o, e);

	*out = (struct replay_outcome){.verdict = "project written, nothing was started"};
	if (!ok || job->is_dry)
		return ok && msprof_write_project(job, m.o, NULL, e);
	ok = cann_open(&m.cann, &m.o->cann, job->target, e) &&
	     cann_probe(&m.cann, job->workspace, e) && msprof_write_project(job, m.o, &m.cann, e) &&
	     make_dir(below(&m, "logs"), 0755, e) && set_library_path(&m) && build(&m) &&
	     collect_and_export(&m);
	if (ok) {
		out->verdict = out->is_partial ? "partial trace: the time limit cut the "
						 "simulation; not to be used for total time"
					       : "complete simulator directory";
		if (m.cann.soc_note)
			out->warning = arena_strdup(a, m.cann.soc_note);
	}
	cann_deinit(&m.cann);
	return ok;
}

const struct backend_ops backend_msprof = {
	.name = "msprof",
	.summary = "the vendor's simulator, where CANN is installed",
	.preflight = preflight,
	.run = run,
};
