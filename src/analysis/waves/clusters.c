/* SPDX-License-Identifier: Apache-2.0 */
/* clusters.c: waves grouped by the set of rows they executed. */
#include "analysis/waves/clusters.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

#define MAX_PROOFS 1024 /* clusters whose bit set is kept for the check; others rely on the hash */

struct proof { /* the exact set behind a hash */
	struct hash128 hash;
	uint32_t n_rows;
	uint64_t *bits;
};

struct clusters_gather {
	uint32_t *count; /* by code row: executions in the current wave */
	VEC(code_idx) touched;
	VEC(struct proof) proofs;
	struct u64_map proof_index; /* hash.lo -> index + 1 */
	uint32_t n_collisions;
};

static size_t words_of(const struct trace *t)
{
	return (size_t)t->n_code / 64 + 1;
}

static void gather_deinit(void *self, void *mine)
{
	struct clusters_gather *g = mine;

	(void)self;
	for (size_t i = 0; i < g->proofs.n; i++)
		mem_free(g->proofs.v[i].bits);
	VEC_FREE(&g->proofs);
	VEC_FREE(&g->touched);
	u64_map_deinit(&g->proof_index);
	mem_free(g->count);
}

static bool gather_init(void *self, void *mine)
{
	const struct clusters *c = self;
	struct clusters_gather *g = mine;

	g->count = mem_zalloc((size_t)c->trace->n_code + 1, sizeof(*g->count));
	return g->count != NULL;
}

struct clusters *clusters_new(const struct trace *t, struct incore_error *e)
{
	struct clusters *c = mem_zalloc(1, sizeof(*c));

	if (c) {
		arena_init(&c->arena);
		c->trace = t;
		c->gather = arena_zalloc(&c->arena, 1, sizeof(struct clusters_gather));
		c->waves = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*c->waves));
		c->of_track = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*c->of_track));
		if (c->gather && gather_init(c, c->gather) && c->waves && c->of_track)
			return c;
	}
	clusters_free(c);
	return err_nomem_null(e);
}

void clusters_free(struct clusters *c)
{
	if (!c)
		return;
	if (c->gather)
		gather_deinit(c, c->gather);
	mem_free(c->waves);
	mem_free(c->of_track);
	arena_deinit(&c->arena);
	mem_free(c);
}

/* Counts rows of the records that start in the window. */
static bool clusters_count_rows(
	struct clusters_gather *g, const struct walk_track *w, struct cluster_wave *out)
{
	const struct track_data *d = w->data;

	for (uint32_t i = 0; i < d->n; i++) {
		code_idx k = d->code[i];

		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		out->records++;
		out->latency += d->dur_cyc[i];
		out->stall += d->stall_cyc[i];
		if (k < w->trace->n_code && g->count[k]++ == 0 && !VEC_PUSH(&g->touched, k))
			return false;
	}
	return true;
}

/* Sums of hashed rows, so the order does not matter. */
static void hash_rows(const struct clusters_gather *g, struct cluster_wave *out)
{
	for (size_t i = 0; i < g->touched.n; i++) {
		uint64_t row = g->touched.v[i];
		uint64_t h = hash_mix64(row + 1);

		out->rows_hash.lo += h;
		out->rows_hash.hi += hash_mix64(h ^ 0x9e3779b97f4a7c15u);
		out->trips_hash += hash_mix64(h + g->count[row]);
	}
	out->n_rows = (uint32_t)g->touched.n;
}

static bool proof_add(struct clusters_gather *g, struct proof p, uint64_t *slot)
{
	if (!VEC_PUSH(&g->proofs, p)) {
		mem_free(p.bits);
		return false;
	}
	*slot = g->proofs.n;
	return true;
}

/* Checks that the wave's set is the one its hash stands for. */
static bool check_set(
	struct clusters_gather *g, const struct trace *t, const struct cluster_wave *me)
{
	uint64_t *slot = u64_map_at(&g->proof_index, me->rows_hash.lo);
	const struct proof *p;
	bool same;

