/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_steps.c: see msprof_steps.h. msprof's own limit is in minutes, ours around it in seconds.
 */
#include "replay/msprof/msprof_steps.h"

#include "base/log.h"
#include "replay/msprof/msprof_output.h"

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

void msprof_word(struct msprof_step *s, const char *text)
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

bool msprof_step_run(struct msprof_steps *m, const struct msprof_step *s, struct process_result *r)
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
