/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.c: one attempt of one task, in a process of its own. Parts: files of a capture; the attempt.
 */
#include "sweep/shim.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_fence.h"
#include "codec/json_writer.h"
#include "import/capture_cache.h"
#include "run/job.h"
#include "sweep/result.h"
#include "trace/trace.h"

struct sweep_matches {
	char **v;
	size_t n, cap;
};

/* --- files of a capture ----------------------------------------------------------------------- */

/*
 * Matches a pattern part by part.
 */

struct matching {
	struct sweep_matches *found;
	const struct file_fence *fence;
	const char *dir;  /* path matched so far, with a trailing slash, or "" */
	const char *part; /* current part of the pattern */
	const char *rest; /* rest of the pattern */
};

static bool sweep_match_follow(struct matching *m, struct incore_error *e);

static size_t part_length(const char *pattern)
{
	return strcspn(pattern, "/");
}

static bool has_wildcard(const char *part, size_t n)
{
	return strcspn(part, "*?[\\") < n;
}

static bool sweep_match_add(struct sweep_matches *m, const char *path, struct incore_error *e)
{
	char *copy = mem_strndup(path, strlen(path));

	if (copy && VEC_PUSH(m, copy))
		return true;
	mem_free(copy);
	return err_nomem(e);
}

/* Continues with a name and the slashes that follow in the pattern. */
static bool go_into(const struct matching *m, const char *name, struct incore_error *e)
{
	struct strbuf path = {0};
	size_t n_slashes = strspn(m->rest, "/");
	struct matching next = {.found = m->found, .fence = m->fence, .rest = m->rest + n_slashes};
	bool ok;

	sb_printf(&path, "%s%s%.*s", m->dir, name, (int)n_slashes, m->rest);
	next.dir = path.p;
	ok = path.failed ? err_nomem(e) : sweep_match_follow(&next, e);
	sb_free(&path);
	return ok;
}

static bool try_name(void *ctx, const char *name, struct incore_error *e)
{
	const struct matching *m = ctx;

	return fnmatch(m->part, name, FNM_PERIOD) != 0 || go_into(m, name, e);
}

/* A folder that cannot be listed has no matches. */
static bool try_all(struct matching *m, struct incore_error *e)
{
	bool ok = dir_each_in(m->fence, *m->dir ? m->dir : ".", try_name, m, e);

	if (ok || err_is(e, "no-memory"))
		return ok;
	incore_error_clear(e);
	return true;
}

static bool sweep_match_follow(struct matching *m, struct incore_error *e)
{
	size_t n = part_length(m->rest);
	char *part;
	bool ok;

	if (!*m->rest)
		return !file_exists_in(m->fence, m->dir) || sweep_match_add(m->found, m->dir, e);
	part = mem_strndup(m->rest, n);
	if (!part)
		return err_nomem(e);
	m->part = part;
	m->rest += n;
	ok = has_wildcard(part, n) ? try_all(m, e) : go_into(m, part, e);
	mem_free(part);
	return ok;
}

/* Adds the folder that a pattern names before its first wildcard to the fence. */
static bool fence_pattern(struct file_fence *f, const char *pattern, struct incore_error *e)
{
	size_t n = 0;
	char *folder;
	bool ok;

	for (size_t at = 0; pattern[at];) {
		size_t part = part_length(pattern + at), slashes = strspn(pattern + at + part, "/");

		if (!slashes || has_wildcard(pattern + at, part))
			break;
		n = at += part + slashes;
	}
	folder = mem_strndup(pattern, n);
	ok = folder ? file_fence_add(f, folder, e) : err_nomem(e);
	mem_free(folder);
	return ok;
}

/* out: the folder of the attempt. *f receives the fence described above. */
static bool sweep_match(struct sweep_matches *m, const char *pattern, const char *out,
	struct file_fence *f, struct incore_error *e)
{
	struct matching all = {.found = m, .fence = f, .dir = "", .rest = pattern};
	bool is_left = file_name_below(out, pattern) != pattern && !strstr(pattern, "/../");

	*m = (struct sweep_matches){0};
	return (is_left ? file_fence_add(f, out, e) : fence_pattern(f, pattern, e)) &&
	       (*pattern != '/' || (all.dir = "/", all.rest = pattern + strspn(pattern, "/"))) &&
	       sweep_match_follow(&all, e);
}

