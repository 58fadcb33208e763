/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h: sets of time intervals collected from many tracks, at two depths: once (covered by at
 * least one interval) and twice (by at least two).
 *
 * Intervals may be added in any order; the result does not depend on it. Short intervals that lie
 * close together are painted into a window of one bit per cycle, which needs no sorting and no
 * branches. All others wait in a short list that is folded into sorted disjoint lists when it
 * outgrows them. The window never takes more than 128 cycles per interval added, so a set takes at
 * most 16 bytes per interval and depth, however far apart the intervals lie.
 *
 * Owner: the holder; zero it first, spans_deinit() frees. May fail: additions, on memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct span {
	uint64_t start, end; /* [start, end) */
};

/* One depth. After spans_fold() either the window or the list holds everything. */
struct span_list {
	uint64_t first;	    /* cycle of the first bit, a multiple of 64 */
	uint64_t n_cyc;	    /* cycles of the window; one extra word follows it */
	uint64_t *words;    /* NULL: no window */
	uint32_t *before;   /* by word: bits before it; after spans_index() */
	VEC(struct span) v; /* disjoint, not touching, sorted */
	uint64_t *lengths;  /* by span: covered before it; after spans_index() */
};

struct spans {
	struct span_list once, twice;
	VEC(struct span) pending;
	uint64_t n_added;
	bool is_flat; /* set by the holder before the first addition: `twice` is not needed */
};

void spans_deinit(struct spans *s);
/* Adds all of `from`, depth included; `from` is empty afterwards. Either both are flat or neither
 * is. */
bool spans_merge(struct spans *s, struct spans *from);
/* Merges all that was added into `once` and `twice`. */
bool spans_fold(struct spans *s);
/* Folds and builds the index for cursors; no additions afterwards. */
bool spans_index(struct spans *s);
/* Cycles covered in all, of a folded set. */
uint64_t span_list_length(const struct span_list *l);

/* Private: paints [at, at + n) of the window, n from 1 to 64. */
static inline void spans_paint(struct spans *s, uint64_t at, uint64_t n)
{
	const uint64_t mask = UINT64_MAX >> (64 - n), k = at / 64;
	const uint64_t low = mask << at % 64, high = mask >> 1 >> (63 - at % 64);
	uint64_t *once = s->once.words, *twice = s->twice.words;

	if (!s->is_flat) {
		twice[k] |= once[k] & low;
		twice[k + 1] |= once[k + 1] & high;
	}
	once[k] |= low;
	once[k + 1] |= high;
}

/* Private: slow path of spans_add() for intervals that do not fit the current window. */
bool spans_add_slowly(struct spans *s, uint64_t start, uint64_t end);

static inline bool spans_add(struct spans *s, uint64_t start, uint64_t end)
{
	uint64_t at = start - s->once.first;

	if (end <= start)
		return true;
	s->n_added++;
	if (at >= s->once.n_cyc || end - start > 64)
		return spans_add_slowly(s, start, end);
	spans_paint(s, at, end - start);
	return true;
}

/* Queries an indexed list; if it has no window, queries near the last one are cheap. */
struct span_cursor {
	const struct span_list *list;
	size_t near; /* private: a span of the list */
};

/* Length of the covered part of [0, x). */
uint64_t span_cursor_at(struct span_cursor *c, uint64_t x);

static inline uint32_t span_bits(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(word * 0x0101010101010101u >> 56);
}

/* Covered part of [a, b), 0 when b <= a. */
static inline uint64_t span_cursor_between(struct span_cursor *c, uint64_t a, uint64_t b)
{
	const struct span_list *l = c->list;
	uint64_t at = a - l->first, n = b - a, low;

	if (b <= a)
		return 0;
	if (at < l->n_cyc && at % 64 + n <= 64)
		return span_bits(l->words[at / 64] >> at % 64 & UINT64_MAX >> (64 - n));
	low = span_cursor_at(c, a);
	return span_cursor_at(c, b) - low;
}
