/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c: the runs, one after the other, and how their results are combined. */
#include "capture/cuda.h"

#include <math.h>

#include "base/file.h"

#define USUAL_PERIOD 12u /* log2 of cycles, used if nothing is known */

void cuda_init(struct cuda *c, const struct cuda_request *q)
{
	*c = (struct cuda){.q = q,
		.answer = {.place = {.directory = q->dir}, .mode = q->mode, .overhead = NAN}};
	arena_init(&c->arena);
	while (q->period != NO_COUNT && UINT64_C(1) << c->period_log2 > q->period)
		c->period_log2--;
	while (q->period != NO_COUNT && UINT64_C(1) << c->period_log2 < q->period)
		c->period_log2++;
}

void cuda_deinit(struct cuda *c)
{
	for (size_t i = 0; i < c->answer.runs.n; i++)
		job_result_deinit(&c->answer.runs.v[i].result);
	VEC_FREE(&c->answer.runs);
	VEC_FREE(&c->answer.kernels);
	VEC_FREE(&c->answer.captures);
	VEC_FREE(&c->answer.warnings);
	name_filter_deinit(&c->wanted);
	name_filter_deinit(&c->unwanted);
	journal_close(&c->journal);
	arena_deinit(&c->arena);
}

static struct cuda_run_row *last_run(struct cuda *c)
{
	return &c->answer.runs.v[c->answer.runs.n - 1];
}

static void remove_logs(struct cuda *c)
{
	for (size_t i = 0; i < c->answer.runs.n && !c->q->keeps_raw; i++) {
		remove_tree(c->answer.runs.v[i].folder);
		leftover_drop(c->answer.runs.v[i].folder);
	}
}

/* A run without the sampler. */
static bool look(struct cuda *c, struct incore_error *e)
{
	struct cuda_processes p = {0};
	bool ok = cuda_run(c, CUDA_LOOK, e) && cuda_open_logs(c, last_run(c), &p, e) &&
		  cuda_judge_logs(c, last_run(c), &p, e) && cuda_add_times(c, &p, false, e) &&
		  cuda_choose_period(c, &p, e);

	cuda_processes_deinit(&p);
	return ok;
}

/* The application's own failure is reported once the captured data is safe. */
static bool app_failed(struct cuda *c, struct incore_error *e)
{
	const struct cuda_run_row *r = last_run(c);
	struct strbuf how = {0};

	job_describe(&(struct job){.argv = c->q->drive.app, .limit_ms = c->q->limit_s * 1000},
		&r->result.process, &how);
	c->app_status = (int)r->status;
	err_set(e, INCORE_FAILED, "app-failed",
		"%s with the application: %s; %zu capture%s; log %s; it ends: %.*s", r->name,
		how.p ? how.p : "", c->answer.captures.n, plural(c->answer.captures.n), r->log,
		STR_ARG(job_last_line(&r->result)));
	sb_free(&how);
	return false;
}

static bool warn_of_counts(
	struct cuda *c, const struct cuda_processes *exact, struct incore_error *e)
{
	size_t n = 0;

	EACH (const struct cuda_process, p, exact->v.v, exact->v.n)
		n += p->log.counts.n;
	return n || cuda_warn(c, e, "the exact run gave no counts: captures are without them");
}

static bool take_samples(struct cuda *c, struct incore_error *e)
{
	enum cuda_mode mode = !strcmp(c->q->mode, "serialised") ? CUDA_SERIALISED : CUDA_CONTINUOUS;
	struct cuda_processes samples = {0}, exact = {0};
	struct incore_error late = {0};
	size_t at;
	bool ok = cuda_run(c, mode, e), is_failed;

	at = c->answer.runs.n - 1;
	is_failed = ok && c->answer.runs.v[at].status;
	ok = ok && cuda_open_logs(c, &c->answer.runs.v[at], &samples, e) &&
	     (is_failed || cuda_judge_logs(c, &c->answer.runs.v[at], &samples, e)) &&
	     cuda_add_times(c, &samples, true, e) && cuda_end_times(c, e);
	if (ok && c->q->is_exact && !is_failed)
		ok = cuda_run(c, CUDA_EXACT, e) && cuda_open_logs(c, last_run(c), &exact, e) &&
		     cuda_judge_logs(c, last_run(c), &exact, e) && warn_of_counts(c, &exact, e);
	/* samples are kept even if the exact run failed */
	if (samples.v.n && !cuda_pack(c, &samples, &exact, ok ? e : &late))
		ok = false;
	incore_error_clear(&late);
	cuda_processes_deinit(&samples);
	cuda_processes_deinit(&exact);
	if (ok && (is_failed || last_run(c)->status))
		ok = app_failed(c, e);
	return ok;
}

static bool plan_only(struct cuda *c, struct incore_error *e)
{
	(void)e;
	c->answer.verdict = "planned";
	return true;
}

static bool run_all(struct cuda *c, struct incore_error *e)
{
	bool ok = true;

	progress_begin(c->q->drive.progress, "runs",
		(uint64_t)!c->q->has_no_look + !c->q->is_list + c->q->is_exact);
	if (!c->q->has_no_look)
		ok = look(c, e) && (!last_run(c)->status || app_failed(c, e));
	progress_add(c->q->drive.progress, 1);
	if (ok && c->q->is_list)
		ok = cuda_end_times(c, e);
	else if (ok)
		ok = take_samples(c, e);
	progress_end(c->q->drive.progress);
	return ok;
}

bool cuda_take(struct cuda *c, struct incore_error *e)
{
	bool ok;

	if ((c->q->kernel && !name_filter_init(&c->wanted, c->q->kernel, e)) ||
		(c->q->exclude && !name_filter_init(&c->unwanted, c->q->exclude, e)) ||
		!cuda_find_tools(c, e))
		return false;
	if (c->q->is_dry)
		return plan_only(c, e);
	if (!folder_open(&c->answer.place, c->q->dir, &c->journal, &c->arena, e))
		return false;
	ok = run_all(c, e);
	c->is_no = !c->q->is_list && !c->answer.captures.n;
	c->answer.verdict = c->q->is_list ? "listed" : c->is_no ? "nothing" : "captured";
	remove_logs(c);
	return folder_write_result(c->q->dir, &cuda_record, &c->answer, &c->arena, ok, e);
}
