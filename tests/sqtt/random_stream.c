/* SPDX-License-Identifier: Apache-2.0 */
/* random_stream.c: which waves, where, and what else is in a stream. Their way is in walk.c. */
#include "random_stream.h"

#include <stdlib.h>

#include "walk.h"

#define FIRST_TIME 2000

static bool add_wave(struct sq_stream *s, const struct sq_shape *shape, struct sq_wave w,
	uint64_t *state, int64_t *free_at)
{
	bool has_detail = w.cu == s->cu && (s->gen == SQ_GFX9 || w.simd == s->simd);

	w.begin = *free_at + 4 * (int64_t)sq_below(state, 200);
	w.is_long_start = s->gen != SQ_GFX9 && !s->is_c16 && sq_below(state, 4) == 0;
	w.end = w.begin + 4 + 4 * (int64_t)sq_below(state, 500);
	if (has_detail && !sq_walk(s, &w, state, shape->max_insts))
		return false;
	*free_at = w.end + 4 + 4 * (int64_t)sq_below(state, 8);
	if (sq_below(state, 10) == 0)
		*free_at += 4 * (int64_t)sq_below(state, 5000);
	return VEC_PUSH(&s->waves, w);
}

static bool add_waves(struct sq_stream *s, const struct sq_shape *shape, uint64_t *state)
{
	int64_t free_at[2][2][12]; /* by CU (target or not), SIMD, slot */
	unsigned n_slots = s->gen == SQ_GFX9 ? 10 : 12;

	for (unsigned i = 0; i < 2 * 2 * 12; i++)
		free_at[i / 24][i / 12 % 2][i % 12] = FIRST_TIME;
	for (unsigned i = 0; i < shape->n_waves; i++) {
		bool is_target = sq_below(state, 3) > 0;
		unsigned simd = sq_below(state, 2), slot = sq_below(state, n_slots);
		struct sq_wave w = {.cu = is_target ? s->cu : s->cu ^ 1, .simd = s->simd ^ simd};

		/* some slots beyond the masks of gfx10's tokens for sixteen waves */
		w.slot = s->gen != SQ_GFX9 && slot > 8 ? slot + 12 : slot;
		if (!add_wave(s, shape, w, state, &free_at[is_target][simd][slot]))
			return false;
	}
	return true;
}

static int64_t random_time(const struct sq_stream *s, uint64_t *state)
{
	int64_t end = FIRST_TIME;

	for (size_t i = 0; i < s->waves.n; i++)
		end = s->waves.v[i].end > end ? s->waves.v[i].end : end;
	return FIRST_TIME + 4 * (int64_t)sq_below(state, (uint32_t)(end - FIRST_TIME) / 4 + 1);
}

static bool add_data(struct sq_stream *s, uint64_t *state)
{
	bool is_short = s->gen != SQ_GFX9 && sq_below(state, 2);
	struct sqtt_shaderdata d = {.time = random_time(s, state)};

	d.value = (uint32_t)sq_random(state) & (is_short ? 0xff : UINT32_MAX);
	d.cu = (uint8_t)(s->cu ^ sq_below(state, 2));
	d.simd = (uint8_t)sq_below(state, 4);
	d.slot = (uint8_t)sq_below(state, 10);
	d.flags = is_short;
	if (s->gen == SQ_GFX12)
		d.flags |= (uint8_t)(sq_below(state, 2) << 1);
	return VEC_PUSH(&s->shaderdata, d);
}

static bool add_perf(struct sq_stream *s, uint64_t *state)
{
	struct sqtt_perf p = {.time = random_time(s, state)};

	p.cu = (uint8_t)sq_below(state, 16);
	p.bank = (uint8_t)sq_below(state, 2);
	for (unsigned i = 0; i < 4; i++)
		p.counter[i] = (uint16_t)sq_below(state, 8192);
	return VEC_PUSH(&s->perf, p);
}

static bool add_other(struct sq_stream *s, uint64_t *state)
{
	struct sqtt_other_simd o = {.time = random_time(s, state), .cu = (uint8_t)s->cu};

	o.category = sq_below(state, 2) ? SQTT_LDS : SQTT_VMEM;
	o.cycles = 1 + sq_below(state, o.category == SQTT_LDS ? 6 : 12);
	return VEC_PUSH(&s->other, o);
}

