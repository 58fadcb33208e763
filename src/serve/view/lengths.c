/* SPDX-License-Identifier: Apache-2.0 */
/* lengths.c: counts of lengths by key; quantiles by walking through the counts. */
#include "serve/view/lengths.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_BINS_A_KEY 4096u

bool lengths_init(struct box_lengths *x, uint32_t n_keys)
{
	uint32_t bins = LENGTHS_BINS / (n_keys ? n_keys : 1);

	*x = (struct box_lengths){.n_keys = n_keys, .max_far = LENGTHS_MAX_FAR, .n_parts = 1};
	x->n_bins = bins < MAX_BINS_A_KEY ? bins : MAX_BINS_A_KEY;
	x->bins = mem_zalloc((size_t)n_keys * x->n_bins + 1, sizeof(*x->bins));
	return x->bins != NULL;
}

void lengths_deinit(struct box_lengths *x)
{
	mem_free(x->bins);
	u64_map_deinit(&x->far);
	*x = (struct box_lengths){0};
}

void lengths_restart(struct box_lengths *x, uint32_t part, uint32_t n_parts)
{
	memset(x->bins, 0, (size_t)x->n_keys * x->n_bins * sizeof(*x->bins));
	u64_map_deinit(&x->far);
	x->far = (struct u64_map){0};
	x->part = part;
	x->n_parts = n_parts;
	x->has_spilled = false;
}

void lengths_add_far(struct box_lengths *x, uint32_t key, uint32_t length)
{
	uint64_t id = (uint64_t)key << 32 | length, *count;

	if (key % x->n_parts != x->part || x->has_spilled)
		return;
	count = u64_map_find(&x->far, id);
	if (!count && x->far.n >= x->max_far) {
		x->has_spilled = true;
		return;
	}
	if (!count)
		count = u64_map_at(&x->far, id);
	if (count)
		++*count;
	else
		x->has_failed = true;
}

struct far {
	uint64_t id, count;
};

ORDER(by_id, struct far, UP(id))

/* The length at `rank` in sorted order, for a key with the far lengths v. */
static uint32_t at_rank(const uint32_t *bins, uint32_t n_bins, const struct far *v, uint64_t rank)
{
	for (uint32_t i = 0; i < n_bins; i++) {
		if (rank < bins[i])
			return i;
		rank -= bins[i];
	}
	while (rank >= v->count)
		rank -= v++->count;
	return (uint32_t)v->id;
}

static void quantiles_of(const struct box_lengths *x, uint32_t key, const struct far *v, size_t n,
	struct quantiles *q, uint64_t *total)
{
	const uint32_t *bins = x->bins + (size_t)key * x->n_bins;

	*total = 0;
	for (uint32_t i = 0; i < x->n_bins; i++)
		*total += bins[i];
	for (size_t i = 0; i < n; i++)
		*total += v[i].count;
	if (*total) {
		q->median = at_rank(bins, x->n_bins, v, *total / 2);
		q->p95 = at_rank(bins, x->n_bins, v, *total * 95 / 100);
	}
}

bool lengths_quantiles(const struct box_lengths *x, lengths_fn fn, void *ctx)
{
	struct far *v = mem_alloc((x->far.n + 1) * sizeof(*v));
	size_t n = 0, pos = 0, from = 0;

	if (!v)
		return false;
	while (u64_map_next(&x->far, &pos, &v[n].id, &v[n].count))
		n++;
	qsort(v, n, sizeof(struct far), by_id);
	for (uint32_t key = x->part; key < x->n_keys; key += x->n_parts) {
		struct quantiles q = {0};
		uint64_t total;
		size_t to = from;

		while (to < n && v[to].id >> 32 == key)
			to++;
		quantiles_of(x, key, v + from, to - from, &q, &total);
		if (total)
			fn(ctx, key, q);
		from = to;
	}
	mem_free(v);
	return true;
}
