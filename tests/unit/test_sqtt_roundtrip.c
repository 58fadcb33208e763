/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sqtt_roundtrip.c: what an encoder of our own writes, the decoder gives back: the same waves,
 * instructions, addresses, states, occupancy, samples, for random streams of each generation by
 * each set of rules. A stream that is cut anywhere gives what stood before the cut, and says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "import/sqtt/decoder.h"
#include "random_stream.h"

#define SEEDS 250u

struct got_wave {
	struct sqtt_wave w;
	struct sqtt_inst *insts;
	struct sqtt_span *spans;
};

struct got {
	VEC(struct got_wave) waves;
	VEC(struct sqtt_occupancy) occupancy;
	VEC(struct sqtt_realtime) realtime;
	VEC(struct sqtt_perf) perf;
	VEC(struct sqtt_shaderdata) shaderdata;
	VEC(struct sqtt_other_simd) other;
	struct sqtt_result result;
};

static void *dup_bytes(const void *p, size_t n)
{
	void *out = mem_alloc(n + 1);

	assert_non_null(out);
	if (n)
		memcpy(out, p, n);
	return out;
}

static bool take_wave(void *ctx, const struct sqtt_wave *w, struct incore_error *e)
{
	struct got *g = ctx;
	struct got_wave v = {*w, dup_bytes(w->insts, w->n_insts * sizeof(*w->insts)),
		dup_bytes(w->timeline, w->n_spans * sizeof(*w->timeline))};

	(void)e;
	return VEC_PUSH(&g->waves, v);
}

#define TAKE(name, type, list)                                                                     \
	static bool name(void *ctx, const type *v, size_t n, struct incore_error *e)               \
	{                                                                                          \
		struct got *g = ctx;                                                               \
                                                                                                   \
		(void)e;                                                                           \
		for (size_t i = 0; i < n; i++)                                                     \
			if (!VEC_PUSH(&g->list, v[i]))                                             \
				return false;                                                      \
		return true;                                                                       \
	}

TAKE(take_occupancy, struct sqtt_occupancy, occupancy)
TAKE(take_realtime, struct sqtt_realtime, realtime)
TAKE(take_perf, struct sqtt_perf, perf)
TAKE(take_shaderdata, struct sqtt_shaderdata, shaderdata)
TAKE(take_other, struct sqtt_other_simd, other)

static void got_deinit(struct got *g)
{
	for (size_t i = 0; i < g->waves.n; i++) {
		mem_free(g->waves.v[i].insts);
		mem_free(g->waves.v[i].spans);
	}
	VEC_FREE(&g->waves);
	VEC_FREE(&g->occupancy);
	VEC_FREE(&g->realtime);
	VEC_FREE(&g->perf);
	VEC_FREE(&g->shaderdata);
	VEC_FREE(&g->other);
}

static void decode(const struct sq_stream *s, const struct strbuf *b, size_t size,
	enum sqtt_rules rules, struct got *g)
{
	struct sqtt_segment segment = {.object = s->object,
		.vaddr = s->program->vaddr,
		.load_addr = s->load_base + s->program->vaddr,
		.bytes = s->program->bytes,
		.size = s->program->size};
	struct sqtt_code code = {AMD_ARCH_UNKNOWN, 1, &segment};
	struct sqtt_options o = {rules, &code, SQTT_TARGET_OF_STREAM};
	struct sqtt_sink sink = {g, take_wave, take_occupancy, take_realtime, take_perf,
		take_shaderdata, take_other};
	struct incore_error e = {0};
	uint8_t *exact = dup_bytes(b->p, size); /* no byte behind it: ASan sees a reader go on */

	*g = (struct got){.result = {0}};
	if (!sqtt_decode(exact, size, &o, &sink, &g->result, &e))
		fail_msg("not decoded: %s", e.message);
	mem_free(exact);
}

/* --- comparing --- */

static char where[200]; /* of a message */

#define SAME(what, got_value, want_value)                                                          \
	do {                                                                                       \
		long long a_ = (long long)(got_value), b_ = (long long)(want_value);               \
		if (a_ != b_)                                                                      \
			fail_msg("%s: %s is %lld, not %lld", where, what, a_, b_);                 \
	} while (0)

static uint64_t pc_of(const struct sq_stream *s, uint32_t line)
{
	if (line == SQ_NO_LINE)
		return 0;
	return s->program->lines[line].vaddr + (s->object ? 0 : s->load_base);
}

static void same_inst(const struct sq_stream *s, const struct sqtt_inst *a, const struct sq_inst *b)
{
	SAME("category", a->category, b->category);
	SAME("time", a->time, b->time);
	SAME("stall", a->stall, b->stall);
	SAME("dur", a->dur, b->dur);
	SAME("pc", a->pc, pc_of(s, b->line));
	SAME("object", a->object, b->line == SQ_NO_LINE ? 0 : s->object);
}

