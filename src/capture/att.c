/* SPDX-License-Identifier: Apache-2.0 */
/* att.c: runs discovery and attempts until one can be trusted, and tidies the directory. */
#include "capture/att.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

#define DISCOVERY_REASON "which kernels are launched, and how often"
#define FIRST_REASON "the first attempt"
#define SPARE_BYTES ((uint64_t)64 << 20) /* disk space, besides the buffer */

void att_init(struct att *a, const struct att_request *q)
{
	*a = (struct att){.q = q, .answer = {.place = {.directory = q->dir}}};
	arena_init(&a->arena);
	launches_init(&a->launches);
}

void att_deinit(struct att *a)
{
	for (size_t i = 0; i < a->answer.attempts.n; i++)
		VEC_FREE(&a->answer.attempts.v[i].captures);
	VEC_FREE(&a->answer.attempts);
	VEC_FREE(&a->answer.warnings);
	VEC_FREE(&a->window.launches.ranges);
	VEC_FREE(&a->tried.ranges);
	journal_close(&a->journal);
	launches_deinit(&a->launches);
	arena_deinit(&a->arena);
}

/* --- files --- */

static bool check_room(const struct att *a, struct incore_error *e)
{
	struct statvfs fs;
	uint64_t need = a->window.buffer_bytes + SPARE_BYTES, room;

	if (statvfs(a->answer.place.directory, &fs) != 0)
		return true; /* unknown here: writing will show it */
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

static bool run_tool(struct att *a, struct att_attempt *t, struct incore_error *e)
{
	return rocprof_run_start(&t->run, &a->q->drive, a->q->limit_s, &a->journal, e);
}

static bool app_failed(struct att *a, const struct att_attempt *t, struct incore_error *e)
{
	a->app_status = (int)t->run.status;
	return rocprof_run_failed(&t->run, a->q->limit_s, e);
}

static void end_run(struct att *a, struct att_attempt *t)
{
	rocprof_run_clear(&t->run, a->q->keeps_raw);
	rocprof_run_deinit(&t->run);
}

static bool discover(struct att *a, struct incore_error *e)
{
	struct att_attempt t = {0};
	bool ok = att_plan(a, NULL, DISCOVERY_REASON, &t, e) && run_tool(a, &t, e) &&
		  (!t.run.status || app_failed(a, &t, e)) &&
		  launches_read(&a->launches, t.run.raw, e);

	a->has_launches = ok;
	a->answer.kernels = (struct rows){a->launches.kernels.v, a->launches.kernels.n};
	a->answer.verdict = "listed";
	end_run(a, &t);
	return ok;
}

/* --- attempts --- */

static bool warn(struct att *a, struct incore_error *e, const char *text)
{
	return (text && VEC_PUSH(&a->answer.warnings, text)) || err_nomem(e);
}

/* Warns of environment variables that would change what the tool does. */
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

static bool has_lost(struct str said)
{
	return str_has(said, "Thread trace buffer full") || str_has(said, "Data Lost") ||
	       str_has(said, "STITCH_INCOMPLETE");
}

static bool note_tried(struct att *a, struct incore_error *e)
{
	EACH (const struct number_range, r, a->window.launches.ranges.v,
		a->window.launches.ranges.n)
		if (!VEC_PUSH(&a->tried.ranges, *r))
			return err_nomem(e);
	return true;
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

/* Does one run and judges it. *s shows what to change; the row stays even after a failure. */
static bool attempt(struct att *a, const char *because, struct att_sight *s, struct incore_error *e)
{
	struct att_attempt t;
	bool ok;

	if (!check_room(a, e) || !att_plan(a, &a->window, because, &t, e))
		return false;
	t.run.outcome = "not finished";
	ok = note_tried(a, e) && run_tool(a, &t, e);
	if (ok) {
		ok = att_judge(a, &t, s, e);
		s->is_truncated |= has_lost(rocprof_run_said(&t.run));
		t.n_truncated += has_lost(rocprof_run_said(&t.run));
		t.run.outcome = ok ? outcome_of(&t, s) : "not what was asked for";
	}
	if (ok && t.run.status)
		ok = app_failed(a, &t, e);
	end_run(a, &t);
	if (!VEC_PUSH(&a->answer.attempts, t)) {
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

/* Moves the captures of the best attempt into the directory itself and removes those of others. */
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

/* Makes attempts until one is good, nothing is left to try, or the limit is reached. */
static bool try_attempts(struct att *a, struct incore_error *e)
{
	struct strbuf because = {0};
	bool ok = true, has_more = true;

	sb_puts(&because, FIRST_REASON);
	progress_begin(a->q->drive.progress, "attempts", a->q->retries + 1);
	for (uint64_t i = 0; ok && has_more && i <= a->q->retries; i++) {
		struct att_sight s = {0};

		a->answer.repeat = att_repeat(a);
		ok = ((!because.failed && a->answer.repeat) || err_nomem(e)) &&
		     attempt(a, because.p, &s, e);
		sb_reset(&because);
		has_more = ok && i < a->q->retries && att_steer(a, &s, &because);
		progress_add(a->q->drive.progress, 1);
	}
	progress_end(a->q->drive.progress);
	sb_free(&because);
	return ok;
}

/* Adds the runs that would be made as rows. */
static bool plan_only(struct att *a, struct incore_error *e)
{
	struct att_attempt t;

	a->answer.verdict = "planned";
	if (!a->window.kernel)
		a->window.kernel = "(the kernel that takes most time)";
	if (!a->window.launches.ranges.n && /* as far as is known before the discovery run */
		!number_set_parse(&a->window.launches, STR("2"), "--launch", e))
		return false;
	if (!a->q->is_list) {
		if (!att_plan(a, &a->window, FIRST_REASON, &t, e))
			return false;
		if (!VEC_PUSH(&a->answer.attempts, t))
			return err_nomem(e);
	}
	if (a->q->has_no_discovery)
		return true;
	return att_plan(a, NULL, DISCOVERY_REASON, &t, e) &&
	       (VEC_PUSH(&a->answer.attempts, t) || err_nomem(e));
}

bool att_take(struct att *a, struct incore_error *e)
{
	struct incore_error late = {0};
	bool ok;

	if (!att_prepare(a, e) || !warn_of_environment(a, e))
		return false;
	if (a->q->is_dry)
		return plan_only(a, e);
	if (!folder_open(&a->answer.place, a->q->dir, &a->journal, &a->arena, e) ||
		(!a->q->has_no_discovery && !discover(a, e)))
		return false;
	if (a->q->is_list)
		return true;
	if (a->has_launches && !att_choose(a, e))
		return false;
	ok = try_attempts(a, e);
	if (!place_files(a, ok ? e : &late))
		ok = false;
	else if (!ok && e->status == INCORE_NO)
		a->answer.verdict = "wrong";
	incore_error_clear(&late);
	return folder_write_result(a->q->dir, &att_record, &a->answer, &a->arena, ok, e);
}
