/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqtt_bytes.h: thread traces made token by token, and what the decoder makes of them as text:
 * "W slot begin-end [category,time,stall,dur,pc]... (state,dur)...", one letter a kind of record.
 */
#ifndef SQTT_BYTES_H
#define SQTT_BYTES_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/sqtt/decoder.h"

#define CODE_BASE 0x100000u /* what a program register of 0x1000 says */

struct sqtt_bytes {
	uint8_t p[4096];
	size_t bits;
	int64_t now; /* where the gfx9 helpers stand */
	char text[4096];
	size_t n;
	struct sqtt_result res;
};

static inline void put(struct sqtt_bytes *b, uint64_t value, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++, b->bits++)
		if (i < 64 && value >> i & 1)
			b->p[b->bits / 8] |= (uint8_t)(1u << b->bits % 8);
}

static inline void say(struct sqtt_bytes *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
static inline void say(struct sqtt_bytes *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	b->n += (size_t)vsnprintf(b->text + b->n, sizeof(b->text) - b->n, fmt, ap);
	va_end(ap);
	assert_true(b->n < sizeof(b->text));
}

static inline bool say_wave(void *ctx, const struct sqtt_wave *w, struct incore_error *e)
{
	struct sqtt_bytes *b = ctx;

	(void)e;
	say(b, "W%s%u %" PRId64 "-%" PRId64, w->is_incomplete ? "?" : "", w->slot, w->begin,
		w->end);
	for (size_t i = 0; i < w->n_insts; i++) {
		const struct sqtt_inst *x = &w->insts[i];

		say(b, " [%d,%" PRId64 ",%u,%d", (int)x->category, x->time, x->stall, x->dur);
		if (x->pc)
			say(b, ",%s%" PRIx64, x->object ? "o" : "",
				x->object ? x->pc : x->pc - CODE_BASE);
		say(b, "]");
	}
	say(b, w->n_spans ? " " : "");
	for (size_t i = 0; i < w->n_spans; i++)
		say(b, "(%d,%d)", w->timeline[i].state, w->timeline[i].dur);
	say(b, "\n");
	return true;
}

static inline bool say_occupancy(
	void *ctx, const struct sqtt_occupancy *o, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, o++)
		say(ctx, "O %s%" PRId64 " %u.%u.%u %s%" PRIx64 "\n", o->is_start ? "+" : "-",
			o->time, o->cu, o->simd, o->slot, o->object ? "o" : "", o->pc);
	return true;
}

static inline bool say_realtime(
	void *ctx, const struct sqtt_realtime *r, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, r++)
		say(ctx, "R %" PRId64 " %" PRIu64 "\n", r->time, r->clock);
	return true;
}

static inline bool say_perf(void *ctx, const struct sqtt_perf *p, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, p++)
		say(ctx, "P %" PRId64 " %u,%u,%u,%u cu %u bank %u\n", p->time, p->counter[0],
			p->counter[1], p->counter[2], p->counter[3], p->cu, p->bank);
	return true;
}

static inline bool say_shaderdata(
	void *ctx, const struct sqtt_shaderdata *s, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, s++)
		say(ctx, "D %" PRId64 " %u %u.%u.%u flags %u\n", s->time, s->value, s->cu, s->simd,
			s->slot, s->flags);
	return true;
}

static inline bool say_other(
	void *ctx, const struct sqtt_other_simd *o, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, o++)
		say(ctx, "X %" PRId64 " %u cycles, category %u\n", o->time, o->cycles, o->category);
	return true;
}

static inline bool say_event(
	void *ctx, const struct sqtt_event *v, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, v++)
		say(ctx, "E %" PRId64 " %u me %u pipe %u flags %u %s%" PRIx64 " %ux%ux%u\n",
			v->time, v->type, v->me, v->pipe, v->flags, v->object ? "o" : "", v->pc,
			v->threads[0], v->threads[1], v->threads[2]);
	return true;
}

/* Decodes what was put; `what` names the letters of the records wanted. */
static inline const char *decoded(struct sqtt_bytes *b, enum sqtt_rules rules, const uint32_t *code,
	size_t n_code, const char *what)
{
	struct sqtt_segment seg[2] = {{0, 0, CODE_BASE, (const uint8_t *)code, n_code * 4},
		{7, 0x1000, SQTT_NO_ADDR, (const uint8_t *)code, n_code * 4}};
	struct sqtt_code c = {AMD_ARCH_UNKNOWN, 2, seg};
	struct sqtt_options o = {rules, n_code ? &c : NULL, SQTT_TARGET_OF_STREAM};
	struct sqtt_sink sink = {.ctx = b};
	struct incore_error e = {0};

	sink.wave = strchr(what, 'W') ? say_wave : NULL;
	sink.occupancy = strchr(what, 'O') ? say_occupancy : NULL;
	sink.realtime = strchr(what, 'R') ? say_realtime : NULL;
	sink.perf = strchr(what, 'P') ? say_perf : NULL;
	sink.shaderdata = strchr(what, 'D') ? say_shaderdata : NULL;
	sink.event = strchr(what, 'E') ? say_event : NULL;
	sink.other_simd = strchr(what, 'X') ? say_other : NULL;
	b->n = 0;
	b->text[0] = 0;
	assert_true(sqtt_decode(b->p, (b->bits + 7) / 8, &o, &sink, &b->res, &e));
	return b->text;
}

#endif