	if (!slot)
		return false;
	if (*slot == 0) {
		struct proof made = {me->rows_hash, me->n_rows, NULL};

		if (g->proofs.n >= MAX_PROOFS)
			return true;
		made.bits = mem_zalloc(words_of(t), sizeof(*made.bits));
		if (!made.bits)
			return false;
		for (size_t i = 0; i < g->touched.n; i++)
			made.bits[g->touched.v[i] / 64] |= (uint64_t)1 << g->touched.v[i] % 64;
		return proof_add(g, made, slot);
	}
	p = &g->proofs.v[*slot - 1];
	if (p->hash.hi != me->rows_hash.hi || p->n_rows != me->n_rows)
		return true; /* its hash already differs: another cluster */
	same = true;
	for (size_t i = 0; i < g->touched.n && same; i++)
		same = p->bits[g->touched.v[i] / 64] >> g->touched.v[i] % 64 & 1;
	g->n_collisions += !same;
	return true;
}

static bool clusters_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct clusters *c = self;
	struct clusters_gather *g = mine;
	struct cluster_wave me = {.is_seen = true};
	uint64_t lo = w->data->begin_cyc > w->from_cyc ? w->data->begin_cyc : w->from_cyc;
	uint64_t hi = w->data->end_cyc < w->to_cyc ? w->data->end_cyc : w->to_cyc;
	bool ok;

	me.duration = hi > lo ? hi - lo : 0;
	ok = clusters_count_rows(g, w, &me);
	if (ok) {
		hash_rows(g, &me);
		ok = check_set(g, w->trace, &me);
		c->waves[w->idx] = me;
	}
	for (size_t i = 0; i < g->touched.n; i++)
		g->count[g->touched.v[i]] = 0;
	g->touched.n = 0;
	return ok || err_nomem(e);
}

/* Workers may have seen the same hash with different sets. */
static bool clusters_merge(void *self, void *mine, struct incore_error *e)
{
	struct clusters *c = self;
	struct clusters_gather *to = c->gather, *from = mine;

	c->n_collisions += from->n_collisions;
	EACH (struct proof, p, from->proofs.v, from->proofs.n) {
		uint64_t *slot = u64_map_at(&to->proof_index, p->hash.lo);
		const struct proof *q;

		if (!slot)
			return err_nomem(e);
		if (*slot == 0) {
			struct proof moved = *p;

			p->bits = NULL;
			if (!proof_add(to, moved, slot))
				return err_nomem(e);
			continue;
		}
		q = &to->proofs.v[*slot - 1];
		if (q->hash.hi == p->hash.hi && q->n_rows == p->n_rows &&
			memcmp(q->bits, p->bits, words_of(c->trace) * sizeof(*p->bits)) != 0)
			c->n_collisions++;
	}
	return true;
}

struct collector clusters_collector(struct clusters *c)
{
	return (struct collector){c, sizeof(struct clusters_gather), gather_init, clusters_track,
		clusters_merge, gather_deinit};
}

struct clusters_entry { /* one wave, for sorting */
	const struct cluster_wave *w;
	track_idx idx;
};

static int compare_sets(const struct cluster_wave *x, const struct cluster_wave *y)
{
	RETURN_UNLESS_EQUAL(x->n_rows, y->n_rows);
	RETURN_UNLESS_EQUAL(x->rows_hash.hi, y->rows_hash.hi);
	RETURN_UNLESS_EQUAL(x->rows_hash.lo, y->rows_hash.lo);
	return 0;
}

static int compare_by_path(const void *a, const void *b)
{
	const struct clusters_entry *x = a, *y = b;
	int d = compare_sets(x->w, y->w);

	if (d)
		return d;
	RETURN_UNLESS_EQUAL(x->w->trips_hash, y->w->trips_hash);
	return COMPARE(x->idx, y->idx);
}

ORDER(compare_by_duration, struct clusters_entry, UP(w->duration) UP(idx))

ORDER(compare_variants, struct cluster_variant, DOWN(n_waves) UP(first))

ORDER(compare_clusters, struct cluster, DOWN(latency) DOWN(n_waves) UP(first))

