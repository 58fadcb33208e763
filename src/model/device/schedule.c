/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c: when and where does each task run, and what limits the step? */
#include "model/device/schedule.h"

#include <math.h>

#include "base/search.h"
#include "model/engine/to_trace.h"

#define ROUNDS 3 /* loads depend on the schedule and the schedule on loads */

struct waiting { /* a task: how many tasks it waits for, and the last of their runs to end so far */
	uint32_t n_left;
	uint64_t ready_ns;
	uint32_t cause;
};

struct scheduler {
	struct schedule *s;
	const struct device_step *d;
	const struct schedule_options *o;
	struct waiting *tasks;
	uint32_t *first_edge; /* by task: first index in `after`, the tasks that wait for it */
	uint32_t *after;
	VEC(uint32_t) ready;
	uint64_t *free_ns; /* by core */
	uint32_t *last;	   /* by core: its last run */
	uint64_t switch_ns, ready_ns;
};

void schedule_deinit(struct schedule *s)
{
	VEC_FREE(&s->runs);
	VEC_FREE(&s->cause);
	VEC_FREE(&s->path.parts);
}

static double kernel_us(const struct device_kernel *k)
{
	return k->set ? k->estimate_us : k->device_us;
}

static const struct device_kernel *kernel_of(const struct device_step *d, uint32_t task)
{
	const struct swim_kernel *k = &d->s->kernels.v[d->s->tasks.v[task].kernel];

	EACH (const struct device_kernel, x, d->kernels.v, d->kernels.n) {
		if (x->k == k)
			return x;
	}
	return NULL;
}

/* --- the critical path --- */

ORDER(by_cost, struct schedule_part, DOWN(us) A_TO_Z(kernel->name))

static bool add_part(struct critical_path *p, const struct swim_kernel *k, double us)
{
	EACH (struct schedule_part, x, p->parts.v, p->parts.n) {
		if (x->kernel == k) {
			x->runs++;
			x->us += us;
			return true;
		}
	}
	return VEC_PUSH(&p->parts, (struct schedule_part){k, 1, us});
}

/* Goes from the run that ends last back over what each run waited for. */
static bool schedule_find_path(struct schedule *s, const struct swimlane *lane, double us_per_tick)
{
	struct critical_path *p = &s->path;
	uint64_t first = UINT64_MAX, end = 0;
	uint32_t at = SCHEDULE_NONE;

	for (uint32_t i = 0; i < s->runs.n; i++) {
		first = s->runs.v[i].start < first ? s->runs.v[i].start : first;
		if (at == SCHEDULE_NONE || s->runs.v[i].end > end) {
			at = i;
			end = s->runs.v[i].end;
		}
	}
	p->span_us = s->runs.n ? (double)(end - first) * us_per_tick : 0;
	for (; at != SCHEDULE_NONE; at = s->cause.v[at]) {
		const struct swim_run *r = &s->runs.v[at];
		double us = (double)(r->end - r->start) * us_per_tick;

		p->hops++;
		p->kernels_us += us;
		if (!add_part(p, &lane->kernels.v[lane->tasks.v[r->task].kernel], us))
			return false;
	}
	SORT(p->parts.v, p->parts.n, by_cost);
	return true;
}

static void find_use(struct schedule *s, uint32_t n_aic, uint32_t n_aiv, double us_per_tick)
{
	double busy[2] = {0, 0};

	EACH (const struct swim_run, r, s->runs.v, s->runs.n)
		busy[r->core >= n_aic] += (double)(r->end - r->start) * us_per_tick;
	s->busy_aic = n_aic && s->path.span_us > 0 ? busy[0] / (n_aic * s->path.span_us) : 0;
	s->busy_aiv = n_aiv && s->path.span_us > 0 ? busy[1] / (n_aiv * s->path.span_us) : 0;
}

/* --- the schedule of the device --- */

/* Finds, by task, the last to end of the runs that it waits for. */
static void find_last_before(
	const struct swimlane *lane, const uint32_t *last_of_task, uint32_t *last_before)
{
	for (size_t i = 0; i < lane->tasks.n; i++)
		last_before[i] = SCHEDULE_NONE;
	EACH (const struct swim_edge, k, lane->edges.v, lane->edges.n) {
		uint32_t before = last_of_task[k->before], *at = &last_before[k->after];

		if (before != SCHEDULE_NONE &&
			(*at == SCHEDULE_NONE || lane->runs.v[before].end > lane->runs.v[*at].end))
			*at = before;
	}
}

