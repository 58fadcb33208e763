/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h: statistics of what lies in a box of tracks and time, by key. A piece counts with the
 * cycles it has inside the box; its whole length is what the distribution is of. `sum` counts each
 * track, `union` each cycle once. Owner: box_deinit(). May fail: memory. Needs no C library.
 */
#ifndef SERVE_BOX_H
#define SERVE_BOX_H

#include "base/arena.h"
#include "base/vec.h"

#define BOX_MAX_PIECES (4u << 20) /* more: no union, no quantiles */

struct box_stat {
	uint32_t key;
	uint64_t count, sum, union_cyc;
	uint64_t length_sum; /* of whole pieces */
	uint32_t min, median, p95, max;
	uint64_t stall, wait;
};

struct box_piece {
	uint32_t key;
	uint32_t start, end; /* inside the box, from t0 */
	uint32_t length;     /* whole */
};

struct box {
	uint64_t t0, t1;
	uint32_t n_keys;
	struct box_stat *stats; /* by key until box_finish(), then by falling sum */
	struct box_stat total;
	uint32_t n_stats; /* after box_finish(): those with a count */
	bool is_summary;  /* too many pieces: union, median and p95 are not known */
	bool has_failed;
	VEC(struct box_piece) pieces;
};

bool box_init(struct box *b, uint64_t t0, uint64_t t1, uint32_t n_keys);
/* One piece [start, end) of the screen that touches the box; stall and wait: cycles of it inside.
 */
void box_add(struct box *b, uint32_t key, uint64_t start, uint64_t end, uint32_t length);
void box_add_lost(struct box *b, uint32_t key, uint64_t stall, uint64_t wait);
bool box_finish(struct box *b);
void box_deinit(struct box *b);

#endif