/* v[0..n) are the waves of one cluster, by trips then index. */
static bool make_variants(
	struct clusters *c, struct cluster *k, const struct clusters_entry *v, uint32_t n)
{
	uint32_t count = 1;

	for (uint32_t i = 1; i < n; i++)
		count += v[i].w->trips_hash != v[i - 1].w->trips_hash;
	k->variants = arena_zalloc(&c->arena, count, sizeof(*k->variants));
	if (!k->variants)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || v[i].w->trips_hash != v[i - 1].w->trips_hash)
			k->variants[k->n_variants++] =
				(struct cluster_variant){0, v[i].w->records, v[i].idx};
		k->variants[k->n_variants - 1].n_waves++;
	}
	SORT(k->variants, k->n_variants, compare_variants);
	return true;
}

static bool make_cluster(struct clusters *c, struct clusters_entry *v, uint32_t n)
{
	struct cluster *k = &c->v[c->n++];
	uint64_t best = UINT64_MAX;

	*k = (struct cluster){.n_waves = n, .n_rows = v[0].w->n_rows, .first = NO_TRACK};
	if (!make_variants(c, k, v, n))
		return false;
	SORT(v, n, compare_by_duration);
	k->min_dur = v[0].w->duration;
	k->median_dur = v[n / 2].w->duration;
	k->max_dur = v[n - 1].w->duration;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t dur = v[i].w->duration;
		uint64_t off = dur > k->median_dur ? dur - k->median_dur : k->median_dur - dur;

		k->records += v[i].w->records;
		k->latency += v[i].w->latency;
		k->stall += v[i].w->stall;
		k->duration += dur;
		if (v[i].idx < k->first)
			k->first = v[i].idx;
		if (off < best || (off == best && v[i].idx < k->representative)) {
			best = off;
			k->representative = v[i].idx;
		}
	}
	c->n_waves += n;
	c->latency += k->latency;
	c->stall += k->stall;
	return true;
}

static bool make_clusters(struct clusters *c, struct clusters_entry *v, uint32_t n)
{
	c->v = arena_zalloc(&c->arena, (size_t)n + 1, sizeof(*c->v));
	if (!c->v)
		return false;
	SORT(v, n, compare_by_path);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && compare_sets(v[i].w, v[end].w) == 0;)
			end++;
		if (!make_cluster(c, v + i, end - i))
			return false;
	}
	SORT(c->v, c->n, compare_clusters);
	return true;
}

/* Sets the cluster of each wave, through the first wave of its set. */
static bool mark_tracks(struct clusters *c, const struct clusters_entry *v, uint32_t n)
{
	struct u64_map place = {0};
	bool ok = true;

	for (uint32_t i = 0; i < c->trace->n_tracks; i++)
		c->of_track[i] = NO_CLUSTER;
	for (uint32_t i = 0; i < c->n && ok; i++) {
		uint64_t *p = u64_map_at(&place, c->v[i].first);

		ok = p != NULL;
		if (ok)
			*p = i;
	}
	for (uint32_t i = 0, end; i < n && ok; i = end) {
		track_idx first = v[i].idx;

		for (end = i; end < n && compare_sets(v[i].w, v[end].w) == 0; end++)
			if (v[end].idx < first)
				first = v[end].idx;
		for (uint32_t k = i; k < end; k++)
			c->of_track[v[k].idx] = (uint32_t)*u64_map_find(&place, first);
	}
	u64_map_deinit(&place);
	return ok;
}

bool clusters_finish(struct clusters *c, struct incore_error *e)
{
	struct clusters_entry *v = mem_zalloc((size_t)c->trace->n_tracks + 1, sizeof(*v));
	uint32_t n = 0;
	bool ok;

	if (!v)
		return err_nomem(e);
	for (uint32_t i = 0; i < c->trace->n_tracks; i++)
		if (c->waves[i].is_seen)
			v[n++] = (struct clusters_entry){&c->waves[i], i};
	ok = make_clusters(c, v, n) && mark_tracks(c, v, n);
	mem_free(v);
	return ok || err_nomem(e);
}