/* Ties are broken by all there is: the same order whatever sorts it. */
static int compare_keys(const int64_t *a, const int64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int compare_data(const void *pa, const void *pb)
{
	const struct sqtt_shaderdata *a = pa, *b = pb;
	int64_t x[] = {a->time, a->value, a->cu, a->simd, a->slot, a->flags};
	int64_t y[] = {b->time, b->value, b->cu, b->simd, b->slot, b->flags};

	return compare_keys(x, y, 6);
}

/* A sample is written when its stamp is reached. */
static int compare_perf(const void *pa, const void *pb)
{
	const struct sqtt_perf *a = pa, *b = pb;
	int64_t x[] = {a->time + 4 * a->cu, a->cu, a->bank, a->counter[0], a->counter[1]};
	int64_t y[] = {b->time + 4 * b->cu, b->cu, b->bank, b->counter[0], b->counter[1]};

	return compare_keys(x, y, 5);
}

static int compare_other(const void *pa, const void *pb)
{
	const struct sqtt_other_simd *a = pa, *b = pb;
	int64_t x[] = {a->time, a->cycles, a->category}, y[] = {b->time, b->cycles, b->category};

	return compare_keys(x, y, 3);
}

static bool add_extras(struct sq_stream *s, uint64_t *state)
{
	unsigned n = sq_below(state, 40);
	uint64_t clock = UINT64_C(1) << 33, time = FIRST_TIME;

	for (unsigned i = 0; i < n; i++) {
		if (!add_data(s, state) || (s->gen == SQ_GFX9 && !add_perf(s, state)) ||
			(s->gen >= SQ_GFX11 && !add_other(s, state)))
			return false;
	}
	for (unsigned i = sq_below(state, 5); i > 0; i--) {
		struct sqtt_realtime r = {.time = (int64_t)time, .clock = clock};

		if (!VEC_PUSH(&s->realtime, r))
			return false;
		time += 4 + 4 * (uint64_t)sq_below(state, 4000);
		clock += 1 + sq_below(state, 1000);
	}
	if (s->shaderdata.n)
		qsort(s->shaderdata.v, s->shaderdata.n, sizeof(*s->shaderdata.v), compare_data);
	if (s->perf.n)
		qsort(s->perf.v, s->perf.n, sizeof(*s->perf.v), compare_perf);
	if (s->other.n)
		qsort(s->other.v, s->other.n, sizeof(*s->other.v), compare_other);
	return true;
}

bool sq_random_stream(struct sq_stream *s, const struct sq_program *p, const struct sq_shape *shape)
{
	uint64_t state = shape->seed;

	*s = (struct sq_stream){.gen = p->gen, .is_c16 = shape->is_c16, .program = p};
	s->seed = sq_random(&state);
	s->cu = sq_below(&state, 8);
	s->simd = p->gen == SQ_GFX9 ? 0 : sq_below(&state, 4);
	s->load_base = UINT64_C(0x7f0000000000) + 0x1000 * (uint64_t)sq_below(&state, 4096);
	s->object = sq_below(&state, 2) ? 1 + sq_below(&state, 100) : 0;
	s->rt_khz = sq_below(&state, 2) ? 100000 : 0;
	s->has_short_ends = !shape->is_placed;
	if (shape->is_placed) {
		s->cu = shape->cu;
		s->simd = shape->simd;
		s->load_base = shape->load_base;
		s->object = shape->object;
		s->rt_khz = shape->rt_khz;
	}
	if (!add_waves(s, shape, &state) || (shape->has_extras && !add_extras(s, &state)))
		return false;
	for (unsigned i = shape->has_losses ? 1 + sq_below(&state, 3) : 0; i > 0; i--)
		if (!VEC_PUSH(&s->losses, random_time(s, &state)))
			return false;
	return true;
}

bool sq_occupancy(const struct sq_stream *s, struct sqtt_occupancy **out, size_t *n)
{
	struct sq_events v = {.is_failed = false};
	struct sqtt_occupancy *o = mem_zalloc(2 * s->waves.n + 1, sizeof(*o));

	for (size_t i = 0; o && i < s->waves.n; i++)
		sq_add_wave_events(&v, s, &s->waves.v[i]);
	sq_sort_events(&v);
	*n = 0;
	for (size_t i = 0; o && i < v.all.n; i++) {
		const struct sq_event *e = &v.all.v[i];

		if (e->kind != SQ_START && e->kind != SQ_END)
			continue;
		o[*n] = (struct sqtt_occupancy){.time = e->time,
			.pc = s->program->vaddr + (s->object ? 0 : s->load_base),
			.object = s->object,
			.cu = (uint8_t)e->cu,
			.simd = e->simd,
			.slot = e->slot,
			.is_start = e->kind == SQ_START};
		++*n;
	}
	VEC_FREE(&v.all);
	*out = o;
	return o && !v.is_failed;
}