/* out: the folder of the attempt. *f receives the fence described above. */
static void sweep_matches_free(struct sweep_matches *m)
{
	for (size_t i = 0; i < m->n; i++)
		mem_free(m->v[i]);
	VEC_FREE(m);
}

/* --- the attempt ------------------------------------------------------------------------------ */

/*
 * Runs a task, checks what it left, writes the result.
 */

#define GRACE_MS 10000 /* time for a program to end by itself */

struct shim_capture_row {
	const char *path, *format, *kernel;
};

struct attempt {
	const struct sweep_shim *s;
	struct sweep_plan plan;
	struct arena arena;
	struct sweep_cell cell;
	const char *dir, *log;
	struct sweep_result result;
	struct capture_cache seen; /* with the fence of what the task left */
	VEC(const char *) outputs;
	VEC(struct shim_capture_row) captures;
	struct strbuf last_line;
};

bool sweep_plan_load(struct sweep_plan *p, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok = file_load(&f, path, e) &&
		  sweep_plan_read(p, (struct str){(const char *)f.data, f.size}, path, e);

	file_unload(&f);
	return ok;
}

bool sweep_shim_pick(
	struct sweep_shim *s, const char *list_path, uint64_t index, struct incore_error *e)
{
	struct file_data f = {0};
	struct str rest, line, word;
	uint64_t attempt = 0;
	bool is_there = true;

	if (!file_load(&f, list_path, e))
		return false;
	rest = (struct str){(const char *)f.data, f.size};
	for (uint64_t i = 0; is_there && i <= index; i++)
		is_there = str_cut(&rest, "\n", &line) && line.n;
	is_there = is_there && str_cut(&line, " ", &word) && str_to_u64(word, &s->task) &&
		   str_to_u64(line, &attempt) && attempt && attempt < UINT32_MAX;
	s->attempt = (uint32_t)attempt;
	file_unload(&f);
	return is_there || err_file(e, "no-such-task", list_path, INCORE_NO_OFFSET,
				   "there is no task %llu", (unsigned long long)index);
}

/* --- outputs --- */

static bool shim_spoil(struct attempt *t, const char *outcome, const char *how)
{
	t->result.outcome = outcome;
	t->result.how = how ? how : "";
	return how != NULL;
}

/* Finds the matching paths; a named path that is missing fails the attempt. */
static bool find_files(struct attempt *t, const char *const *patterns,
	bool (*each)(struct attempt *t, const char *path, struct incore_error *e),
	struct incore_error *e)
{
	bool ok = true;

	for (; ok && *patterns && !t->result.status; patterns++) {
		struct sweep_matches v;

		ok = sweep_match(&v, *patterns, t->dir, &t->seen.fence, e);
		if (ok && !v.n && strcmp(t->result.outcome, "ok") == 0)
			ok = shim_spoil(t, "no-output",
				     arena_printf(&t->arena, "it left no %s", *patterns)) ||
			     err_nomem(e);
		for (size_t i = 0; ok && i < v.n; i++)
			ok = each(t, v.v[i], e);
		sweep_matches_free(&v);
	}
	return ok;
}

static bool shim_take_output(struct attempt *t, const char *path, struct incore_error *e)
{
	const char *copy = arena_strdup(&t->arena, path);

	return (copy && VEC_PUSH(&t->outputs, copy)) || err_nomem(e);
}

/* Finds format and kernel of a capture, which is read only as far as needed. */
static bool shim_look_at(struct attempt *t, struct shim_capture_row *row, struct incore_error *e)
{
	struct capture_list list;
	const struct capture *c;
	struct trace *trace;
	bool ok;

	if (!import_find(row->path, &t->seen, &list, e))
		return false;
	c = capture_choose(&list);
	ok = import_read(
		c, &(struct import_options){.cache = &t->seen, .disasm = "none"}, &trace, e);
	if (ok) {
		row->format = c->ops->name;
		row->kernel =
			trace->meta.kernel ? arena_strdup(&t->arena, trace->meta.kernel) : NULL;
		trace_free(trace);
	}
	capture_list_deinit(&list);
	return ok;
}