static void same_wave(
	const struct sq_stream *s, const struct got_wave *g, const struct sq_wave *w, size_t index)
{
	char prefix[120];

	snprintf(prefix, sizeof(prefix), "%.100s", where);
	snprintf(where, sizeof(where), "%s wave %zu (begin %lld simd %u slot %u)", prefix, index,
		(long long)w->begin, w->simd, w->slot);
	SAME("cu", g->w.cu, w->cu);
	SAME("simd", g->w.simd, w->simd);
	SAME("slot", g->w.slot, w->slot);
	SAME("begin", g->w.begin, w->begin);
	SAME("end", g->w.end, w->end);
	SAME("incomplete", g->w.is_incomplete, false);
	SAME("instructions", g->w.n_insts, w->insts.n);
	SAME("spans", g->w.n_spans, w->spans.n);
	for (size_t i = 0; i < w->spans.n; i++) {
		snprintf(where, sizeof(where), "%s wave %zu span %zu", prefix, index, i);
		SAME("state", g->spans[i].state, w->spans.v[i].state);
		SAME("dur", g->spans[i].dur, w->spans.v[i].dur);
	}
	for (size_t i = 0; i < w->insts.n; i++) {
		snprintf(where, sizeof(where), "%s wave %zu instruction %zu", prefix, index, i);
		same_inst(s, &g->insts[i], &w->insts.v[i]);
	}
	snprintf(where, sizeof(where), "%s", prefix);
}

static int compare_got(const void *pa, const void *pb)
{
	const struct got_wave *a = pa, *b = pb;

	if (a->w.begin != b->w.begin)
		return a->w.begin < b->w.begin ? -1 : 1;
	return (int)(a->w.simd * 64 + a->w.slot) - (int)(b->w.simd * 64 + b->w.slot);
}

static int compare_want(const void *pa, const void *pb)
{
	const struct sq_wave *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (int)(a->simd * 64 + a->slot) - (int)(b->simd * 64 + b->slot);
}

static bool has_detail(const struct sq_stream *s, const struct sq_wave *w)
{
	return w->cu == s->cu && (s->gen == SQ_GFX9 || w->simd == s->simd);
}

/* The waves with detail of `s`, sorted, at the front of its list; returns how many. */
static size_t sort_want(struct sq_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->waves.n; i++) {
		struct sq_wave w = s->waves.v[i];

		if (!has_detail(s, &w))
			continue;
		s->waves.v[i] = s->waves.v[n];
		s->waves.v[n++] = w;
	}
	if (n)
		qsort(s->waves.v, n, sizeof(*s->waves.v), compare_want);
	return n;
}

static void same_occupancy(const struct sq_stream *s, const struct got *g, bool is_prefix)
{
	struct sqtt_occupancy *want;
	size_t n;

	assert_true(sq_occupancy(s, &want, &n));
	if (is_prefix)
		assert_true(g->occupancy.n <= n);
	else
		SAME("occupancy events", g->occupancy.n, n);
	for (size_t i = 0; i < g->occupancy.n; i++) {
		const struct sqtt_occupancy *a = &g->occupancy.v[i], *b = &want[i];

		SAME("occupancy time", a->time, b->time);
		SAME("occupancy cu", a->cu, b->cu);
		SAME("occupancy simd", a->simd, b->simd);
		SAME("occupancy slot", a->slot, b->slot);
		SAME("occupancy start", a->is_start, b->is_start);
		SAME("occupancy pc", a->pc, b->pc);
		SAME("occupancy object", a->object, b->object);
	}
	mem_free(want);
}

