/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h: statistics of pieces in a box of tracks and time, by key. A piece counts with its cycles
 * inside the box; the distribution is of whole lengths. `sum` counts each track, `union` each cycle
 * once.
 *
 * All figures are exact, and memory does not grow with the pieces: they are added in consecutive
 * windows of time, each swept in order of start; lengths are counted, not stored (lengths.h). At
 * most 3 MB for a window, 4 MB and 36 MB (rarely more than a few KB) for lengths, 200 bytes a key.
 *
 *	box_window(), box_add() ..., box_flush(), and so on in order of time; box_finish()
 *
 * Owner: box_deinit(). May fail: memory. Also runs in a browser.
 */
#pragma once

#include "serve/view/lengths.h"

#define BOX_WINDOW_PIECES (64u << 10)
#define BOX_WINDOW_CYC (UINT32_C(1) << 30) /* longest window */

struct box_stat {
	uint32_t key;
	uint64_t count, sum, union_cyc;
	uint64_t length_sum; /* of whole pieces */
	uint32_t min, median, p95, max;
	uint64_t stall, wait;
	uint64_t cover; /* private: end of the cycles covered so far */
};

struct box_piece {
	uint32_t key;
	uint32_t start;	 /* from the window's begin */
	uint32_t inside; /* cycles in the box, from `start` on */
	uint32_t length; /* of the whole piece */
	uint32_t lost;	 /* part of the cycles inside: stalled or waited */
	uint8_t is_wait;
	uint8_t family; /* cause of the lost cycles */
};

struct box_span { /* a piece as it is sorted */
	uint32_t start, inside, key;
};

struct box {
	uint64_t t0, t1;
	uint32_t n_keys, n_families;
	struct box_stat *stats; /* by key until box_finish(), then by descending sum */
	uint64_t *families;	/* n_families per key: lost cycles; NULL: not requested */
	struct box_stat total;
	uint32_t n_stats; /* after box_finish(): those with a count */
	bool has_quantiles;
	struct box_lengths lengths, all_lengths;
	uint64_t from, to;	       /* the window */
	uint32_t n_pieces, max_pieces; /* at most BOX_WINDOW_PIECES */
	struct box_piece *pieces;
	struct box_span *spans, *sorted;
	uint32_t *digits;
};

/* n_families: 0 if causes are not requested. */
bool box_init(struct box *b, uint64_t t0, uint64_t t1, uint32_t n_keys, uint32_t n_families);
void box_deinit(struct box *b);

/* Begins the window [from, to), at most BOX_WINDOW_CYC long; discards pieces added since the last
 * box_flush(). */
void box_window(struct box *b, uint64_t from, uint64_t to);
/* Adds a piece [start, start + inside), in the screen's time, that begins in the window and lies
 * in the box; sets p.start. False: the window is full: make it shorter, or flush if it is one
 * cycle. */
static inline bool box_add(struct box *b, uint64_t start, struct box_piece p)
{
	if (b->n_pieces == b->max_pieces)
		return false;
	p.start = (uint32_t)(start - b->from);
	b->pieces[b->n_pieces++] = p;
	return true;
}
void box_flush(struct box *b);

/* Sorts the keys; sets has_quantiles unless lengths did not fit. False: no memory. */
bool box_finish(struct box *b);