static bool shim_take_capture(struct attempt *t, const char *path, struct incore_error *e)
{
	struct shim_capture_row row = {.path = arena_strdup(&t->arena, path)};
	struct incore_error why = {0};
	struct strbuf text = {0};
	bool ok = true;

	if (!row.path)
		return err_nomem(e);
	if (shim_look_at(t, &row, &why)) {
		ok = VEC_PUSH(&t->captures, row) || err_nomem(e);
	} else {
		err_format(&why, &text);
		ok = shim_spoil(t, "unreadable", text.p ? arena_strdup(&t->arena, text.p) : NULL) ||
		     err_nomem(e);
	}
	incore_error_clear(&why);
	sb_free(&text);
	return ok;
}

/* --- result --- */

/* Writes only variables that the plan names and those that control visible devices, never the whole
 * environment. */
static void put_environment(const struct attempt *t, struct json_writer *w)
{
	static const char *const DEVICES[] = {"INCORE_DEVICES", "ROCR_VISIBLE_DEVICES",
		"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"};
	const struct sweep_plan *p = &t->plan;

	json_w_kv_object(w, "env");
	for (size_t i = 0; i < p->env.n; i++)
		json_w_kv_cstr(w, p->env.v[i].name, t->cell.env[i] + strlen(p->env.v[i].name) + 1);
	for (size_t i = 0; i < p->records.n; i++)
		json_w_kv_cstr(w, p->records.v[i].text, getenv(p->records.v[i].text));
	for (size_t i = 0; i < sizeof(DEVICES) / sizeof(*DEVICES); i++)
		if (getenv(DEVICES[i]))
			json_w_kv_cstr(w, DEVICES[i], getenv(DEVICES[i]));
	json_w_end(w);
}

static void shim_put_files(const struct attempt *t, struct json_writer *w)
{
	json_w_kv_array(w, "outputs");
	for (size_t i = 0; i < t->outputs.n; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "path", t->outputs.v[i]);
		json_w_kv_i64(w, "bytes", file_size_in(&t->seen.fence, t->outputs.v[i]));
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_array(w, "captures");
	for (size_t i = 0; i < t->captures.n; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "path", t->captures.v[i].path);
		json_w_kv_cstr(w, "format", t->captures.v[i].format);
		json_w_kv_cstr(w, "kernel", t->captures.v[i].kernel);
		json_w_end(w);
	}
	json_w_end(w);
}

static void shim_put_result(const struct attempt *t, struct json_writer *w)
{
	const struct sweep_result *r = &t->result;

	json_w_object(w);
	json_w_kv_cstr(w, "schema", SWEEP_RESULT_SCHEMA);
	json_w_kv_cstr(w, "incore", INCORE_VERSION);
	json_w_kv_u64(w, "task", t->s->task);
	json_w_kv_u64(w, "attempt", t->s->attempt);
	json_w_kv_object(w, "params");
	for (size_t i = 0; i < t->cell.params.n; i++)
		json_w_kv_cstr(w, t->cell.params.v[i].name, t->cell.params.v[i].value.text);
	json_w_end(w);
	json_w_kv_row(w, "argv");
	for (const char *const *p = t->cell.argv; *p; p++)
		json_w_cstr(w, *p);
	json_w_end(w);
	json_w_kv_cstr(w, "cwd", t->cell.cwd);
	put_environment(t, w);
	json_w_kv_cstr(w, "host", r->host);
	json_w_kv_cstr(w, "slurm_job", getenv("SLURM_JOB_ID"));
	json_w_kv_cstr(w, "outcome", r->outcome);
	json_w_kv_cstr(w, "how", r->how);
	json_w_kv_i64(w, "status", r->status);
	json_w_kv_u64(w, "begin_ms", r->begin_ms);
	json_w_kv_u64(w, "wall_ms", r->wall_ms);
	json_w_kv_cstr(w, "log", t->log);
	json_w_kv_cstr(w, "last_line", t->last_line.p);
	shim_put_files(t, w);
	json_w_end(w);
}

static bool shim_tell(const struct attempt *t, struct incore_error *e)
{
	struct json_writer w;
	struct strbuf text = {0};
	bool is_first, ok;

	json_w_buf(&w, &text, 1);
	shim_put_result(t, &w);
	ok = json_w_finish(&w, e) && (sb_putc(&text, '\n') || err_nomem(e)) &&
	     sweep_result_tell(t->dir, (struct str){text.p, text.n}, &is_first, e);
	sb_free(&text);
	return ok;
}

