/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lengths.h: distribution of lengths by key. Counts each length, so that quantiles are exact for
 * any number of them: short lengths in a table of at most LENGTHS_BINS counts over all keys, others
 * in a hash map of at most max_far. If that is not enough (has_spilled), count again for a part of
 * the keys at a time: keys with key % n_parts == part are counted, others skipped.
 *
 * Owner: lengths_deinit(). May fail: memory (has_failed). Also runs in a browser.
 */
#pragma once

#include "base/map.h"

#define LENGTHS_BINS (1u << 20)	     /* 4 MB */
#define LENGTHS_MAX_FAR (512u << 10) /* 34 bytes each, twice that while the map grows */

struct box_lengths {
	uint32_t n_keys, n_bins; /* n_bins: per key */
	uint32_t max_far, n_parts, part;
	uint32_t *bins;
	struct u64_map far; /* key << 32 | length -> count */
	bool has_spilled, has_failed;
};

bool lengths_init(struct box_lengths *x, uint32_t n_keys);
void lengths_deinit(struct box_lengths *x);
/* Clears all counts; from now on counts only that part of the keys. */
void lengths_restart(struct box_lengths *x, uint32_t part, uint32_t n_parts);

void lengths_add_far(struct box_lengths *x, uint32_t key, uint32_t length);
static inline void lengths_add(struct box_lengths *x, uint32_t key, uint32_t length)
{
	if (length < x->n_bins)
		x->bins[(size_t)key * x->n_bins + length]++;
	else
		lengths_add_far(x, key, length);
}

struct quantiles { /* of n sorted lengths: at n / 2 and at 95 n / 100 */
	uint32_t median, p95;
};
typedef void (*lengths_fn)(void *ctx, uint32_t key, struct quantiles q);
/* Calls fn for each counted key that has lengths. Not allowed after has_spilled. */
bool lengths_quantiles(const struct box_lengths *x, lengths_fn fn, void *ctx);
