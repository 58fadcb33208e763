/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.c: bringing clock domains together. Each sample pairs a domain's clock (gfx) with one that
 * all share (rt).
 *
 * With k = sum of realtime differences / sum of shader clock differences (engines with two samples
 * or more), the offset to add to an engine's time is
 *	(rt - rt_ref) / k - (gfx - gfx_ref)		first samples, ref = lowest engine with any
 * rounded to the nearest cycle, half away from zero. All in 128-bit integers: at 2.4e14 ticks a
 * double would lose most of a cycle.
 */
#include "trace/align.h"

__extension__ typedef __int128 i128;

#define MAX_OFFSET_CYC TRACE_MAX_TIME_CYC

/* Differences between first and last sample; false if no frequency can be derived from them. */
static bool align_span_of(const struct clock_domain *c, int64_t *gfx, int64_t *rt)
{
	if (c->n_samples < 2)
		return false;
	*gfx = c->samples[c->n_samples - 1][0] - c->samples[0][0];
	*rt = c->samples[c->n_samples - 1][1] - c->samples[0][1];
	return *gfx > 0 && *rt > 0;
}

/* gfx / rt * hz as a fraction in lowest terms that fits 64 bits. */
static void set_fraction(i128 gfx, i128 rt, uint64_t hz, uint64_t *num, uint64_t *den)
{
	unsigned __int128 a = (unsigned __int128)gfx, b = (unsigned __int128)rt, f = hz, x, y;

	for (x = f, y = b; y;) { /* first against the frequency, which is the large factor */
		unsigned __int128 rest = x % y;

		x = y;
		y = rest;
	}
	f /= x;
	b /= x;
	for (x = a, y = b; y;) {
		unsigned __int128 rest = x % y;

		x = y;
		y = rest;
	}
	a /= x;
	b /= x;
	while (a > UINT64_MAX / f ||
		b > UINT64_MAX) { /* only for traces of centuries: give up exactness */
		a >>= 1;
		b >>= 1;
	}
	*num = (uint64_t)(a * f);
	*den = (uint64_t)b;
}

/* Rounds num / den (den > 0) to nearest, half away from zero; false if out of range. */
static bool round_ratio(i128 num, i128 den, int64_t *out)
{
	i128 q = num / den, rest = num % den;

	if (rest < 0)
		rest = -rest;
	if (rest >= den - rest)
		q += num < 0 ? -1 : 1;
	if (q > MAX_OFFSET_CYC || q < -(i128)MAX_OFFSET_CYC)
		return false;
	*out = (int64_t)q;
	return true;
}

/* The sample a domain is aligned by: the last one not after first_cyc. */
static const int64_t *anchor_of(const struct clock_domain *c, const uint64_t *first_cyc)
{
	uint32_t i = 0;

	while (first_cyc && i + 1 < c->n_samples && c->samples[i + 1][0] <= (int64_t)*first_cyc)
		i++;
	return c->samples[i];
}

static bool align_align(
	struct clock_domain *c, const int64_t *mine, const int64_t *ref, const i128 sums[2])
{
	i128 ticks = (i128)mine[1] - ref[1], sum_gfx = sums[0], sum_rt = sums[1];
	i128 gfx = (i128)ref[0] - mine[0], a, b, num;

	if (ticks == 0) /* needs no k */
		return round_ratio(gfx, 1, &c->offset_cyc);
	if (sum_rt <= 0 || __builtin_mul_overflow(ticks, sum_gfx, &a) ||
		__builtin_mul_overflow(gfx, sum_rt, &b) || __builtin_add_overflow(a, b, &num))
		return false;
	return round_ratio(num, sum_rt, &c->offset_cyc);
}

static bool note_unaligned(struct trace *t, const char *source)
{
	uint32_t n = 0, first = 0;

	for (clock_idx i = 0; i < t->n_clocks; i++)
		if (!t->clocks[i].is_aligned && n++ == 0)
			first = t->clocks[i].id;
	if (!n || t->n_clocks < 2)
		return true;
	return trace_note(t, "unaligned-clock", source, INCORE_NO_OFFSET, n,
		"%u of %u shader engines have no usable clock samples (first: SE%u) and stay unaligned",
		n, t->n_clocks, first);
}

bool trace_align_clocks(
	struct trace *t, uint64_t shared_hz, const uint64_t *first_cyc, const char *source)
{
	const int64_t *ref = NULL;
	i128 sums[2] = {0, 0}; /* sums of gfx and rt differences */
	int64_t gfx, rt;

	t->reference_clock = NO_CLOCK;
	for (clock_idx i = 0; i < t->n_clocks; i++) {
		struct clock_domain *c = &t->clocks[i];

		if (c->n_samples && t->reference_clock == NO_CLOCK) {
			t->reference_clock = i;
			ref = anchor_of(c, first_cyc ? &first_cyc[i] : NULL);
		}
		if (!align_span_of(c, &gfx, &rt))
			continue;
		sums[0] += gfx;
		sums[1] += rt;
		set_fraction(gfx, rt, shared_hz, &c->hz_num, &c->hz_den);
	}
	if (sums[1] > 0) {
		set_fraction(
			sums[0], sums[1], shared_hz, &t->meta.clock_hz_num, &t->meta.clock_hz_den);
		t->meta.clock_source = source;
	}
	for (clock_idx i = 0; i < t->n_clocks; i++)
		t->clocks[i].is_aligned =
			t->clocks[i].n_samples &&
			align_align(&t->clocks[i],
				anchor_of(&t->clocks[i], first_cyc ? &first_cyc[i] : NULL), ref,
				sums);
	return note_unaligned(t, source);
}
