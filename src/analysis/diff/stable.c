/* SPDX-License-Identifier: Apache-2.0 */
/* stable.c: how far repeated captures differ, and on which rows. */
#include "analysis/diff/stable.h"

#include "base/search.h"

static double per_execution(const struct diff_side *s, uint64_t cycles)
{
	uint64_t hits = s->hot->all.totals.hit;

	return hits ? (double)cycles / (double)hits : 0;
}

static double row_of(const struct diff_side *s, code_idx i)
{
	return per_execution(s, s->hot->rows[i].totals.latency);
}

static void judge_total(struct stability *out, const struct diff_side *sides, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		double x = per_execution(&sides[i], sides[i].hot->all.totals.latency);

		out->least = !i || x < out->least ? x : out->least;
		out->most = !i || x > out->most ? x : out->most;
	}
	out->spread_pct = out->least > 0 ? 100 * (out->most - out->least) / out->least : 0;
}

static struct stable_row judge_row(
	const struct stability *of, const struct diff_side *sides, uint32_t n, code_idx code)
{
	struct stable_row r = {.code = code,
		.a = row_of(&sides[0], code),
		.b = row_of(&sides[1], code),
		.least = row_of(&sides[0], code)};

	r.most = r.least;
	for (uint32_t i = 1; i < n; i++) {
		double x = row_of(&sides[i], code);

		r.least = x < r.least ? x : r.least;
		r.most = x > r.most ? x : r.most;
	}
	r.spread_pct = of->least > 0 ? 100 * (r.most - r.least) / of->least : 0;
	return r;
}

static int by_spread(const void *pa, const void *pb)
{
	const struct stable_row *a = pa, *b = pb;

	RETURN_UNLESS_EQUAL(b->spread_pct, a->spread_pct);
	RETURN_UNLESS_EQUAL(a->code, b->code);
	return 0;
}

bool stability_judge(struct stability *out, const struct diff_side *sides, uint32_t n,
	double total_pct, double row_pct, struct arena *arena, struct incore_error *e)
{
	code_idx n_code = sides[0].trace->n_code;
	struct stable_row *v = arena_zalloc(arena, (size_t)n_code + 1, sizeof(*v));
	uint32_t moved = 0;

	*out = (struct stability){.rows = v};
	if (!v)
		return err_nomem(e);
	judge_total(out, sides, n);
	for (code_idx i = 0; i < n_code; i++) {
		v[moved] = judge_row(out, sides, n, i);
		out->n_beyond += v[moved].spread_pct > row_pct;
		moved += v[moved].spread_pct > 0;
	}
	SORT(v, moved, by_spread);
	out->row_most_pct = moved ? v[0].spread_pct : 0;
	out->is_stable = out->spread_pct < total_pct && !out->n_beyond;
	out->n_rows = out->is_stable ? 0 : out->n_beyond ? out->n_beyond : moved;
	return true;
}
