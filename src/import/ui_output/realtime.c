/* SPDX-License-Identifier: Apache-2.0 */
/*
 * realtime.c: how the clocks of the shader engines relate (realtime.json). Each sample pairs a
 * shader clock with a 100 MHz clock that all engines share.
 *
 * With k = sum of realtime differences / sum of shader clock differences (engines with two samples
 * or more), the offset to add to an engine's time is
 *	(rt - rt_ref) / k - (gfx - gfx_ref)		first samples, ref = lowest engine with any
 * rounded to the nearest cycle, half away from zero. All in 128-bit integers: at 2.4e14 ticks a
 * double would lose most of a cycle.
 */
#include "import/ui_output/ui_output.h"

__extension__ typedef __int128 i128;

#define MAX_OFFSET_CYC (UI_MAX_TIME_CYC)
#define MAX_FREQUENCY_HZ 1000000000000u

static void read_samples(struct json_reader *r, struct ui_build *b, uint32_t se, bool *is_nomem)
{
	VEC(int64_t) all = {0};
	struct ui_se_samples out = {.se = se};
	int64_t rows[64 * 2];
	size_t n = 64;

	if (!json_enter_array_or_null(r))
		return;
	while (n == 64 && !r->is_failed) {
		n = json_read_i64_rows(r, 2, 64, rows);
		for (size_t i = 0; i < n * 2 && !*is_nomem; i++) {
			if (rows[i] < 0)
				json_reject(r, "out-of-range", "negative clock");
			*is_nomem = !VEC_PUSH(&all, rows[i]);
		}
	}
	out.n = (uint32_t)(all.n / 2);
	out.samples = arena_zalloc(&b->trace->arena, all.n + 2, sizeof(int64_t));
	if (!out.samples || *is_nomem)
		*is_nomem = true;
	else if (all.n)
		memcpy((void *)out.samples, all.v, all.n * sizeof(int64_t));
	if (!r->is_failed && !*is_nomem && out.n)
		*is_nomem = !VEC_PUSH(&b->realtime, out);
	VEC_FREE(&all);
}

static void read_metadata(struct json_reader *r, struct ui_build *b)
{
	struct str key;
	uint64_t hz;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!str_is(key, "frequency"))
			json_skip(r);
		else if (json_get_u64(r, &hz)) {
			if (hz == 0 || hz > MAX_FREQUENCY_HZ)
				json_reject(r, "out-of-range", "frequency %llu Hz",
					(unsigned long long)hz);
			b->realtime_hz = hz;
		}
	}
}

static bool has_samples(const struct ui_build *b, uint32_t se)
{
	for (size_t i = 0; i < b->realtime.n; i++)
		if (b->realtime.v[i].se == se)
			return true;
	return false;
}

bool ui_realtime_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	uint32_t se;
	bool is_nomem = false, ok;

	json_init(&r, in.p, in.n, in.path, 0);
	if (json_enter_object(&r))
		while (!is_nomem && json_next_key(&r, &key)) {
			if (str_is(key, "metadata")) {
				read_metadata(&r, b);
			} else if (str_starts(key, "SE")) {
				if (!ui_key_number(&r, str_sub(key, 2, key.n), UI_MAX_SE - 1, &se))
					break;
				if (has_samples(b, se))
					json_reject(&r, "duplicate-key", "SE%u stands twice", se);
				read_samples(&r, b, se, &is_nomem);
			} else {
				json_skip(&r);
			}
		}
	ok = !is_nomem && json_finish(&r, e);
	json_deinit(&r);
	if (!ok) {
		b->realtime.n = 0;
		return is_nomem ? err_nomem(e) : false;
	}
	if (!b->realtime_hz)
		b->realtime_hz = 100000000;
	for (size_t i = 0; i < b->realtime.n; i++)
		ui_see_se(b, b->realtime.v[i].se);
	return true;
}

/* Differences of first and last sample; false if they give no clock. */
static bool span_of(const struct clock_domain *c, int64_t *gfx, int64_t *rt)
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

	for (x = f, y = b; y;) { /* first against the frequency, which is what makes it large */
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
		b > UINT64_MAX) { /* beyond centuries of trace: give up exactness */
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

static bool align(struct clock_domain *c, const struct clock_domain *ref, i128 sum_gfx, i128 sum_rt)
{
	i128 ticks = (i128)c->samples[0][1] - ref->samples[0][1];
	i128 gfx = (i128)ref->samples[0][0] - c->samples[0][0], a, b, num;

	if (ticks == 0) /* needs no k */
		return round_ratio(gfx, 1, &c->offset_cyc);
	if (sum_rt <= 0 || __builtin_mul_overflow(ticks, sum_gfx, &a) ||
		__builtin_mul_overflow(gfx, sum_rt, &b) || __builtin_add_overflow(a, b, &num))
		return false;
	return round_ratio(num, sum_rt, &c->offset_cyc);
}

static bool note_unaligned(struct ui_build *b)
{
	struct trace *t = b->trace;
	uint32_t n = 0, first = 0;

	for (clock_idx i = 0; i < t->n_clocks; i++)
		if (!t->clocks[i].is_aligned && n++ == 0)
			first = t->clocks[i].id;
	if (!n || t->n_clocks < 2)
		return true;
	return trace_note(t, NOTE_MISSING, "unaligned-clock", "realtime.json", INCORE_NO_OFFSET, n,
		"%u of %u shader engines have no usable clock samples (first: SE%u) and stay "
		"unaligned",
		n, t->n_clocks, first);
}

static bool make_clocks(struct ui_build *b)
{
	struct trace *t = b->trace;
	uint32_t n = 0;

	for (uint32_t se = 0; se < UI_MAX_SE; se++)
		n += b->se_seen[se / 64] >> se % 64 & 1;
	t->clocks = arena_zalloc(&t->arena, (size_t)n + 1, sizeof(*t->clocks));
	if (!t->clocks)
		return false;
	for (uint32_t se = 0; se < UI_MAX_SE; se++)
		if (b->se_seen[se / 64] >> se % 64 & 1)
			t->clocks[t->n_clocks++].id = se;
	for (size_t i = 0; i < b->realtime.n; i++) {
		struct clock_domain *c = &t->clocks[ui_clock(t, b->realtime.v[i].se)];

		c->n_samples = b->realtime.v[i].n;
		c->samples = b->realtime.v[i].samples;
	}
	return true;
}

bool ui_clocks_build(struct ui_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	i128 sum_gfx = 0, sum_rt = 0;
	int64_t gfx, rt;

	if (!make_clocks(b))
		return err_nomem(e);
	t->reference_clock = NO_CLOCK;
	for (clock_idx i = 0; i < t->n_clocks; i++) {
		struct clock_domain *c = &t->clocks[i];

		if (c->n_samples && t->reference_clock == NO_CLOCK)
			t->reference_clock = i;
		if (!span_of(c, &gfx, &rt))
			continue;
		sum_gfx += gfx;
		sum_rt += rt;
		set_fraction(gfx, rt, b->realtime_hz, &c->hz_num, &c->hz_den);
	}
	if (sum_rt > 0) {
		set_fraction(sum_gfx, sum_rt, b->realtime_hz, &t->meta.clock_hz_num,
			&t->meta.clock_hz_den);
		t->meta.clock_source = "realtime.json";
	}
	for (clock_idx i = 0; i < t->n_clocks; i++)
		t->clocks[i].is_aligned =
			t->clocks[i].n_samples &&
			align(&t->clocks[i], &t->clocks[t->reference_clock], sum_gfx, sum_rt);
	return note_unaligned(b) || err_nomem(e);
}
