/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_walk.h: what lies on lanes, window after window of time, into a box. Either slices, by a
 * key of each, or the pieces of slices and what is between them, by cause.
 *
 * Owner: select_walk_deinit(). May fail: memory. Runs in a browser too.
 */
#pragma once

#include "serve/view/box.h"
#include "serve/view/view.h"

enum select_by { BY_CLASS, BY_ROW, BY_LINE, BY_CAUSE };

struct lane_walk { /* what of a lane comes next */
	uint32_t lane, i;
	uint32_t cover, part; /* of causes: end of what was before i; which of its pieces */
};

struct select_walk {
	const struct view *v;
	const struct columns *columns;
	struct box *box;
	bool has_pieces; /* BY_CAUSE: the slices of `columns` are pieces, their keys causes */
	enum select_by by;
	const uint32_t *line_of;	 /* BY_LINE: key by code row, n_code + 1 */
	const struct lane_split *causes; /* by lane of `columns`; NULL: not asked for */
	struct lane_walk *now, *saved;
	uint32_t n;	 /* lanes */
	uint64_t n_left; /* pieces, roughly */
};

/* The lanes of these tracks; fields above `now` are the caller's. */
bool select_walk_init(struct select_walk *w, const struct query_ranges *tracks);
void select_walk_deinit(struct select_walk *w);
/* All of it into the box, quantiles included; then box_finish(). False: no memory. */
bool select_walk_run(struct select_walk *w);
