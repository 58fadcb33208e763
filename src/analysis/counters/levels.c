/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c: issues of memory instructions beside the number of those in flight. */
#include "analysis/counters/levels.h"

#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

const char *const level_counters[LEVEL_KINDS] = {
	"SQ_INST_LEVEL_VMEM", "SQ_INST_LEVEL_LDS", "SQ_INST_LEVEL_SMEM"};

struct issue {
	uint64_t time_cyc;
	clock_idx clock;
	uint16_t cu;
	uint8_t kind, simd;
	code_idx code;
};
ORDER(by_place_and_time, struct issue, UP(clock) UP(cu) UP(kind) UP(time_cyc) UP(simd) UP(code))

struct level_worker {
	VEC(struct issue) issues;
};

static unsigned counter_kind(const char *name)
{
	unsigned k = 0;

	while (k < LEVEL_KINDS && strcmp(name, level_counters[k]) != 0)
		k++;
	return k;
}

unsigned levels_find(const struct trace *t)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < t->n_counters; i++)
		found |= 1u << counter_kind(t->counters[i].name);
	return found & ((1u << LEVEL_KINDS) - 1);
}

unsigned level_kind(enum inst_class c)
{
	switch (c) {
	case CLASS_VMEM_LOAD:
	case CLASS_VMEM_STORE:
	case CLASS_VMEM_ATOMIC:
	case CLASS_VMEM_TO_LDS:
		return 0;
	case CLASS_LDS:
	case CLASS_LDS_XLANE:
		return 1;
	case CLASS_SMEM:
		return 2;
	default:
		return LEVEL_KINDS;
	}
}

/* --- gathering --- */

static void level_worker_free(void *self, void *mine)
{
	struct level_worker *m = mine;

	(void)self;
	if (m)
		VEC_FREE(&m->issues);
	mem_free(m);
}

static void *level_worker_new(void *self)
{
	(void)self;
	return mem_zalloc(1, sizeof(struct level_worker));
}

struct levels *levels_new(const struct trace *t, struct incore_error *e)
{
	struct levels *l = mem_zalloc(1, sizeof(*l));

	if (l) {
		l->trace = t;
		l->found = levels_find(t);
		l->rows = mem_zalloc((size_t)t->n_code + 1, sizeof(*l->rows));
		l->all = level_worker_new(l);
		if (l->rows && l->all)
			return l;
	}
	levels_free(l);
	err_nomem(e);
	return NULL;
}

void levels_free(struct levels *l)
{
	if (!l)
		return;
	level_worker_free(l, l->all);
	mem_free(l->rows);
	mem_free(l);
}

static bool gather_issues(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct levels *l = self;
	struct level_worker *m = mine;
	const struct track_data *d = w->data;

	for (uint32_t i = 0; i < d->n; i++) {
		unsigned kind = level_kind((enum inst_class)d->inst_class[i]);

		/* One of unknown code is in flight, too. */
		if (l->found >> kind & 1 &&
			!VEC_PUSH(&m->issues,
				(struct issue){d->start_cyc[i] + d->stall_cyc[i], w->track->clock,
					(uint16_t)w->track->coord[1], (uint8_t)kind,
					(uint8_t)w->track->coord[2], d->code[i]}))
			return err_nomem(e);
	}
	return true;
}

static bool merge_issues(void *self, void *mine, struct incore_error *e)
{
	const struct levels *l = self;
	const struct level_worker *m = mine;

	for (size_t i = 0; i < m->issues.n; i++)
		if (!VEC_PUSH(&l->all->issues, m->issues.v[i]))
			return err_nomem(e);
	return true;
}

struct collector levels_collector(struct levels *l)
{
	return (struct collector){
		l, level_worker_new, gather_issues, merge_issues, level_worker_free};
}

/* --- what came back when --- */

struct replay {
	const struct levels *l;
	const struct issue *v; /* of one compute unit and counter, in the order of time */
	size_t n, issued, back;
	uint32_t interval_cyc;
};

static uint32_t shortest_interval(const struct counter_series *s)
{
	uint64_t least = UINT32_MAX;

	for (uint32_t i = 1; i < s->n; i++)
		if (s->time_cyc[i] > s->time_cyc[i - 1] &&
			s->time_cyc[i] - s->time_cyc[i - 1] < least)
			least = s->time_cyc[i] - s->time_cyc[i - 1];
	return least < UINT32_MAX ? (uint32_t)least : LEVEL_INTERVAL_CYC;
}

static void came_back(struct replay *r, uint64_t time_cyc)
{
	const struct issue *x = &r->v[r->back++];
	double cyc = (double)(time_cyc - x->time_cyc), half = r->interval_cyc / 2.0;
	struct level_sums *s;

	if (x->code >= r->l->trace->n_code)
		return;
	s = &r->l->rows[x->code];
	cyc = cyc > r->interval_cyc ? cyc - half : cyc / 2;
	s->n++;
	s->sum += cyc;
	s->squares += cyc * cyc;
	if (r->interval_cyc > s->interval_cyc)
		s->interval_cyc = r->interval_cyc;
}

static void take_sample(struct replay *r, uint64_t time_cyc, uint64_t level)
{
	while (r->issued < r->n && r->v[r->issued].time_cyc <= time_cyc)
		r->issued++;
	while (r->back < r->issued && r->issued - r->back > level)
		came_back(r, time_cyc);
}

static void replay_series(struct replay *r, const struct counter_series *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (i && s->time_cyc[i] > s->time_cyc[i - 1] + r->interval_cyc)
			take_sample(r, s->time_cyc[i - 1] + r->interval_cyc, 0);
		take_sample(r, s->time_cyc[i], s->value[i]);
	}
}

void levels_finish(struct levels *l)
{
	const struct issue *v = l->all->issues.v;
	size_t n = l->all->issues.n;

	if (n)
		qsort(l->all->issues.v, n, sizeof(*v), by_place_and_time);
	for (uint32_t i = 0; i < l->trace->n_counters; i++) {
		const struct counter_series *s = &l->trace->counters[i];
		struct issue at = {.clock = s->clock,
			.cu = (uint16_t)s->cu,
			.kind = (uint8_t)counter_kind(s->name)};
		struct replay r = {.l = l, .interval_cyc = shortest_interval(s)};
		size_t lo = 0, hi = n, end = n;

		if (at.kind == LEVEL_KINDS || s->cu > UINT16_MAX)
			continue;
		BISECT(lo, hi, k, by_place_and_time(&v[k], &at) < 0);
		at.kind++;
		hi = lo;
		BISECT(hi, end, k, by_place_and_time(&v[k], &at) < 0);
		r.v = &v[lo];
		r.n = hi - lo;
		replay_series(&r, s);
	}
}

/* --- figures --- */

double level_mean(const struct level_sums *s)
{
	return s->sum / (double)s->n;
}

double level_deviation(const struct level_sums *s)
{
	double n = (double)s->n,
	       square = s->n > 1 ? (s->squares - s->sum * s->sum / n) / (n - 1) : NAN;

	return square < 0 ? 0 : sqrt(square);
}

/* Where in its sample an instruction came back is not known either. */
double level_error(const struct level_sums *s)
{
	double sd = level_deviation(s), interval = s->interval_cyc;

	return sqrt(sd * sd + interval * interval / 3) / sqrt((double)s->n - 1.5);
}