/* The cause of a run is what ended last before it: a task that it waits for, or the run before it
 * on its core. */
bool schedule_recorded(struct schedule *s, const struct device_step *d, struct incore_error *e)
{
	const struct swimlane *lane = d->s;
	uint32_t *last_of_task = mem_alloc((2 * lane->tasks.n + 1) * sizeof(uint32_t));
	uint32_t *last_before = last_of_task ? last_of_task + lane->tasks.n : NULL;
	uint32_t *on_core = mem_alloc((lane->is_aiv.n + 1) * sizeof(uint32_t));
	uint32_t n_aic = 0;
	bool ok = last_of_task && on_core;

	*s = (struct schedule){0};
	for (size_t i = 0; ok && i < lane->tasks.n; i++)
		last_of_task[i] = SCHEDULE_NONE;
	for (size_t i = 0; ok && i < lane->is_aiv.n; i++) {
		on_core[i] = SCHEDULE_NONE;
		n_aic += !lane->is_aiv.v[i];
	}
	for (uint32_t i = 0; ok && i < lane->runs.n; i++) {
		uint32_t *last = &last_of_task[lane->runs.v[i].task];

		if (*last == SCHEDULE_NONE || lane->runs.v[i].end > lane->runs.v[*last].end)
			*last = i;
	}
	if (ok)
		find_last_before(lane, last_of_task, last_before);
	for (uint32_t i = 0; ok && i < lane->runs.n; i++) {
		const struct swim_run *r = &lane->runs.v[i];
		uint32_t cause = on_core[r->core], before = last_before[r->task];

		if (before != SCHEDULE_NONE && lane->runs.v[before].end <= r->start &&
			(cause == SCHEDULE_NONE ||
				lane->runs.v[before].end > lane->runs.v[cause].end))
			cause = before;
		ok = VEC_PUSH(&s->runs, *r) && VEC_PUSH(&s->cause, cause);
		on_core[r->core] = i;
	}
	ok = ok && schedule_find_path(s, lane, swimlane_us(lane, 1));
	if (ok)
		find_use(s, n_aic, (uint32_t)lane->is_aiv.n - n_aic, swimlane_us(lane, 1));
	mem_free(last_of_task);
	mem_free(on_core);
	return ok || err_nomem(e);
}

/* --- list scheduling --- */

static uint32_t earliest(const struct scheduler *x, uint32_t from, uint32_t n)
{
	uint32_t best = from;

	for (uint32_t i = from; i < from + n; i++)
		if (x->free_ns[i] < x->free_ns[best])
			best = i;
	return best;
}

static bool put_run(struct scheduler *x, uint32_t task, uint32_t core, uint64_t start, uint64_t dur,
	uint32_t cause)
{
	x->free_ns[core] = start + dur;
	x->last[core] = (uint32_t)x->s->runs.n;
	return VEC_PUSH(&x->s->runs, (struct swim_run){task, core, start, start + dur}) &&
	       VEC_PUSH(&x->s->cause, cause);
}

