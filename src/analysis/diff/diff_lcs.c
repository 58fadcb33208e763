/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_lcs.c: aligns two lists of keys. Equal ends are cut off; small rests are solved exactly;
 * large ones are split at the longest increasing sequence of runs of keys that occur once in each
 * list, and solved piece by piece. Memory is linear, time about linear in the number of elements.
 */
#include <stdlib.h>

#include "analysis/diff/diff.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

#define EXACT_CELLS (1u << 20) /* largest rest solved exactly */
#define LOOK_AHEAD 64u	       /* distance searched by solve_greedy() */

struct piece {
	uint32_t a0, a1, b0, b1;
};

struct anchor {
	uint32_t a, b;
};

struct lcs {
	const uint32_t *a, *b;
	uint32_t *match;
	uint16_t *cells; /* EXACT_CELLS lengths */
	VEC(struct piece) todo;
	VEC(struct anchor) anchors;
	VEC(uint32_t) tails, back; /* longest increasing sequence */
};

static void trim(struct lcs *l, struct piece *p)
{
	while (p->a0 < p->a1 && p->b0 < p->b1 && l->a[p->a0] == l->b[p->b0])
		l->match[p->a0++] = p->b0++;
	while (p->a0 < p->a1 && p->b0 < p->b1 && l->a[p->a1 - 1] == l->b[p->b1 - 1])
		l->match[--p->a1] = --p->b1;
}

/* cells[i * w + j]: length of the best match of a[i..), b[j..). */
static void solve_exact(struct lcs *l, const struct piece *p)
{
	uint32_t n = p->a1 - p->a0, m = p->b1 - p->b0, w = m + 1, i, j;
	uint16_t *c = l->cells;

	for (j = 0; j <= m; j++)
		c[n * w + j] = 0;
	for (i = n; i-- > 0;) {
		c[i * w + m] = 0;
		for (j = m; j-- > 0;) {
			uint16_t down = c[(i + 1) * w + j], right = c[i * w + j + 1];

			c[i * w + j] = l->a[p->a0 + i] == l->b[p->b0 + j]
					       ? (uint16_t)(c[(i + 1) * w + j + 1] + 1)
				       : down > right ? down
						      : right;
		}
	}
	for (i = 0, j = 0; i < n && j < m;) {
		if (l->a[p->a0 + i] == l->b[p->b0 + j]) {
			l->match[p->a0 + i++] = p->b0 + j++;
		} else if (c[(i + 1) * w + j] >= c[i * w + j + 1]) {
			i++;
		} else {
			j++;
		}
	}
}

/* Last resort without unique keys: takes the next equal key a short way ahead. */
static void solve_greedy(struct lcs *l, const struct piece *p)
{
	uint32_t j = p->b0;

	for (uint32_t i = p->a0; i < p->a1; i++)
		for (uint32_t k = j; k < p->b1 && k < j + LOOK_AHEAD; k++)
			if (l->a[i] == l->b[k]) {
				l->match[i] = k;
				j = k + 1;
				break;
			}
}

static uint64_t run_hash(const uint32_t *v, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = hash_mix64(h ^ v[i]) + 0x9e3779b97f4a7c15u * (i + 1);
	return h;
}

#define ONCE 1u
#define TWICE 2u

/* Value: count in a (bits 0-1), count in b (bits 2-3), index in b (from bit 32). */
static bool count_runs(struct lcs *l, const struct piece *p, uint32_t n, struct u64_map *m)
{
	for (uint32_t i = p->a0; i + n <= p->a1; i++) {
		uint64_t *at = u64_map_at(m, run_hash(&l->a[i], n));

		if (!at)
			return false;
		*at = (*at & 3) ? TWICE : ONCE;
	}
	for (uint32_t i = p->b0; i + n <= p->b1; i++) {
		uint64_t *at = u64_map_find(m, run_hash(&l->b[i], n));

		if (at)
			*at = (*at & 3) | ((*at & 12) ? TWICE : ONCE) << 2 | (uint64_t)i << 32;
	}
	return true;
}

