/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c: values sampled over time (PM sampling) as counters on the clock of the trace.
 * Timestamps are nanoseconds; values are levels.
 */
#include <math.h>

#include "base/search.h"
#include "import/ncu/ncu.h"

#define MAX_CYC 1e18
#define PER_UNIT 1000u	  /* values keep three digits */
#define MIN_STAMP_NS 1e15 /* smaller values are not times of day */

struct stamp {
	uint64_t time_ns;
	double value;
};
struct series {
	VEC(struct stamp) v;
};
ORDER(by_time, struct stamp, UP(time_ns))

static bool add_stamp(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct series *s = ctx;
	double v = ncu_number(value);

	if (id->kind != NCU_UINT || (double)id->uint < MIN_STAMP_NS || isnan(v))
		return true;
	return VEC_PUSH(&s->v, (struct stamp){id->uint, v});
}

/* Excludes marks of the profiler, which are not levels of the device. */
static bool is_series(const struct ncu_metric *k)
{
	return k->is_sampler && k->n_instances > 1 && !str_starts(k->name, "profiler__");
}

static const char *unit_of(struct str name)
{
	return str_has(name, ".pct") ? "%" : str_has(name, "per_second") ? "/s" : "units";
}

static bool keep_series(
	struct ncu_build *b, const struct ncu_metric *k, struct series *s, uint64_t first_ns)
{
	struct trace *t = b->t;
	struct counter_series *c = &t->counters[t->n_counters];
	uint64_t *time = arena_zalloc(&t->arena, s->v.n, sizeof(*time));
	uint64_t *value = arena_zalloc(&t->arena, s->v.n, sizeof(*value));
	double per_ns = t->meta.clock_hz_den ? (double)t->meta.clock_hz_num / 1e9 : 1;

	*c = (struct counter_series){.name = arena_strndup(&t->arena, k->name.p, k->name.n),
		.clock = 0,
		.cu = UINT32_MAX,
		.n = (uint32_t)s->v.n,
		.time_cyc = time,
		.value = value,
		.unit = unit_of(k->name),
		.per_unit = PER_UNIT};
	if (!time || !value || !c->name)
		return false;
	for (size_t i = 0; i < s->v.n; i++) {
		double v = s->v.v[i].value * PER_UNIT;
		double cyc = (double)(s->v.v[i].time_ns - first_ns) * per_ns + 0.5;

		time[i] = cyc < MAX_CYC ? (uint64_t)cyc : (uint64_t)MAX_CYC;
		value[i] = v > 0 && v < 9e18 ? (uint64_t)(v + 0.5) : 0;
	}
	t->counter_names[t->n_counters++] = c->name;
	return true;
}

static bool has_stamps(
	struct ncu_build *b, const struct ncu_metric *k, struct series *s, struct incore_error *e)
{
	s->v.n = 0;
	if (!ncu_instances(b->result, k, add_stamp, s, e))
		return false;
	SORT(s->v.v, s->v.n, by_time);
	return true;
}

/* The earliest timestamp of all series becomes time 0. */
static bool find_first(struct ncu_build *b, struct series *s, uint64_t *out, struct incore_error *e)
{
	*out = UINT64_MAX;
	EACH (const struct ncu_metric, k, b->result->metrics.v, b->result->metrics.n) {
		if (!is_series(k))
			continue;
		if (!has_stamps(b, k, s, e))
			return false;
		if (s->v.n && s->v.v[0].time_ns < *out)
			*out = s->v.v[0].time_ns;
	}
	return true;
}

bool ncu_build_counters(struct ncu_build *b, struct incore_error *e)
{
	struct trace *t = b->t;
	size_t n = b->result->metrics.n;
	struct series s = {0};
	uint64_t first_ns;
	bool ok;

	if (!(b->options->want & IMPORT_COUNTERS))
		return true;
	t->counters = arena_zalloc(&t->arena, n + 1, sizeof(*t->counters));
	t->counter_names = arena_zalloc(&t->arena, n + 1, sizeof(*t->counter_names));
	t->clocks = arena_zalloc(&t->arena, 1, sizeof(*t->clocks));
	if (!t->counters || !t->counter_names || !t->clocks)
		return err_nomem(e);
	ok = find_first(b, &s, &first_ns, e);
	EACH (const struct ncu_metric, k, b->result->metrics.v, n) {
		if (!ok || !is_series(k))
			continue;
		ok = has_stamps(b, k, &s, e);
		if (ok && s.v.n && !keep_series(b, k, &s, first_ns))
			ok = err_nomem(e);
	}
	VEC_FREE(&s.v);
	t->n_counter_names = t->n_counters;
	if (t->n_counters) {
		t->n_clocks = 1;
		t->clocks[0] = (struct clock_domain){.is_aligned = true,
			.hz_num = t->meta.clock_hz_num,
			.hz_den = t->meta.clock_hz_den};
		t->reference_clock = 0;
	}
	return ok;
}
