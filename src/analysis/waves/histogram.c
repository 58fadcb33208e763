/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.c: counts values exactly and takes quantiles from the sorted counts. */
#include "analysis/waves/histogram.h"
#include "base/search.h"

#include "base/mem.h"

#define VALUE_BITS 40

struct keyed {
	uint64_t key, count;
};

ORDER(by_key, struct keyed, UP(key))

bool histograms_add(struct histograms *h, uint32_t series, uint64_t value, uint64_t count)
{
	uint64_t *slot;

	if (series >= HISTOGRAM_MAX_SERIES)
		return true;
	if (value > HISTOGRAM_MAX_VALUE)
		value = HISTOGRAM_MAX_VALUE;
	slot = u64_map_at(&h->counts, (uint64_t)series << VALUE_BITS | value);
	if (!slot)
		return false;
	*slot += count;
	return true;
}

static void histogram_fill(struct histograms *h, const struct keyed *k, size_t n)
{
	size_t i = 0;

	for (uint32_t s = 0; s < h->n_series; s++) {
		h->first[s] = (uint32_t)i;
		for (; i < n && k[i].key >> VALUE_BITS == s; i++)
			h->entries[i] = (struct histogram_entry){
				k[i].key & HISTOGRAM_MAX_VALUE, k[i].count};
	}
	h->first[h->n_series] = (uint32_t)i;
}

bool histograms_seal(struct histograms *h, uint32_t n_series, struct incore_error *e)
{
	size_t n = h->counts.n, pos = 0, i = 0;
	struct keyed *k = mem_zalloc(n + 1, sizeof(*k));

	h->entries = mem_zalloc(n + 1, sizeof(*h->entries));
	h->first = mem_zalloc((size_t)n_series + 1, sizeof(*h->first));
	if (!k || !h->entries || !h->first) {
		mem_free(k);
		return err_nomem(e);
	}
	h->n_series = n_series;
	while (i < n && u64_map_next(&h->counts, &pos, &k[i].key, &k[i].count))
		i++;
	SORT(k, i, by_key);
	histogram_fill(h, k, i);
	mem_free(k);
	u64_map_deinit(&h->counts);
	h->counts = (struct u64_map){0};
	return true;
}

static uint64_t histogram_value_at(const struct histogram_entry *v, uint32_t n, uint64_t rank)
{
	for (uint32_t i = 0; i < n; i++) {
		if (rank < v[i].count)
			return v[i].value;
		rank -= v[i].count;
	}
	return n ? v[n - 1].value : 0;
}

struct distribution histograms_get(const struct histograms *h, uint32_t series)
{
	struct distribution d = {0};
	const struct histogram_entry *v;
	uint32_t n;

	if (!h->first || series >= h->n_series)
		return d;
	v = h->entries + h->first[series];
	n = h->first[series + 1] - h->first[series];
	if (n == 0)
		return d;
	for (uint32_t i = 0; i < n; i++)
		d.n += v[i].count;
	d.min = v[0].value;
	d.max = v[n - 1].value;
	d.median = histogram_value_at(v, n, d.n / 2);
	d.p95 = histogram_value_at(v, n, d.n / 100 * 95 + d.n % 100 * 95 / 100);
	d.p99 = histogram_value_at(v, n, d.n / 100 * 99 + d.n % 100 * 99 / 100);
	return d;
}

void histograms_deinit(struct histograms *h)
{
	u64_map_deinit(&h->counts);
	mem_free(h->entries);
	mem_free(h->first);
	*h = (struct histograms){0};
}