static bool find_anchors(struct lcs *l, const struct piece *p, uint32_t n)
{
	struct u64_map m = {0};
	bool ok = count_runs(l, p, n, &m);

	l->anchors.n = 0;
	for (uint32_t i = p->a0; ok && i + n <= p->a1; i++) {
		const uint64_t *at = u64_map_find(&m, run_hash(&l->a[i], n));
		uint32_t k = at ? (uint32_t)(*at >> 32) : 0;

		if (at && (*at & 15) == (ONCE | ONCE << 2) && l->a[i] == l->b[k])
			ok = VEC_PUSH(&l->anchors, (struct anchor){i, k});
	}
	u64_map_deinit(&m);
	return ok;
}

/* Keeps the longest sequence of anchors that rises in b (they rise in a already). */
static bool keep_rising(struct lcs *l)
{
	size_t n = l->anchors.n, len = 0;
	uint32_t at;

	if (!VEC_RESERVE(&l->tails, n + 1) || !VEC_RESERVE(&l->back, n + 1))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		size_t lo = 0, hi = len;

		BISECT(lo, hi, k, l->anchors.v[l->tails.v[k]].b < l->anchors.v[i].b);
		l->back.v[i] = lo ? l->tails.v[lo - 1] : UINT32_MAX;
		l->tails.v[lo] = i;
		len = lo == len ? len + 1 : len;
	}
	at = len ? l->tails.v[len - 1] : UINT32_MAX;
	for (size_t i = len; i-- > 0; at = l->back.v[at])
		l->tails.v[i] = at;
	for (size_t i = 0; i < len; i++)
		l->anchors.v[i] = l->anchors.v[l->tails.v[i]];
	l->anchors.n = len;
	return true;
}

static bool split(struct lcs *l, const struct piece *p)
{
	struct piece rest = *p;

	for (size_t i = 0; i < l->anchors.n; i++) {
		struct anchor x = l->anchors.v[i];

		l->match[x.a] = x.b;
		if (x.a > rest.a0 && x.b > rest.b0 &&
			!VEC_PUSH(&l->todo, (struct piece){rest.a0, x.a, rest.b0, x.b}))
			return false;
		rest.a0 = x.a + 1;
		rest.b0 = x.b + 1;
	}
	return rest.a0 >= rest.a1 || rest.b0 >= rest.b1 || VEC_PUSH(&l->todo, rest);
}

static bool solve(struct lcs *l, struct piece p)
{
	static const uint32_t lengths[] = {8, 4, 2, 1};
	uint64_t cells;

	trim(l, &p);
	if (p.a0 == p.a1 || p.b0 == p.b1)
		return true;
	cells = (uint64_t)(p.a1 - p.a0 + 1) * (p.b1 - p.b0 + 1);
	if (cells <= EXACT_CELLS && p.a1 - p.a0 < UINT16_MAX && p.b1 - p.b0 < UINT16_MAX) {
		solve_exact(l, &p);
		return true;
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		if (!find_anchors(l, &p, lengths[i]))
			return false;
		if (l->anchors.n)
			return keep_rising(l) && split(l, &p);
	}
	solve_greedy(l, &p);
	return true;
}

bool diff_lcs(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t *match,
	struct incore_error *e)
{
	struct lcs l = {.a = a, .b = b, .match = match};
	bool ok;

	for (uint32_t i = 0; i < n_a; i++)
		match[i] = UINT32_MAX;
	l.cells = mem_alloc(EXACT_CELLS * sizeof(*l.cells));
	ok = l.cells && VEC_PUSH(&l.todo, (struct piece){0, n_a, 0, n_b});
	while (ok && l.todo.n)
		ok = solve(&l, l.todo.v[--l.todo.n]);
	mem_free(l.cells);
	VEC_FREE(&l.todo);
	VEC_FREE(&l.anchors);
	VEC_FREE(&l.tails);
	VEC_FREE(&l.back);
	return ok || err_nomem(e);
}
