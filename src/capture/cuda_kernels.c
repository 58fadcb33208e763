/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_kernels.c: which kernels ran, how long with and without the sampler, and from that the
 * sampler's period: enough samples of every wanted kernel, and no more than the buffers hold.
 */
#include <math.h>

#include "base/search.h"
#include "capture/cuda.h"
#include "codec/demangle.h"

#define GOOD_SAMPLES 200000.0 /* for the wanted kernel with the least time */
/* For the whole device, while kernels run. An H200 delivered 10^9 samples a second for 46 ms
 * without dropping any: fewer than MOST_AT_ONCE fit its buffer at any rate. */
#define MOST_PER_SECOND 2e8
#define MOST_AT_ONCE 4e7
/* log2 of cycles. The shares by cause of four kernels were equal for all periods from 4,096 cycles
 * on; at 2,048 those of one kernel were off by a third, at 1,024 and 256 those of others slightly.
 * So shorter periods are only used for kernels that would have just FEW samples otherwise, and
 * 2,048 never. */
#define STEADY 12u
#define UNSTEADY 11u
#define FEW 5000.0
#define SHORTEST 8u
#define LONGEST 20u

bool cuda_is_wanted(struct cuda *c, const char *mangled, bool *is, struct incore_error *e)
{
	const char *name = demangle(mangled, &c->arena);
	bool does = true, does_not = false;

	if (!name)
		return err_nomem(e);
	name = *name ? name : mangled;
	if (c->q->kernel && !name_filter_match(&c->wanted, name, &does, e))
		return false;
	if (c->q->exclude && !name_filter_match(&c->unwanted, name, &does_not, e))
		return false;
	*is = does && !does_not;
	return true;
}

static struct cuda_timing *timing_of(struct cuda *c, const struct cuda_log *l, uint64_t name)
{
	struct str text;
	struct cuda_timing t = {.name = name, .sampled_mean_us = NAN, .overhead = NAN};
	char *mangled;

	for (size_t i = 0; i < c->answer.kernels.n; i++)
		if (c->answer.kernels.v[i].name == name)
			return &c->answer.kernels.v[i];
	text = cuda_log_text(l, name);
	mangled = arena_strndup(&c->arena, text.p, text.n);
	t.kernel = mangled ? demangle(mangled, &c->arena) : NULL;
	if (!t.kernel)
		return NULL;
	if (!*t.kernel)
		t.kernel = mangled;
	return VEC_PUSH(&c->answer.kernels, t) ? &c->answer.kernels.v[c->answer.kernels.n - 1]
					       : NULL;
}

/* Launches in a log are grouped by kernel, so that one lookup serves many. */
bool cuda_add_times(
	struct cuda *c, const struct cuda_processes *p, bool is_sampled, struct incore_error *e)
{
	EACH (const struct cuda_process, x, p->v.v, p->v.n) {
		struct cuda_timing *t = NULL;

		EACH (const struct cuda_log_launch, l, x->log.launches.v, x->log.launches.n) {
			uint64_t ns = l->launch.end_ns > l->launch.start_ns
					      ? l->launch.end_ns - l->launch.start_ns
					      : 0;

			if (!t || t->name != l->launch.name)
				t = timing_of(c, &x->log, l->launch.name);
			if (!t)
				return err_nomem(e);
			t->n[is_sampled]++;
			t->ns[is_sampled] += ns;
			t->rest_n[is_sampled] += l->ordinal > 1;
			t->rest_ns[is_sampled] += l->ordinal > 1 ? ns : 0;
		}
	}
	EACH (struct cuda_timing, t, c->answer.kernels.v, c->answer.kernels.n)
		if (!cuda_is_wanted(c, t->kernel, &t->is_chosen, e))
			return false;
	return true;
}

static double mean_us(uint64_t ns, uint64_t n)
{
	return n ? (double)ns / (double)n / 1e3 : NAN;
}

ORDER(by_time, struct cuda_timing, DOWN(total_us) A_TO_Z(kernel))

