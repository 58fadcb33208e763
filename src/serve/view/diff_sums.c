/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_sums.c: is an instruction worse, better or the same in another capture, which comes after
 * this one? By cycles per execution of its row, rows aligned as `incore diff` aligns them.
 */
#include "analysis/diff/diff.h"
#include "base/mem.h"
#include "serve/view/view_index.h"

#define LEAST_CHANGE 0.02 /* relative to a row's cycles per execution; also at least one cycle */
#define MIN_MATCH 0.5

struct row_mean {
	uint64_t hits, cyc;
};

static struct row_mean *means_of(const struct view *v)
{
	uint32_t n_code = v->trace->n_code;
	struct row_mean *m = mem_zalloc((size_t)n_code + 1, sizeof(*m));

	for (uint32_t k = 0; m && k < v->columns->n_lanes; k++) {
		const struct lane *l = &v->columns->lanes[k];

		for (uint32_t i = 0; i < l->n; i++) {
			struct row_mean *x = &m[l->code[i] < n_code ? l->code[i] : n_code];

			x->hits++;
			x->cyc += l->dur[i];
		}
	}
	return m;
}

static uint8_t diff_sums_compare(const struct row_mean *here, const struct row_mean *there)
{
	double a, b;

	if (there->hits == 0 || here->hits == 0)
		return DIFF_ONLY_HERE;
	a = (double)here->cyc / (double)here->hits;
	b = (double)there->cyc / (double)there->hits;
	if (b - a > LEAST_CHANGE * a && b - a >= 1)
		return DIFF_WORSE;
	return a - b > LEAST_CHANGE * a && a - b >= 1 ? DIFF_BETTER : DIFF_SAME;
}

/* Sets the key of each code row by comparison with the aligned row of the base. */
static bool keys_of_rows(
	const struct view *v, const struct view *base, const code_idx *there, uint8_t *keys)
{
	struct row_mean *a = means_of(v), *b = means_of(base);
	uint32_t n = v->trace->n_code;

	for (uint32_t i = 0; a && b && i <= n; i++)
		keys[i] = i < n && there[i] < base->trace->n_code
				  ? diff_sums_compare(&a[i], &b[there[i]])
				  : (uint8_t)DIFF_ONLY_HERE;
	mem_free(a);
	mem_free(b);
	return a && b;
}

static bool diff_sums_align(
	const struct view *v, const struct view *base, uint8_t *keys, struct incore_error *e)
{
	struct diff_options o = {.min_match = MIN_MATCH};
	struct walk_options wo = {0};
	struct walk_result walk[2] = {0};
	struct diff_side side[2] = {0};
	struct diff_align x = {0};
	struct arena arena;
	bool ok;

	arena_init(&arena);
	ok = diff_side_open(&side[0], v->trace, &wo, &walk[0], e) &&
	     diff_side_open(&side[1], base->trace, &wo, &walk[1], e) &&
	     diff_align_rows(&x, &side[0], &side[1], &o, &arena, e);
	if (ok && (!x.b_of_a || diff_matched_share(&x) < MIN_MATCH))
		ok = err_set(e, INCORE_USAGE, "not-comparable",
			"the two captures are not of comparable code: rows cannot be aligned");
	ok = ok && (keys_of_rows(v, base, x.b_of_a, keys) || err_nomem(e));
	for (unsigned i = 0; i < 2; i++) {
		if (side[i].trace)
			diff_side_close(&side[i]);
		walk_result_deinit(&walk[i]);
	}
	line_pairs_deinit(&x.lines);
	arena_deinit(&arena);
	return ok;
}

bool diff_sums_make(struct view *v, const struct view *base, struct incore_error *e)
{
	uint8_t *keys = mem_zalloc((size_t)v->trace->n_code + 1, 1);
	bool ok = keys ? diff_sums_align(v, base, keys, e) : err_nomem(e);

	ok = ok && diff_sums_fill(v, base, keys, e);
	mem_free(keys);
	if (!ok)
		diff_sums_drop(v);
	return ok;
}

bool view_diff_rows(
	const struct view *v, const struct view *base, struct strbuf *out, struct incore_error *e)
{
	size_t n = (size_t)v->trace->n_code + 1;
	uint8_t *keys = mem_zalloc(n, 1);
	bool ok = keys ? diff_sums_align(v, base, keys, e) : err_nomem(e);

	for (size_t i = 0; ok && i < n; i++)
		sb_putc(out, (char)('0' + keys[i]));
	mem_free(keys);
	return ok && (!out->failed || err_nomem(e));
}
