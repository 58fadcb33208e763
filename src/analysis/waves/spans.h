/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h: sets of time intervals, grown from many tracks, with how deep they lie on each other:
 * once (at least one interval covers it) and twice (at least two).
 *
 * Intervals may be added in any order. They wait in a short list that is folded into the two sorted
 * disjoint unions when it outgrows them. A union is held as gaps and lengths of variable size, two
 * or three bytes an interval, so memory is bounded by the time span covered, not by the number of
 * tracks. The result does not depend on the order of additions.
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

struct span_mark; /* private: where to start reading */

struct span_list { /* disjoint, not touching, sorted */
	VEC(uint8_t) bytes;
	size_t n;		 /* spans */
	uint64_t length;	 /* covered in all */
	uint64_t end;		 /* of the last span */
	struct span_mark *marks; /* after spans_index() */
	size_t n_marks;
};

struct spans {
	struct span_list once, twice;
	VEC(struct span) pending;
};

void spans_deinit(struct spans *s);
bool spans_add(struct spans *s, uint64_t start, uint64_t end);
/* Adds all of `from`, depth included; `from` is empty afterwards. */
bool spans_merge(struct spans *s, struct spans *from);
/* Folds what is pending. */
bool spans_fold(struct spans *s);
/* Folds and makes what span_cursor_at() needs; no additions afterwards. */
bool spans_index(struct spans *s);

static inline uint64_t span_list_length(const struct span_list *l)
{
	return l->length;
}

/* Reads a list from its start: span_iter_next() is false at the end. */
struct span_iter {
	const uint8_t *p, *end;
	uint64_t at; /* end of the span before */
};

struct span_iter span_iter_of(const struct span_list *l);
bool span_iter_next(struct span_iter *i, struct span *out);

/* Walks an indexed list; queries after the last one and near it are cheap. */
struct span_cursor {
	const struct span_list *list;
	/* private */
	struct span_iter iter;
	struct span now;  /* the span last read */
	uint64_t covered; /* by the spans before it */
	uint64_t floor;	  /* end of the span before it: from here on no seek is needed */
	bool is_started, is_done;
};

/* Length of the covered part of [0, x). */
uint64_t span_cursor_at(struct span_cursor *c, uint64_t x);

/* Covered part of [a, b), 0 when b <= a. */
static inline uint64_t span_cursor_between(struct span_cursor *c, uint64_t a, uint64_t b)
{
	uint64_t low;

	if (b <= a)
		return 0;
	low = span_cursor_at(c, a);
	return span_cursor_at(c, b) - low;
}