bool cuda_end_times(struct cuda *c, struct incore_error *e)
{
	double with = 0, without = 0;
	bool any = false;

	EACH (struct cuda_timing, t, c->answer.kernels.v, c->answer.kernels.n) {
		bool has_look = t->n[0] > 0;

		t->launches = has_look ? t->n[0] : t->n[1];
		t->total_us = (double)t->ns[!has_look] / 1e3;
		t->mean_us = mean_us(t->ns[!has_look], t->launches);
		t->sampled_mean_us = mean_us(t->ns[1], t->n[1]);
		any |= t->is_chosen;
		if (!t->rest_n[0] || !t->rest_n[1] || !t->rest_ns[0])
			continue;
		t->overhead = 100 * (mean_us(t->rest_ns[1], t->rest_n[1]) /
						    mean_us(t->rest_ns[0], t->rest_n[0]) -
					    1);
		if (t->is_chosen && t->rest_n[0] == t->rest_n[1]) {
			with += (double)t->rest_ns[1];
			without += (double)t->rest_ns[0];
		}
	}
	if (without > 0)
		c->answer.overhead = 100 * (with / without - 1);
	SORT(c->answer.kernels.v, c->answer.kernels.n, by_time);
	if (any || !c->answer.kernels.n)
		return true;
	return err_set(e, INCORE_NO, "no-such-kernel",
		"none of the launched kernels was asked for: the one with the most time is %s",
		c->answer.kernels.v[0].kernel);
}

/* --- the period --- */

static uint32_t log2_of(double v)
{
	return v <= 1 ? 0 : (uint32_t)floor(log2(v));
}

/* SMs times cycles per second: each SM takes one sample per period, so this is the sample rate at a
 * period of one cycle. */
static double sampler_rate(const struct cuda_processes *p)
{
	double rate = 0;

	EACH (const struct cuda_process, x, p->v.v, p->v.n)
		EACH (const struct cuda_log_device, d, x->log.devices.v, x->log.devices.n) {
			double r = (double)d->device.sms * (double)d->device.clock_khz * 1e3;

			rate = r > rate ? r : rate;
		}
	return rate;
}

bool cuda_choose_period(struct cuda *c, const struct cuda_processes *p, struct incore_error *e)
{
	double rate = sampler_rate(p), least_s = INFINITY, all_s = 0;
	uint32_t for_count, for_rate, for_all;

	if (c->q->period != NO_COUNT)
		return true;
	EACH (const struct cuda_timing, t, c->answer.kernels.v, c->answer.kernels.n) {
		all_s += (double)t->ns[0] / 1e9;
		if (t->is_chosen && t->ns[0] && (double)t->ns[0] / 1e9 < least_s)
			least_s = (double)t->ns[0] / 1e9;
	}
	if (rate <= 0 || isinf(least_s)) {
		c->answer.period_because = "nothing was seen that it could follow from";
		return true;
	}
	for_count = log2_of(rate * least_s / GOOD_SAMPLES);
	for_rate = log2_of(rate / MOST_PER_SECOND) + 1;
	for_all = log2_of(rate * all_s / MOST_AT_ONCE) + 1;
	for_rate = for_rate < for_all ? for_rate : for_all;
	c->period_log2 = for_count > for_rate ? for_count : for_rate;
	if (c->period_log2 < STEADY && rate * least_s / (1u << STEADY) >= FEW)
		c->period_log2 = STEADY;
	if (c->period_log2 == UNSTEADY)
		c->period_log2 += for_rate >= UNSTEADY ? 1 : -1;
	c->period_log2 = c->period_log2 < SHORTEST  ? SHORTEST
			 : c->period_log2 > LONGEST ? LONGEST
						    : c->period_log2;
	c->answer.period_because =
		c->period_log2 >= for_rate
			? arena_printf(&c->arena,
				  "the wanted kernel with the least time has %.3f ms, and gets about %.0f samples",
				  least_s * 1e3,
				  rate * least_s / (double)(UINT64_C(1) << c->period_log2))
			: "the shortest that the buffers are known to take";
	return c->answer.period_because || err_nomem(e);
}