/* Places a block of a task on one core, or on one AIC and its AIVs. */
static bool place_block(struct scheduler *x, uint32_t task, bool aic, unsigned n_aiv)
{
	const struct waiting *w = &x->tasks[task];
	uint64_t dur = (uint64_t)(kernel_us(kernel_of(x->d, task)) * 1000 + 0.5),
		 start = w->ready_ns;
	uint32_t cores[3], n = 0, cause = w->cause, n_aic = x->o->n_aic;

	if (aic)
		cores[n++] = earliest(x, 0, n_aic);
	if (n_aiv == 2 && aic && x->o->n_aiv == 2 * n_aic) {
		cores[n++] = n_aic + 2 * cores[0];
		cores[n++] = n_aic + 2 * cores[0] + 1;
	} else if (n_aiv) {
		uint32_t first = earliest(x, n_aic, x->o->n_aiv);

		cores[n++] = first;
		if (n_aiv == 2 && x->o->n_aiv > 1)
			cores[n++] = first > n_aic ? first - 1 : first + 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = x->last[cores[i]] == SCHEDULE_NONE
				      ? 0
				      : x->free_ns[cores[i]] + x->switch_ns;

		if (at > start) {
			start = at;
			cause = x->last[cores[i]];
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (!put_run(x, task, cores[i], start, dur, cause))
			return false;
	return true;
}

static bool place_task(struct scheduler *x, uint32_t task)
{
	const struct swim_task *t = &x->d->s->tasks.v[task];
	uint32_t blocks = t->n_aic ? t->n_aic : t->n_aiv, first = (uint32_t)x->s->runs.n, last;
	unsigned n_aiv = t->n_aic ? (unsigned)(t->n_aiv / t->n_aic) : 1;

	for (uint32_t b = 0; b < blocks; b++)
		if (!place_block(x, task, t->n_aic > 0, n_aiv > 2 ? 2 : t->n_aiv ? n_aiv : 0))
			return false;
	last = first;
	for (uint32_t i = first; i < x->s->runs.n; i++)
		last = x->s->runs.v[i].end > x->s->runs.v[last].end ? i : last;
	for (uint32_t i = x->first_edge[task]; i < x->first_edge[task + 1]; i++) {
		struct waiting *w = &x->tasks[x->after[i]];
		uint64_t ready = x->s->runs.n > first ? x->s->runs.v[last].end + x->ready_ns
						      : x->tasks[task].ready_ns;

		if (ready >= w->ready_ns) {
			w->ready_ns = ready;
			w->cause = x->s->runs.n > first ? last : x->tasks[task].cause;
		}
		if (--w->n_left == 0 && !VEC_PUSH(&x->ready, x->after[i]))
			return false;
	}
	return true;
}

/* Takes the task that has been ready longest; among equals the one submitted first. */
static uint32_t take_ready(struct scheduler *x)
{
	size_t best = 0;
	uint32_t task;

	for (size_t i = 1; i < x->ready.n; i++) {
		const struct waiting *a = &x->tasks[x->ready.v[i]],
				     *b = &x->tasks[x->ready.v[best]];

		if (a->ready_ns < b->ready_ns ||
			(a->ready_ns == b->ready_ns && x->ready.v[i] < x->ready.v[best]))
			best = i;
	}
	task = x->ready.v[best];
	x->ready.v[best] = x->ready.v[--x->ready.n];
	return task;
}

static bool schedule_run_all(struct scheduler *x, struct incore_error *e)
{
	const struct swimlane *lane = x->d->s;
	uint32_t n_done = 0, n_cores = x->o->n_aic + x->o->n_aiv;

	for (uint32_t i = 0; i < n_cores; i++) {
		x->last[i] = SCHEDULE_NONE;
		x->free_ns[i] = 0;
	}
	memset(x->first_edge, 0, (lane->tasks.n + 2) * sizeof(uint32_t));
	for (uint32_t i = 0; i < lane->tasks.n; i++)
		x->tasks[i] = (struct waiting){.cause = SCHEDULE_NONE};
	EACH (const struct swim_edge, k, lane->edges.v, lane->edges.n) {
		x->first_edge[k->before + 2]++;
		x->tasks[k->after].n_left++;
	}
	for (size_t i = 2; i < lane->tasks.n + 2; i++)
		x->first_edge[i] += x->first_edge[i - 1];
	EACH (const struct swim_edge, k, lane->edges.v, lane->edges.n)
		x->after[x->first_edge[k->before + 1]++] = k->after;
	for (uint32_t i = 0; i < lane->tasks.n; i++)
		if (!x->tasks[i].n_left && !VEC_PUSH(&x->ready, i))
			return err_nomem(e);
	for (; x->ready.n; n_done++)
		if (!place_task(x, take_ready(x)))
			return err_nomem(e);
	return n_done == lane->tasks.n || err_set(e, INCORE_BAD_INPUT, "task-cycle",
						  "%u of %zu tasks wait for each other in a cycle",
						  (uint32_t)lane->tasks.n - n_done, lane->tasks.n);
}

struct place {
	uint64_t start;
	uint32_t old;
};
ORDER(by_place, struct place, UP(start) UP(old))

/* Sorts the runs and renumbers the causes accordingly. */
static bool sort_runs(struct schedule *s)
{
	size_t n = s->runs.n;
	struct place *order = mem_zalloc(n + 1, sizeof(*order));
	struct swim_run *runs = mem_zalloc(n + 1, sizeof(*runs));
	uint32_t *cause = mem_zalloc(2 * n + 1, sizeof(*cause)), *now = cause ? cause + n : NULL;
	bool ok = order && runs && cause;

	for (uint32_t i = 0; ok && i < n; i++)
		order[i] = (struct place){s->runs.v[i].start, i};
	if (ok)
		SORT(order, n, by_place);
	for (uint32_t i = 0; ok && i < n; i++)
		now[order[i].old] = i;
	for (uint32_t i = 0; ok && i < n; i++) {
		uint32_t from = s->cause.v[order[i].old];

		runs[i] = s->runs.v[order[i].old];
		cause[i] = from == SCHEDULE_NONE ? from : now[from];
	}
	if (ok && n) {
		memcpy(s->runs.v, runs, n * sizeof(*runs));
		memcpy(s->cause.v, cause, n * sizeof(*cause));
	}
	mem_free(order);
	mem_free(runs);
	mem_free(cause);
	return ok;
}

static bool check_cores(
	const struct device_step *d, const struct schedule_options *o, struct incore_error *e)
{
	EACH (const struct swim_kernel, k, d->s->kernels.v, d->s->kernels.n) {
		if ((k->is_aic && !o->n_aic) || (k->is_aiv && !o->n_aiv))
			return err_set(e, INCORE_USAGE, "no-cores",
				"%s needs %s cores, and there are none", k->name,
				k->is_aic && !o->n_aic ? "AIC" : "AIV");
	}
	return true;
}

bool schedule_make(struct schedule *s, struct device_step *d, const struct schedule_options *o,
	struct incore_error *e)
{
	double us_per_cyc = PROF_ONE / (double)o->profile->k[K_CLOCK_MHZ].e4;
	struct scheduler x = {.s = s, .d = d, .o = o};
	size_t n = d->s->tasks.n;
	bool ok = check_cores(d, o, e);

	*s = (struct schedule){0};
	if (!ok)
		return false;
	x.switch_ns =
		(uint64_t)((double)o->profile->k[K_TASK_SWITCH].e4 / PROF_ONE * us_per_cyc * 1000);
	x.ready_ns =
		(uint64_t)((double)o->profile->k[K_TASK_READY].e4 / PROF_ONE * us_per_cyc * 1000);
	x.tasks = mem_zalloc(n + 1, sizeof(*x.tasks));
	x.first_edge = mem_zalloc(n + 2, sizeof(*x.first_edge));
	x.after = mem_zalloc(d->s->edges.n + 1, sizeof(*x.after));
	x.free_ns = mem_zalloc(o->n_aic + o->n_aiv + 1, sizeof(*x.free_ns));
	x.last = mem_zalloc(o->n_aic + o->n_aiv + 1, sizeof(*x.last));
	ok = (x.tasks && x.first_edge && x.after && x.free_ns && x.last) || err_nomem(e);
	for (unsigned round = 0; ok && round < ROUNDS; round++) {
		s->runs.n = s->cause.n = 0;
		ok = device_estimate(d, o->profile, round > 0, e) && schedule_run_all(&x, e) &&
		     (sort_runs(s) || err_nomem(e));
		if (ok)
			device_overlap(d, s->runs.v, s->runs.n);
	}
	ok = ok && (schedule_find_path(s, d->s, 1e-3) || err_nomem(e));
	if (ok)
		find_use(s, o->n_aic, o->n_aiv, 1e-3);
	EACH (const struct device_kernel, k, d->kernels.v, d->kernels.n)
		s->n_measured += !k->set;
	VEC_FREE(&x.ready);
	mem_free(x.tasks);
	mem_free(x.first_edge);
	mem_free(x.after);
	mem_free(x.free_ns);
	mem_free(x.last);
	return ok;
}

/* --- as a trace --- */

/* Represents a core's tasks as a stream of ops, which is converted to a trace like that of a
 * kernel. */
static bool schedule_put_core(const struct schedule *s, const struct device_step *d, uint32_t core,
	const struct schedule_options *o, struct opstream_set *set, struct timed *timed,
	uint32_t *place, struct incore_error *e)
{
	bool is_aiv = core >= o->n_aic;
	unsigned pipe = is_aiv ? OPP_V : OPP_M;
	double cyc_per_ns = (double)o->profile->k[K_CLOCK_MHZ].e4 / PROF_ONE / 1000;
	struct opstream *stream = opstream_set_new(set, e);
	struct timed_core c = {.stream = (uint32_t)set->v.n - 1, .is_complete = true};
	uint32_t n = 0;
	bool ok = stream != NULL;

	if (!ok)
		return false;
	stream->core = is_aiv ? CORE_AIV : CORE_AIC;
	stream->lane = is_aiv ? (core - o->n_aic) % 2 : 0;
	stream->block_idx = c.block = is_aiv ? (core - o->n_aic) / 2 : core;
	stream->is_complete = true;
	ok = opstream_add_str(stream, str_of("step"), &stream->kernel, e) &&
	     opstream_add_str(stream, str_of("schedule"), &stream->front_end, e);
	for (uint32_t i = 0; ok && i < s->runs.n; i++) {
		const struct swim_run *r = &s->runs.v[i];
		uint64_t start = (uint64_t)((double)r->start * cyc_per_ns);
		uint64_t end = (uint64_t)((double)r->end * cyc_per_ns);
		const char *name = d->s->kernels.v[d->s->tasks.v[r->task].kernel].name;
		struct op_desc op = op_desc_of(OPK_EXT, (enum op_pipe)pipe, name, 0);

		if (r->core != core)
			continue;
		place[i] = n;
		ok = opstream_push(stream, &op, e) &&
		     (VEC_PUSH(&c.lanes[pipe].slices,
			      (struct timed_slice){
				      .start = start, .dur = (uint32_t)(end - start), .op = n++}) ||
			     err_nomem(e));
		c.end_cyc = end;
	}
	ok = ok && opstream_seal(stream, e);
	if (!ok || !VEC_PUSH(&timed->cores, c)) {
		VEC_FREE(&c.lanes[pipe].slices);
		return ok && err_nomem(e);
	}
	return true;
}

static bool schedule_put_causes(
	const struct schedule *s, uint32_t n_aic, const uint32_t *place, struct timed *timed)
{
	for (uint32_t i = 0; i < s->runs.n; i++) {
		uint32_t from = s->cause.v[i];
		unsigned a, b;

		if (from == SCHEDULE_NONE || s->runs.v[from].core == s->runs.v[i].core)
			continue;
		a = s->runs.v[from].core >= n_aic ? OPP_V : OPP_M;
		b = s->runs.v[i].core >= n_aic ? OPP_V : OPP_M;
		if (!VEC_PUSH(&timed->links,
			    (struct timed_link){s->runs.v[from].core * ENGINE_PIPES + a,
				    place[from], s->runs.v[i].core * ENGINE_PIPES + b, place[i],
				    (uint8_t)LINK_CROSS_CORE}))
			return false;
	}
	return true;
}

bool schedule_to_trace(const struct schedule *s, const struct device_step *d,
	const struct schedule_options *o, struct trace **out, struct incore_error *e)
{
	uint32_t *place = mem_zalloc(s->runs.n + 1, sizeof(*place));
	struct timed timed = {.is_complete = true, .has_load = true};
	struct opstream_set set;
	bool ok = place || err_nomem(e);

	opstream_set_init(&set);
	arena_init(&timed.arena);
	for (uint32_t core = 0; ok && core < o->n_aic + o->n_aiv; core++)
		ok = schedule_put_core(s, d, core, o, &set, &timed, place, e);
	ok = ok && (schedule_put_causes(s, o->n_aic, place, &timed) || err_nomem(e)) &&
	     timed_to_trace(&set, &timed, o->profile, out, e);
	mem_free(place);
	timed_deinit(&timed);
	opstream_set_deinit(&set);
	return ok;
}
