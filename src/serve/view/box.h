/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h: statistics of what lies in a box of tracks and time, by key. A piece counts with the
 * cycles it has inside the box; its whole length is what the distribution is of. `sum` counts each
 * track, `union` each cycle once.
 *
 * All figures are exact, and memory does not grow with the pieces: they come in windows of time, one
 * after the other, each swept in order of start; lengths are counted, not kept (lengths.h). At most
 * 3 MB for a window, 4 MB and 36 MB (seldom more than a few KB) for lengths, 200 bytes a key.
 *
 *	box_window(), box_add() ..., box_flush(), and so on in order of time; box_finish()
 *
 * Owner: box_deinit(). May fail: memory. Runs in a browser too.
 */
#pragma once

#include "serve/view/lengths.h"

#define BOX_WINDOW_PIECES (64u << 10)
#define BOX_WINDOW_CYC (UINT32_C(1) << 30) /* a window is no longer */

struct box_stat {
	uint32_t key;
	uint64_t count, sum, union_cyc;
	uint64_t length_sum; /* of whole pieces */
	uint32_t min, median, p95, max;
	uint64_t stall, wait;
	uint64_t cover; /* private: where the last piece ended */
};

struct box_piece {
	uint32_t key;
	uint32_t start;	 /* from the window's begin */
	uint32_t inside; /* cycles in the box, from there on */
	uint32_t length; /* whole */
	uint32_t lost;	 /* of the cycles inside: stalled or waited */
	uint8_t is_wait;
	uint8_t family; /* the cause of what was lost */
};

struct box_span { /* a piece on its way through the sort */
	uint32_t start, inside, key;
};

struct box {
	uint64_t t0, t1;
	uint32_t n_keys, n_families;
	struct box_stat *stats; /* by key until box_finish(), then by falling sum */
	uint64_t *families;	/* n_families of each key: what was lost; NULL: not asked for */
	struct box_stat total;
	uint32_t n_stats; /* after box_finish(): those with a count */
	bool has_quantiles;
	struct lengths lengths, all_lengths;
	uint64_t from, to;	       /* the window */
	uint32_t n_pieces, max_pieces; /* at most BOX_WINDOW_PIECES */
	struct box_piece *pieces;
	struct box_span *spans, *sorted;
	uint32_t *digits;
};

/* n_families: 0 where causes are not asked for. */
bool box_init(struct box *b, uint64_t t0, uint64_t t1, uint32_t n_keys, uint32_t n_families);
void box_deinit(struct box *b);

/* Begins the window [from, to), at most BOX_WINDOW_CYC long; forgets what was added since the last
 * box_flush(). */
void box_window(struct box *b, uint64_t from, uint64_t to);
/* One piece [start, start + inside) of the screen that begins in the window and lies in the box;
 * p->start is set here. False: the window is full. Make it shorter, or flush where it is one cycle.
 */
static inline bool box_add(struct box *b, uint64_t start, struct box_piece p)
{
	if (b->n_pieces == b->max_pieces)
		return false;
	p.start = (uint32_t)(start - b->from);
	b->pieces[b->n_pieces++] = p;
	return true;
}
void box_flush(struct box *b);
/* Counts the lengths of the window once more, nothing else: for quantiles that did not fit. */
void box_flush_lengths(struct box *b);

/* Quantiles of the keys that b->lengths counts; false: no memory. */
bool box_take_quantiles(struct box *b);
/* Sorts the keys; sets has_quantiles unless lengths did not fit. False: no memory. */
bool box_finish(struct box *b);
