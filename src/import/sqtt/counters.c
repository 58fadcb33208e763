/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c: streamed counters of gfx9 -> one series per shader engine, CU and counter. The
 * stream has no names of counters; they are named by number.
 */
#include "import/sqtt/sqtt.h"

#include "trace/align.h"

#define BANKS 4u
#define PER_BANK 4u
#define CUS 256u
#define KINDS ((size_t)CUS * BANKS * PER_BANK)

struct series_build {
	struct trace *trace;
	const char *names[BANKS * PER_BANK];
	uint32_t *count; /* first the samples by kind, then indices of series */
	VEC(struct counter_series) out;
};

static uint32_t kind_of(const struct sqtt_perf *p, unsigned k)
{
	return ((uint32_t)p->cu * BANKS + p->bank % BANKS) * PER_BANK + k;
}

static const char *counter_name(struct series_build *s, uint32_t kind)
{
	uint32_t number = kind % (BANKS * PER_BANK);

	if (!s->names[number])
		s->names[number] = arena_printf(&s->trace->arena, "counter %u", number);
	return s->names[number];
}

/* Makes a series for each kind that has samples; count[] becomes its index + 1. */
static bool make_series(struct series_build *s, clock_idx clock)
{
	struct arena *a = &s->trace->arena;

	for (uint32_t kind = 0; kind < KINDS; kind++) {
		struct counter_series c = {.clock = clock, .cu = kind / (BANKS * PER_BANK), .n = 0};
		uint64_t *time, *value;

		if (!s->count[kind])
			continue;
		time = arena_zalloc(a, s->count[kind], sizeof(*time));
		value = arena_zalloc(a, s->count[kind], sizeof(*value));
		c.name = counter_name(s, kind);
		c.time_cyc = time;
		c.value = value;
		if (!time || !value || !c.name || !VEC_PUSH(&s->out, c))
			return false;
		s->count[kind] = (uint32_t)s->out.n;
	}
	return true;
}

static bool add_engine(struct series_build *s, const struct sqtt_engine *g, clock_idx clock)
{
	memset(s->count, 0, KINDS * sizeof(*s->count));
	for (size_t i = 0; i < g->perf.n; i++)
		for (unsigned k = 0; k < PER_BANK; k++)
			s->count[kind_of(&g->perf.v[i], k)]++;
	if (!make_series(s, clock))
		return false;
	EACH (const struct sqtt_perf, p, g->perf.v, g->perf.n) {
		for (unsigned k = 0; k < PER_BANK; k++) {
			struct counter_series *c = &s->out.v[s->count[kind_of(p, k)] - 1];

			((uint64_t *)(uintptr_t)c->time_cyc)[c->n] =
				p->time < 0 ? 0 : (uint64_t)p->time;
			((uint64_t *)(uintptr_t)c->value)[c->n++] = p->counter[k];
		}
	}
	return true;
}

bool sqtt_counters_build(struct sqtt_build *b)
{
	struct trace *t = b->trace;
	struct series_build s = {.trace = t};
	bool ok = true, any = false;

	for (uint32_t i = 0; i < b->loader->n_engines; i++)
		any |= b->loader->engines[i].perf.n > 0;
	if (!any)
		return true;
	s.count = mem_zalloc(KINDS, sizeof(*s.count));
	for (uint32_t i = 0; s.count && ok && i < b->loader->n_engines; i++) {
		struct sqtt_engine *g = &b->loader->engines[i];

		ok = g->perf.n >= UINT32_MAX || add_engine(&s, g, i);
		VEC_FREE(&g->perf);
	}
	ok = ok && s.count;
	if (ok && s.out.n) {
		t->counters = arena_memdup(&t->arena, s.out.v, s.out.n * sizeof(*s.out.v));
		t->n_counters = t->counters ? (uint32_t)s.out.n : 0;
		ok = t->counters != NULL;
	}
	mem_free(s.count);
	VEC_FREE(&s.out);
	return ok;
}