static void same_extras(const struct sq_stream *s, const struct got *g)
{
	SAME("realtime samples", g->realtime.n, s->realtime.n);
	for (size_t i = 0; i < s->realtime.n; i++) {
		SAME("realtime time", g->realtime.v[i].time, s->realtime.v[i].time);
		SAME("realtime clock", g->realtime.v[i].clock, s->realtime.v[i].clock);
	}
	SAME("counter records", g->perf.n, s->perf.n);
	for (size_t i = 0; i < s->perf.n; i++) {
		const struct sqtt_perf *a = &g->perf.v[i], *b = &s->perf.v[i];

		SAME("counter time", a->time, b->time);
		SAME("counter cu", a->cu, b->cu);
		SAME("counter bank", a->bank, b->bank);
		for (int k = 0; k < 4; k++)
			SAME("counter", a->counter[k], b->counter[k]);
	}
	SAME("data records", g->shaderdata.n, s->shaderdata.n);
	for (size_t i = 0; i < s->shaderdata.n; i++) {
		const struct sqtt_shaderdata *a = &g->shaderdata.v[i], *b = &s->shaderdata.v[i];

		SAME("data time", a->time, b->time);
		SAME("data value", a->value, b->value);
		SAME("data place", a->cu << 16 | a->simd << 8 | a->slot,
			b->cu << 16 | b->simd << 8 | b->slot);
		SAME("data flags", a->flags, b->flags);
	}
	SAME("issues of other SIMDs", g->other.n, s->other.n);
	for (size_t i = 0; i < s->other.n; i++) {
		SAME("other time", g->other.v[i].time, s->other.v[i].time);
		SAME("other cycles", g->other.v[i].cycles, s->other.v[i].cycles);
		SAME("other category", g->other.v[i].category, s->other.v[i].category);
		SAME("other cu", g->other.v[i].cu, s->other.v[i].cu);
	}
	SAME("realtime frequency", g->result.rt_frequency_hz, (uint64_t)s->rt_khz * 1000);
	SAME("packet losses", g->result.notes[SQTT_NOTE_PACKET_LOST].count, s->losses.n);
	SAME("lost", g->result.is_lost, s->losses.n > 0);
}

/* --- the properties --- */

static void make(struct sq_stream *s, struct sq_program *p, enum sq_gen gen, enum sqtt_rules rules,
	uint64_t seed)
{
	uint64_t state = seed * 1000003 + (uint64_t)gen;
	bool is_c16 = rules == SQTT_RULES_C16;
	struct sq_shape shape = {.seed = seed, .is_c16 = is_c16};
	unsigned flags = is_c16 && gen == SQ_GFX9 ? 0 : SQ_PROGRAM_MESSAGES;

	shape.has_extras = sq_below(&state, 2);
	shape.has_losses = sq_below(&state, 4) == 0;
	shape.n_waves = 1 + sq_below(&state, 24);
	shape.max_insts = 10 + sq_below(&state, 200);
	flags |= SQ_PROGRAM_SETPC * sq_below(&state, 2);
	sq_random_program(p, gen, &state, flags);
	assert_true(sq_random_stream(s, p, &shape));
}

static void round_trip(enum sq_gen gen, enum sqtt_rules rules)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sq_program p;
		struct sq_stream s;
		struct strbuf b = {0};
		struct got g;
		size_t n;

		make(&s, &p, gen, rules, seed);
		assert_true(sq_encode(&s, &b));
		decode(&s, &b, b.n, rules, &g);
		snprintf(where, sizeof(where), "gfx%u seed %u", sq_gfx_major(gen), (unsigned)seed);
		same_occupancy(&s, &g, false);
		same_extras(&s, &g);
		n = sort_want(&s);
		SAME("waves", g.waves.n, n);
		if (n)
			qsort(g.waves.v, n, sizeof(*g.waves.v), compare_got);
		for (size_t i = 0; i < n; i++)
			same_wave(&s, &g.waves.v[i], &s.waves.v[i], i);
		SAME("cut", g.result.notes[SQTT_NOTE_CUT].count, 0);
		SAME("unknown tokens", g.result.notes[SQTT_NOTE_UNKNOWN_TOKEN].count, 0);
		SAME("incomplete", g.result.notes[SQTT_NOTE_WAVE_INCOMPLETE].count, 0);
		SAME("bytes", g.result.decoded_bytes, b.n);
		got_deinit(&g);
		sb_free(&b);
		sq_stream_deinit(&s);
	}
}

/* Instructions before the last few, which the cut may have changed, are those of the whole. */
static void is_begin_of(
	const struct sq_stream *s, const struct got_wave *g, const struct sq_wave *w)
{
	size_t sure = g->w.n_insts > 3 ? g->w.n_insts - 3 : 0;

	SAME("instructions of a cut wave", g->w.n_insts <= w->insts.n, true);
	for (size_t i = 0; i < sure; i++)
		same_inst(s, &g->insts[i], &w->insts.v[i]);
}

static void check_cut(
	struct sq_stream *s, const struct strbuf *b, size_t size, enum sqtt_rules rules)
{
	size_t n = sort_want(s), n_open = 0;
	struct got g;