/* --- the run --- */

static const char *shim_outcome_of(const struct process_result *r)
{
	switch (r->end) {
	case PROCESS_EXITED:
		return r->code ? "failed" : "ok";
	case PROCESS_TIMED_OUT:
		return "timeout";
	case PROCESS_NOT_STARTED:
		return "not-started";
	case PROCESS_CANCELLED:
		return "cancelled";
	case PROCESS_SIGNALLED:
		break;
	}
	return "failed";
}

static bool shim_run_command(struct attempt *t, struct incore_error *e)
{
	struct job j = {.argv = t->cell.argv,
		.cwd = t->cell.cwd,
		.env = t->cell.env,
		.limit_ms = t->plan.timeout_ms,
		.grace_ms = GRACE_MS,
		.log_path = t->log,
		.is_cancelled = t->s->is_cancelled,
		.cancel_signal = t->s->cancel_signal};
	struct job_result r;
	struct strbuf how = {0};

	if (!job_run(&j, &r, e))
		return false;
	job_describe(&j, &r.process, &how);
	t->result.status = job_exit_status(&r.process);
	t->result.wall_ms = r.process.wall_ms;
	t->result.outcome = shim_outcome_of(&r.process);
	t->result.how = how.p ? arena_strdup(&t->arena, how.p) : NULL;
	sb_str(&t->last_line, job_last_line(&r));
	job_result_deinit(&r);
	sb_free(&how);
	return t->result.how || err_nomem(e);
}

static bool shim_prepare(struct attempt *t, struct incore_error *e)
{
	const struct sweep_plan *p = &t->plan;
	const struct sweep_shim *s = t->s;
	struct sweep_place at = {
		.base = s->base, .devices = getenv("INCORE_DEVICES"), .attempt = s->attempt};
	char host[256] = "";

	if (s->task >= p->n_tasks)
		return err_set(e, INCORE_USAGE, "no-such-task", "the plan has no task %llu",
			(unsigned long long)s->task);
	t->dir = sweep_attempt_dir(s->dir,
		sweep_task_name(
			sweep_cell_of(p, s->task), s->task % p->repeats, p->repeats, &t->arena),
		s->attempt, &t->arena);
	t->log = t->dir ? arena_printf(&t->arena, "%s/log", t->dir) : NULL;
	at.out = t->dir;
	gethostname(host, sizeof(host) - 1);
	t->result.begin_ms = sweep_now_ms();
	t->result.host = arena_strdup(
		&t->arena, getenv("SLURMD_NODENAME") ? getenv("SLURMD_NODENAME") : host);
	if (!t->log || !t->result.host)
		return err_nomem(e);
	return sweep_make_folders(t->dir, e) &&
	       sweep_expand(p, s->task, &at, &t->arena, &t->cell, e);
}

static bool shim_run_attempt(struct attempt *t, struct incore_error *e)
{
	struct sweep_result there;
	bool is_over;

	if (!sweep_result_read(t->dir, &t->arena, &there, &is_over, e))
		return false;
	if (is_over) /* another driver declared it cut before it began */
		return true;
	if (!shim_run_command(t, e))
		return false;
	if (strcmp(t->result.outcome, "cancelled") == 0)
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted; log %s", t->log);
	return find_files(t, t->cell.outputs, shim_take_output, e) &&
	       find_files(t, t->cell.captures, shim_take_capture, e) && shim_tell(t, e);
}

bool sweep_shim_run(const struct sweep_shim *s, struct incore_error *e)
{
	struct attempt t = {.s = s};
	char *plan = path_join(s->dir, SWEEP_PLAN_COPY);
	bool ok;

	arena_init(&t.arena);
	capture_cache_init(&t.seen);
	ok = (plan || err_nomem(e)) && sweep_plan_load(&t.plan, plan, e);
	ok = ok && shim_prepare(&t, e) && shim_run_attempt(&t, e);
	capture_cache_deinit(&t.seen);
	VEC_FREE(&t.outputs);
	VEC_FREE(&t.captures);
	sb_free(&t.last_line);
	sweep_plan_deinit(&t.plan);
	arena_deinit(&t.arena);
	mem_free(plan);
	return ok;
}
