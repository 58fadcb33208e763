/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_dictionary.c: indices of distinct values. */
#include "codec/parquet/parquet_dictionary.h"

#include <string.h>

#include "base/mem.h"

#define DIRECT 65536u /* smaller numbers are found without a hash */
#define SLOTS 65536u  /* at most half of them are used */

bool parquet_dictionary_init(struct parquet_dictionary *d)
{
	d->entry = mem_alloc(DICTIONARY_MAX * sizeof(*d->entry));
	d->direct = mem_zalloc(DIRECT, sizeof(*d->direct));
	d->slot = mem_zalloc(SLOTS, sizeof(*d->slot));
	return d->entry && d->direct && d->slot;
}

void parquet_dictionary_deinit(struct parquet_dictionary *d)
{
	mem_free(d->entry);
	mem_free(d->direct);
	mem_free(d->slot);
}

static uint32_t slot_of(const struct parquet_dictionary *d, uint64_t v)
{
	uint32_t at = (uint32_t)(v * 0x9e3779b97f4a7c15u >> 48);

	while (d->slot[at] && d->entry[d->slot[at] - 1] != v)
		at = (at + 1) % SLOTS;
	return at;
}

void parquet_dictionary_clear(struct parquet_dictionary *d)
{
	bool has_slots = false;

	for (uint32_t i = 0; i < d->n; i++) {
		if (d->entry[i] < DIRECT)
			d->direct[d->entry[i]] = 0;
		else
			has_slots = true;
	}
	if (has_slots)
		memset(d->slot, 0, SLOTS * sizeof(*d->slot));
	d->n = 0;
}

/* Finds or adds a value and returns its index + 1; 0: the dictionary is full. */
static uint16_t place_of(struct parquet_dictionary *d, uint64_t v)
{
	uint16_t *at = v < DIRECT ? &d->direct[v] : &d->slot[slot_of(d, v)];

	if (!*at && d->n < DICTIONARY_MAX) {
		d->entry[d->n] = v;
		*at = (uint16_t)++d->n;
	}
	return *at;
}

bool parquet_dictionary_find(
	struct parquet_dictionary *d, const uint64_t *v, uint32_t n, uint16_t *out)
{
	const uint16_t *direct = d->direct;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t at = v[i] < DIRECT ? direct[v[i]] : 0;

		if (!at)
			at = place_of(d, v[i]);
		if (!at)
			return false;
		out[i] = at - 1;
	}
	return true;
}
