/* SPDX-License-Identifier: Apache-2.0 */
/* derived_counters.c: the counter series of a trace as tensors [XCC][SE][CU][TIME]. */
#include "analysis/counters/derived_internal.h"
#include "base/vec.h"

#define MIN_STEP_CYC 32 /* samples closer than this belong to one reading */
#define MAX_CUS 64

static struct str plain_name(const char *name)
{
	struct str s = str_of(name);

	return str_starts(s, "SQ_") ? str_sub(s, 3, s.n) : s;
}

static int64_t sample_time(const struct trace *t, const struct counter_series *s, uint32_t i)
{
	return trace_aligned(t, s->clock, s->time_cyc[i]);
}

/* A series without a CU counts as CU 0. */
static uint32_t cu_of(const struct counter_series *s)
{
	return s->cu < MAX_CUS ? s->cu : 0;
}

static bool derived_counters_measure(struct derived *d, struct incore_error *e)
{
	const struct trace *t = d->trace;
	int64_t first = INT64_MAX, last = INT64_MIN;
	uint64_t step = UINT64_MAX;
	uint8_t *is_used = arena_zalloc(&d->arena, (size_t)t->n_clocks + 1, 1);

	d->se_clock = arena_zalloc(&d->arena, (size_t)t->n_clocks + 1, sizeof(*d->se_clock));
	if (!is_used || !d->se_clock)
		return err_nomem(e);
	EACH (const struct counter_series, s, t->counters, t->n_counters) {
		if (s->n == 0 || s->clock >= t->n_clocks)
			continue;
		is_used[s->clock] = 1;
		if (cu_of(s) >= d->n_cus)
			d->n_cus = cu_of(s) + 1;
		for (uint32_t i = 0; i < s->n; i++) {
			int64_t at = sample_time(t, s, i);

			first = at < first ? at : first;
			last = at > last ? at : last;
			if (i > 0 && s->time_cyc[i] >= s->time_cyc[i - 1] + MIN_STEP_CYC &&
				s->time_cyc[i] - s->time_cyc[i - 1] < step)
				step = s->time_cyc[i] - s->time_cyc[i - 1];
		}
	}
	for (uint32_t c = 0; c < t->n_clocks; c++)
		if (is_used[c])
			d->se_clock[d->n_ses++] = c;
	if (first > last)
		return true;
	d->first_cyc = first < 0 ? 0 : (uint64_t)first;
	d->step_cyc = step == UINT64_MAX ? MIN_STEP_CYC : step;
	while ((uint64_t)(last - first) / d->step_cyc + 2 > DERIVED_MAX_SAMPLES) {
		d->step_cyc *= 2;
		d->is_coarse = true;
	}
	d->n_samples = (uint32_t)(((uint64_t)(last - first) + d->step_cyc / 4) / d->step_cyc) + 1;
	return true;
}

const struct derived_counter *derived_find_counter(const struct derived *d, struct str name)
{
	for (uint32_t i = 0; i < d->n_counters; i++)
		if (str_eq(d->counters[i].name, name))
			return &d->counters[i];
	return NULL;
}

static uint32_t se_axis(const struct derived *d, clock_idx clock)
{
	for (uint32_t i = 0; i < d->n_ses; i++)
		if (d->se_clock[i] == clock)
			return i;
	return 0;
}

/* Readings in one bin add up; for levels (with a unit) the last one counts. */
static void derived_counters_put_series(
	const struct derived *d, const struct counter_series *s, struct derived_tensor *x)
{
	double *row = x->v + ((size_t)se_axis(d, s->clock) * d->n_cus + cu_of(s)) * d->n_samples;

	for (uint32_t i = 0; i < s->n; i++) {
		int64_t at = sample_time(d->trace, s, i) - (int64_t)d->first_cyc;
		uint64_t bin = ((at < 0 ? 0 : (uint64_t)at) + d->step_cyc / 4) / d->step_cyc;
		double v = (double)s->value[i];

		if (bin >= d->n_samples)
			continue;
		if (s->unit)
			row[bin] = v / (s->per_unit ? s->per_unit : 1);
		else
			row[bin] += v;
	}
}

static bool add_clocks(struct derived *d, struct derived_fault *f)
{
	const struct trace *t = d->trace;
	uint32_t n = 0, dim[DERIVED_AXES] = {1, 1, 1, d->n_samples};
	struct derived_counter *x = &d->counters[d->n_counters++];

	x->name = STR("SCLOCK");
	x->is_clock = true;
	if (!tensor_new(d, dim, &x->value, f))
		return false;
	for (uint32_t i = 0; i < d->n_samples; i++)
		x->value.v[i] = (double)(d->first_cyc + i * d->step_cyc);
	for (uint32_t k = 0; k < d->n_ses; k++)
		n = t->clocks[d->se_clock[k]].n_samples > n ? t->clocks[d->se_clock[k]].n_samples
							    : n;
	if (n == 0 || n > DERIVED_MAX_SAMPLES)
		return true;
	dim[1] = d->n_ses;
	dim[2] = 2;
	dim[3] = n;
	x = &d->counters[d->n_counters++];
	x->name = STR("RCLOCK");
	x->is_clock = true;
	if (!tensor_new(d, dim, &x->value, f))
		return false;
	for (uint32_t k = 0; k < d->n_ses; k++) {
		const struct clock_domain *c = &t->clocks[d->se_clock[k]];

		for (uint32_t i = 0; i < n && c->n_samples > 0; i++) {
			/* A shorter series repeats its last sample, which keeps its end. */
			const int64_t *s = c->samples[i < c->n_samples ? i : c->n_samples - 1];

			x->value.v[((size_t)k * 2 + 0) * n + i] = (double)s[0];
			x->value.v[((size_t)k * 2 + 1) * n + i] = (double)s[1];
		}
	}
	return true;
}

bool derived_load_counters(struct derived *d, struct incore_error *e)
{
	const struct trace *t = d->trace;
	struct derived_fault f = {0};
	uint32_t dim[DERIVED_AXES];
	bool ok = true;

	d->counters = arena_zalloc(&d->arena, (size_t)t->n_counters + 2, sizeof(*d->counters));
	if (!d->counters || !derived_counters_measure(d, e))
		return err_nomem(e);
	if (d->n_samples == 0)
		return true;
	dim[0] = 1;
	dim[1] = d->n_ses;
	dim[2] = d->n_cus;
	dim[3] = d->n_samples;
	for (uint32_t k = 0; ok && k < t->n_counters; k++) {
		const struct counter_series *s = &t->counters[k];
		struct str name = plain_name(s->name);
		const struct derived_counter *have = derived_find_counter(d, name);
		struct derived_counter *x = &d->counters[d->n_counters];

		if (s->n == 0 || s->clock >= t->n_clocks)
			continue;
		if (!have) {
			x->name = name;
			x->unit = s->unit;
			ok = tensor_new(d, dim, &x->value, &f);
			if (!ok)
				break;
			d->n_counters++;
			have = x;
		}
		derived_counters_put_series(d, s, &d->counters[have - d->counters].value);
	}
	ok = ok && add_clocks(d, &f);
	/* Counters beyond the limit are missing; the definitions that need them say so. */
	return ok || str_is(str_of(f.code), "size") || err_nomem(e);
}
