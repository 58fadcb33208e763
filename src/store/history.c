/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: change points of a series against its own noise. */
#include "store/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The standard deviation of the difference of two values is sqrt(2) times that of one; the median
 * absolute value of a normal distribution is 0.6745 times its standard deviation. */
#define SIGMA_OF_MEDIAN (1.4826 / 1.41421356)

static int store_history_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of_sorted(const double *v, size_t n)
{
	return n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
}

/* Computes the noise; not finite if not known; false: no memory. */
static bool find_noise(const double *v, size_t n, double *out)
{
	double *d;

	*out = NAN;
	if (n < HISTORY_LEAST)
		return true;
	d = mem_alloc((n - 1) * sizeof(*d));
	if (!d)
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		d[i] = fabs(v[i + 1] - v[i]);
	qsort(d, n - 1, sizeof(*d), store_history_by_value);
	*out = SIGMA_OF_MEDIAN * median_of_sorted(d, n - 1);
	mem_free(d);
	return true;
}

double history_limit(const struct history_rule *rule, double noise, double level, double share)
{
	return fmax(rule->sigmas * noise * sqrt(share), rule->floor * fabs(level));
}

/* The values that the level of a stretch is made from, sorted. */
struct store_history_window {
	double v[HISTORY_WINDOW];
	unsigned n;
};

static void window_add(struct store_history_window *w, double x)
{
	unsigned at = w->n;

	if (at == HISTORY_WINDOW)
		return;
	for (; at > 0 && w->v[at - 1] > x; at--)
		w->v[at] = w->v[at - 1];
	w->v[at] = x;
	w->n++;
}

/* -1, 0, 1: below the level, near it, above it. */
static int store_history_side_of(const struct store_history_window *w, double x,
	const struct history_rule *rule, double noise)
{
	double level = median_of_sorted(w->v, w->n);
	double limit = history_limit(rule, noise, level, 1 + 2.0 / w->n);

	return (x > level + limit) - (x < level - limit);
}

static bool end_stretch(
	struct history *h, size_t first, size_t n, const struct store_history_window *w)
{
	return VEC_PUSH(&h->stretches,
		(struct history_stretch){first, n, median_of_sorted(w->v, w->n), w->n});
}

bool history_find(struct history *out, const double *v, size_t n, const struct history_rule *rule,
	struct incore_error *e)
{
	struct store_history_window w = {.n = 0};
	size_t first = 0;
	bool ok;

	*out = (struct history){0};
	out->marks = mem_zalloc(n + 1, 1);
	ok = out->marks && find_noise(v, n, &out->noise);
	for (size_t i = 0; ok && i < n; i++) {
		int side = w.n && isfinite(out->noise)
				   ? store_history_side_of(&w, v[i], rule, out->noise)
				   : 0;

		if (side == 0) {
			window_add(&w, v[i]);
		} else if (i + 1 == n) {
			out->marks[i] = HISTORY_UNCONFIRMED;
		} else if (store_history_side_of(&w, v[i + 1], rule, out->noise) != side) {
			out->marks[i] = HISTORY_OUTLIER;
		} else {
			ok = end_stretch(out, first, i - first, &w);
			out->marks[i] = HISTORY_CHANGE;
			first = i;
			w = (struct store_history_window){.n = 0};
			window_add(&w, v[i]);
		}
	}
	if (ok && n)
		ok = end_stretch(out, first, n - first, &w);
	return ok || err_nomem(e);
}

void history_deinit(struct history *h)
{
	mem_free(h->marks);
	VEC_FREE(&h->stretches);
}

bool history_judge(struct history_gate *out, const double *v, size_t n, size_t n_new,
	const struct history_rule *rule, struct incore_error *e)
{
	size_t n_old = n - n_new;
	struct history old;
	const struct history_stretch *s;
	double *copy;

	*out = (struct history_gate){NAN, NAN, NAN, NAN, GATE_NO_CLAIM};
	copy = mem_alloc((n_new + 1) * sizeof(*copy));
	if (!history_find(&old, v, n_old, rule, e) || !copy) {
		history_deinit(&old);
		mem_free(copy);
		return copy ? false : err_nomem(e);
	}
	memcpy(copy, v + n_old, n_new * sizeof(*copy));
	qsort(copy, n_new, sizeof(*copy), store_history_by_value);
	out->after = median_of_sorted(copy, n_new);
	s = old.stretches.n ? &old.stretches.v[old.stretches.n - 1] : NULL;
	out->noise = old.noise;
	if (s)
		out->before = s->level;
	if (s && isfinite(old.noise)) {
		double change = out->after - out->before;

		out->limit = history_limit(
			rule, old.noise, s->level, 1.0 / (double)n_new + 2.0 / s->n_level);
		out->verdict = change > out->limit    ? GATE_WORSE
			       : change < -out->limit ? GATE_BETTER
						      : GATE_PASSED;
	}
	history_deinit(&old);
	mem_free(copy);
	return true;
}
