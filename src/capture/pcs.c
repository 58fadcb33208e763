/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs.c: PC samples with the best method of the installed release and device: stochastic if
 * available, else host_trap; a shorter interval if there were no samples. Samples are read back and
 * packed, one file per kernel.
 */
#include <stdio.h>

#include "answer/captures.h"
#include "base/file.h"
#include "capture/folder.h"
#include "capture/roc.h"

/* The public examples use 1048576 cycles; kernels of some milliseconds need more samples. */
#define FIRST_CYCLES 65536
#define LEAST_CYCLES 256
#define CYCLES_STEP 16
#define FIRST_US 100 /* host_trap: interrupts every wave */
#define LEAST_US 1
#define US_STEP 10

struct pcs_state {
	struct roc *r;
	bool is_trap;
	uint64_t interval, n_samples;
};

/* --- reading back --- */

static uint64_t samples_of(const struct trace *t)
{
	uint64_t n = 0;

	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		n += t->samples[i].issued + t->samples[i].stalled;
	return n;
}

static bool keep(struct pcs_state *x, const struct capture *found, struct incore_error *e)
{
	struct roc *r = x->r;
	struct import_options o = {.want = IMPORT_ALL, .pool = r->q->drive.pool};
	struct roc_capture c = {.health = "ok"};
	struct trace *t;
	bool does, ok;

	if (!import_read(found, &o, &t, e))
		return false;
	if (!t->samples) { /* has only a timeline */
		trace_free(t);
		return true;
	}
	if (!x->is_trap)
		t->sampling.period_cyc = x->interval;
	c.samples = samples_of(t);
	c.launches = t->meta.launch.launch_count > 0 ? (uint64_t)t->meta.launch.launch_count : 0;
	ok = roc_wants(r, t->meta.kernel, &does, e);
	if (ok && does) {
		c.kernel = t->meta.kernel ? arena_strdup(&r->arena, t->meta.kernel) : NULL;
		c.file = folder_file_name(&r->arena, r->q->dir, c.kernel, "_samples");
		ok = c.file ? folder_pack(c.file, t, &r->q->drive, e) : err_nomem(e);
		ok = ok && (VEC_PUSH(&r->answer.captures, c) || err_nomem(e));
		x->n_samples += ok ? c.samples : 0;
	}
	trace_free(t);
	return ok;
}

/* A file without samples is no error here: a shorter interval is tried. */
static bool take_results(void *ctx, const char *path, struct incore_error *e)
{
	struct pcs_state *x = ctx;
	struct capture_list list;
	struct incore_error why = {0};
	bool ok = true;

	if (!import_find(path, NULL, &list, &why)) {
		incore_error_clear(&why);
		return true;
	}
	for (uint32_t i = 0; ok && i < list.n; i++) {
		ok = keep(x, &list.v[i], &why);
		if (!ok && err_is(&why, "no-samples")) {
			incore_error_clear(&why);
			ok = true;
		}
	}
	capture_list_deinit(&list);
	if (!ok)
		err_move(e, &why);
	return ok;
}

/* --- attempts --- */

static bool plan(struct pcs_state *x, uint64_t number, const char *because, struct incore_error *e)
{
	struct strbuf s = {0};
	char name[32];
	bool ok;

	snprintf(name, sizeof(name), "attempt_%llu", (unsigned long long)number);
	sb_puts(&s, "    pc_sampling_beta_enabled: true\n");
	rocprof_put_key(&s, "pc_sampling_method", x->is_trap ? "host_trap" : "stochastic");
	rocprof_put_key(&s, "pc_sampling_unit", x->is_trap ? "time" : "cycles");
	sb_printf(&s, "    pc_sampling_interval: %llu\n    kernel_trace: true\n",
		(unsigned long long)x->interval);
	sb_puts(&s, "    output_format: [json]\n");
	ok = roc_plan(x->r, name, because, &s, e);
	sb_free(&s);
	x->r->answer.method = x->is_trap ? "host_trap" : "stochastic";
	x->r->answer.interval = x->interval;
	return ok;
}

static bool is_unsupported(struct str said)
{
	return str_has(said, "not supported") || str_has(said, "NOT_AVAILABLE") ||
	       str_has(said, "NOT_IMPLEMENTED") || str_has(said, "no PC sampling");
}

/* Chooses the next settings; false: nothing is left to try. */
static bool steer(struct pcs_state *x, struct strbuf *because)
{
	const struct rocprof_run *t = &roc_last(x->r)->run;

	sb_reset(because);
	if (t->status) {
		if (x->is_trap || x->r->q->method || !is_unsupported(rocprof_run_said(t)))
			return false;
		x->is_trap = true;
		x->interval = x->r->q->interval == NO_COUNT ? FIRST_US : x->r->q->interval;
		sb_puts(because, "the device has no stochastic sampling: host_trap");
		return true;
	}
	if (x->r->q->interval != NO_COUNT || x->interval <= (x->is_trap ? LEAST_US : LEAST_CYCLES))
		return false;
	x->interval /= x->is_trap ? US_STEP : CYCLES_STEP;
	sb_printf(because, "no sample: one every %llu %s", (unsigned long long)x->interval,
		x->is_trap ? "us" : "cycles");
	return true;
}

static bool attempts(struct pcs_state *x, struct incore_error *e)
{
	struct strbuf because = {0};
	bool ok = true, has_more = true;

	sb_puts(&because, "the first attempt");
	for (uint64_t i = 0; ok && has_more && i <= x->r->q->retries; i++) {
		ok = (!because.failed || err_nomem(e)) && plan(x, i + 1, because.p, e) &&
		     roc_run_last(x->r, e) &&
		     (roc_last(x->r)->run.status ||
			     roc_each_file(x->r, "_results.json", take_results, x, e));
		if (ok && !roc_last(x->r)->run.status)
			roc_last(x->r)->run.outcome = x->n_samples ? "usable" : "no sample";
		has_more = ok && !x->n_samples && i < x->r->q->retries && steer(x, &because);
	}
	sb_free(&because);
	if (ok && !x->n_samples && roc_last(x->r)->run.status)
		ok = roc_app_failed(x->r, e);
	return ok;
}

bool roc_take_pcs(struct roc *r, struct incore_error *e)
{
	static const char *const needs[] = {"--pc-sampling-beta-enabled", "--pc-sampling-method",
		"--pc-sampling-unit", "--pc-sampling-interval", "--kernel-trace", NULL};
	const struct roc_request *q = r->q;
	struct pcs_state x = {.r = r};

	if (q->method && strcmp(q->method, "stochastic") != 0 &&
		strcmp(q->method, "host_trap") != 0)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--method is stochastic or host_trap, not %s", q->method);
	if (q->interval == 0)
		return err_set(e, INCORE_USAGE, "bad-option-value", "--interval is at least 1");
	if (!roc_open(r, needs, e))
		return false;
	x.is_trap = q->method ? !strcmp(q->method, "host_trap")
			      : !str_has(str_of(r->tool.help), "stochastic");
	x.interval = q->interval != NO_COUNT ? q->interval : x.is_trap ? FIRST_US : FIRST_CYCLES;
	if (!x.is_trap && (x.interval & (x.interval - 1)))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--interval of stochastic samples is a power of two, not %llu",
			(unsigned long long)x.interval);
	return roc_finish(r, q->is_dry ? plan(&x, 1, "the first attempt", e) : attempts(&x, e), e);
}