	decode(s, b, size, rules, &g);
	for (size_t i = 0; i < g.waves.n; i++) {
		struct sq_wave key = {.begin = g.waves.v[i].w.begin,
			.simd = g.waves.v[i].w.simd,
			.slot = g.waves.v[i].w.slot};
		const struct sq_wave *w =
			bsearch(&key, s->waves.v, n, sizeof(*s->waves.v), compare_want);

		if (!w)
			fail_msg("%s: a wave that was never written", where);
		if (g.waves.v[i].w.is_incomplete)
			is_begin_of(s, &g.waves.v[i], w);
		else
			same_wave(s, &g.waves.v[i], w, i);
		n_open += g.waves.v[i].w.is_incomplete;
	}
	SAME("waves said to be incomplete", g.result.notes[SQTT_NOTE_WAVE_INCOMPLETE].count,
		n_open);
	SAME("decoded and cut bytes",
		g.result.decoded_bytes < size ? g.result.notes[SQTT_NOTE_CUT].count > 0 : 1, 1);
	SAME("decoded bytes", g.result.decoded_bytes <= size, 1);
	got_deinit(&g);
}

/* 0.1.6 takes what is missing of the last token for zeros, which say nothing by themselves. */
static void check_zeros(const struct sq_stream *s, const struct strbuf *b, size_t size)
{
	static const char zeros[16];
	struct strbuf padded = {0};
	struct got g, want;

	assert_true(sb_add(&padded, b->p, size) && sb_add(&padded, zeros, sizeof(zeros)));
	decode(s, b, size, SQTT_RULES_C16, &g);
	decode(s, &padded, padded.n, SQTT_RULES_C16, &want);
	SAME("waves", g.waves.n, want.waves.n);
	SAME("events", g.occupancy.n, want.occupancy.n);
	for (size_t i = 0; i < g.occupancy.n; i++) {
		SAME("time", g.occupancy.v[i].time, want.occupancy.v[i].time);
		SAME("slot", g.occupancy.v[i].slot, want.occupancy.v[i].slot);
	}
	for (size_t i = 0; i < g.waves.n; i++) {
		SAME("end", g.waves.v[i].w.end, want.waves.v[i].w.end);
		SAME("instructions", g.waves.v[i].w.n_insts, want.waves.v[i].w.n_insts);
	}
	sb_free(&padded);
	got_deinit(&g);
	got_deinit(&want);
}

static void cuts(enum sq_gen gen)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		enum sqtt_rules rules = seed % 2 ? SQTT_RULES_RIGHT : SQTT_RULES_C16;
		uint64_t state = seed;
		struct sq_program p;
		struct sq_stream s;
		struct strbuf b = {0};

		make(&s, &p, gen, rules, seed);
		assert_true(sq_encode(&s, &b));
		for (unsigned i = 0; i < 40; i++) {
			size_t size = 8 + sq_below(&state, (uint32_t)b.n - 8);
			struct got g;

			snprintf(where, sizeof(where), "gfx%u seed %u cut at %zu",
				sq_gfx_major(gen), (unsigned)seed, size);
			if (rules == SQTT_RULES_C16) {
				check_zeros(&s, &b, size);
				continue;
			}
			decode(&s, &b, size, rules, &g);
			same_occupancy(&s, &g, true);
			got_deinit(&g);
		}
		for (unsigned i = 0; i < 40 && rules != SQTT_RULES_C16; i++) {
			size_t size = 8 + sq_below(&state, (uint32_t)b.n - 8);

			snprintf(where, sizeof(where), "gfx%u seed %u cut at %zu",
				sq_gfx_major(gen), (unsigned)seed, size);
			check_cut(&s, &b, size, rules);
		}
		sb_free(&b);
		sq_stream_deinit(&s);
	}
}

#define GENERATION(name, gen)                                                                      \
	static void test_##name##_right(void **state)                                              \
	{                                                                                          \
		(void)state;                                                                       \
		round_trip(gen, SQTT_RULES_RIGHT);                                                 \
	}                                                                                          \
	static void test_##name##_new(void **state)                                                \
	{                                                                                          \
		(void)state;                                                                       \
		round_trip(gen, SQTT_RULES_NEW);                                                   \
	}                                                                                          \
	static void test_##name##_c16(void **state)                                                \
	{                                                                                          \
		(void)state;                                                                       \
		round_trip(gen, SQTT_RULES_C16);                                                   \
	}                                                                                          \
	static void test_##name##_cut(void **state)                                                \
	{                                                                                          \
		(void)state;                                                                       \
		cuts(gen);                                                                         \
	}

GENERATION(gfx9, SQ_GFX9)
GENERATION(gfx10, SQ_GFX10)
GENERATION(gfx11, SQ_GFX11)
GENERATION(gfx12, SQ_GFX12)

#define TESTS(name)                                                                                \
	cmocka_unit_test(test_##name##_right), cmocka_unit_test(test_##name##_new),                \
		cmocka_unit_test(test_##name##_c16), cmocka_unit_test(test_##name##_cut)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS(gfx9), TESTS(gfx10), TESTS(gfx11), TESTS(gfx12)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
