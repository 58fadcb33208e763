/* SPDX-License-Identifier: Apache-2.0 */
/* clean.c: rows for overlapping slices, and the slices that a flag's arrow connects. */
#include "analysis/pipes/clean.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

/* --- order --- */

static bool clean_is_before(const struct clean_span *a, const struct clean_span *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->length != b->length)
		return a->length < b->length;
	return a->index < b->index;
}

/* Insertion sort: producers write in order of ends, so starts are nearly sorted. False: gave up
 * after a number of moves linear in n; v still holds all spans. */
static bool sort_nearly(struct clean_span *v, size_t n)
{
	size_t left = 16 * n + 64;

	for (size_t i = 1; i < n; i++) {
		struct clean_span x = v[i];
		size_t k = i;

		while (k > 0 && clean_is_before(&x, &v[k - 1]) && left > 0) {
			v[k] = v[k - 1];
			k--;
			left--;
		}
		v[k] = x;
		if (left == 0)
			return false;
		mem_step(i);
	}
	return true;
}

static void merge_runs(const struct clean_span *a, size_t n_a, const struct clean_span *b,
	size_t n_b, struct clean_span *out)
{
	size_t i = 0, k = 0;

	while (i < n_a && k < n_b) {
		if (clean_is_before(&b[k], &a[i]))
			*out++ = b[k++];
		else
			*out++ = a[i++];
	}
	memcpy(out, a + i, (n_a - i) * sizeof(*a));
	out += n_a - i;
	memcpy(out, b + k, (n_b - k) * sizeof(*b));
}

bool clean_sort(struct clean_span *v, size_t n)
{
	struct clean_span *other, *from = v, *to;

	if (n < 2 || sort_nearly(v, n))
		return true;
	other = mem_resize(NULL, n, sizeof(*v));
	if (!other)
		return false;
	to = other;
	for (size_t width = 1; width < n; width *= 2) {
		struct clean_span *swap = from;

		for (size_t i = 0; i < n; i += 2 * width) {
			size_t n_a = n - i < width ? n - i : width;
			size_t n_b = n - i - n_a < width ? n - i - n_a : width;

			merge_runs(from + i, n_a, from + i + n_a, n_b, to + i);
		}
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	mem_free(other);
	return true;
}

/* --- rows --- */

void clean_rows_init(struct clean_rows *r)
{
	*r = (struct clean_rows){0};
}

void clean_rows_clear(struct clean_rows *r)
{
	for (uint32_t i = 0; i < 2 * r->n_leaves; i++)
		r->tree[i] = INFINITY;
	r->n_rows = 0;
}

void clean_rows_deinit(struct clean_rows *r)
{
	mem_free(r->tree);
	*r = (struct clean_rows){0};
}

static void set_end(struct clean_rows *r, uint32_t row, double end)
{
	size_t i = (size_t)r->n_leaves + row;

	r->tree[i] = end;
	for (i /= 2; i > 0; i /= 2) {
		double a = r->tree[2 * i], b = r->tree[2 * i + 1];

		r->tree[i] = a < b ? a : b;
	}
}

static bool grow_rows(struct clean_rows *r)
{
	uint32_t old = r->n_leaves, n = old ? 2 * old : 8;
	double *tree;

	if (n < old)
		return false;
	tree = mem_resize(NULL, 2 * (size_t)n, sizeof(*tree));
	if (!tree)
		return false;
	for (size_t i = 0; i < 2 * (size_t)n; i++)
		tree[i] = INFINITY;
	for (uint32_t i = 0; i < old; i++)
		tree[n + i] = r->tree[old + i];
	for (size_t i = n - 1; i > 0; i--)
		tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
	mem_free(r->tree);
	r->tree = tree;
	r->n_leaves = n;
	return true;
}

uint32_t clean_rows_put(struct clean_rows *r, double start, double end, double slack)
{
	double limit = start + slack;
	uint32_t row;

	if (r->n_rows && r->tree[1] <= limit) {
		size_t i = 1;

		while (i < r->n_leaves)
			i = r->tree[2 * i] <= limit ? 2 * i : 2 * i + 1;
		row = (uint32_t)(i - r->n_leaves);
	} else {
		if (r->n_rows == r->n_leaves && !grow_rows(r))
			return CLEAN_NO_ROW;
		row = r->n_rows++;
	}
	set_end(r, row, end);
	return row;
}

/* --- neighbours --- */

/* Number of spans with start < at (or <= at). */
static size_t count_before(const struct clean_span *v, size_t n, double at, bool is_with_equal)
{
	size_t lo = 0, hi = n;

	BISECT(lo, hi, i, v[i].start < at || (is_with_equal && v[i].start == at));
	return lo;
}

size_t clean_last_before(const struct clean_span *v, size_t n, double at)
{
	size_t k = count_before(v, n, at, true);

	return k ? k - 1 : n;
}

size_t clean_first_after(const struct clean_span *v, size_t n, double at)
{
	return count_before(v, n, at, false);
}

/* --- figures --- */

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

static bool peak_depth(const struct clean_span *v, size_t n, double *ends, uint32_t *out)
{
	size_t n_ends = 0, done = 0, depth = 0, most = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].length > 0)
			ends[n_ends++] = v[i].start + v[i].length;
	for (size_t i = 1; i < n_ends; i++)
		if (ends[i] < ends[i - 1]) {
			if (!SORT_LONG(ends, n_ends, by_value))
				return false;
			break;
		}
	for (size_t i = 0; i < n; i++) {
		mem_step(i);
		if (!(v[i].length > 0))
			continue;
		while (done < n_ends && ends[done] <= v[i].start) {
			done++;
			depth--;
		}
		depth++;
		if (depth > most)
			most = depth;
	}
	*out = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return true;
}

bool clean_sum(const struct clean_span *v, size_t n, struct clean_lane_sum *out)
{
	double *ends;
	bool ok;

	*out = (struct clean_lane_sum){.n = n};
	if (n == 0)
		return true;
	ends = mem_resize(NULL, n, sizeof(*ends));
	if (!ends)
		return false;
	out->first = v[0].start;
	out->last = v[0].start;
	for (size_t i = 0; i < n; i++) {
		double end = v[i].start + v[i].length;

		mem_step(i);
		out->length_sum += v[i].length;
		if (end > out->last)
			out->last = end;
	}
	ok = peak_depth(v, n, ends, &out->depth_max);
	mem_free(ends);
	return ok;
}
