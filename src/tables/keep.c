/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c: cache of tracks between scans, each as one block without the loader's own data. */
#include <string.h>

#include "base/mem.h"
#include "tables/source.h"

struct table_keep {
	uint64_t bytes, most_bytes;
	uint32_t n_tracks;
	struct track_data *v; /* by track; start_cyc NULL: not cached */
};

struct table_keep *table_keep_new(const struct trace *t, uint64_t most_bytes)
{
	struct table_keep *k = mem_zalloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->v = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*k->v));
	if (!k->v) {
		mem_free(k);
		return NULL;
	}
	k->n_tracks = t->n_tracks;
	k->most_bytes = most_bytes;
	return k;
}

void table_keep_free(struct table_keep *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->n_tracks; i++)
		mem_free(k->v[i].start_cyc);
	mem_free(k->v);
	mem_free(k);
}

const struct track_data *table_keep_get(const struct table_keep *k, track_idx i)
{
	return k && k->v[i].start_cyc ? &k->v[i] : NULL;
}

/* Copies a column to the end of the block. */
static void *keep_put_column(char **at, const void *from, size_t bytes)
{
	void *to = *at;

	if (bytes)
		memcpy(to, from, bytes);
	*at += bytes;
	return to;
}

void table_keep_put(struct table_keep *k, track_idx i, const struct track_data *d)
{
	const size_t bytes = (size_t)d->n * (8 + 3 * 4 + 2) + 8;
	struct track_data x = {.n = d->n, .begin_cyc = d->begin_cyc, .end_cyc = d->end_cyc};
	char *at;

	if (!k || k->v[i].start_cyc || k->bytes + bytes > k->most_bytes)
		return;
	at = mem_alloc(bytes);
	if (!at)
		return; /* not cached: it will be read again */
	k->bytes += bytes;
	x.start_cyc = keep_put_column(&at, d->start_cyc, (size_t)d->n * 8);
	x.dur_cyc = keep_put_column(&at, d->dur_cyc, (size_t)d->n * 4);
	x.stall_cyc = keep_put_column(&at, d->stall_cyc, (size_t)d->n * 4);
	x.code = keep_put_column(&at, d->code, (size_t)d->n * 4);
	x.inst_class = keep_put_column(&at, d->inst_class, d->n);
	x.tag = keep_put_column(&at, d->tag, d->n);
	k->v[i] = x;
}
