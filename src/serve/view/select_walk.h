/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_walk.h: adds the contents of lanes to a box, one window of time after the other: either
 * slices, by a key of each, or the pieces of slices and the gaps between them, by cause.
 *
 * Owner: select_walk_deinit(). May fail: memory. Also runs in a browser.
 */
#pragma once

#include "serve/view/box.h"
#include "serve/view/view.h"

enum select_by { BY_CLASS, BY_ROW, BY_LINE, BY_CAUSE };

struct lane_walk { /* position in a lane */
	uint32_t lane, i;
	uint32_t cover, part; /* for causes: end of the slices before i; next piece of slice i */
};

struct select_walk {
	const struct view *v;
	const struct columns *columns;
	struct box *box;
	bool has_pieces; /* BY_CAUSE: the slices of `columns` are pieces, their keys causes */
	enum select_by by;
	const uint32_t *line_of;	 /* BY_LINE: key by code row, n_code + 1 */
	const struct lane_split *causes; /* by lane of `columns`; NULL: not requested */
	struct lane_walk *now, *saved;
	uint32_t n;	 /* lanes */
	uint64_t n_left; /* approximate number of pieces */
};

/* Takes the lanes of these tracks; the caller sets the fields above `now`. */
bool select_walk_init(struct select_walk *w, const struct query_ranges *tracks);
void select_walk_deinit(struct select_walk *w);
/* Adds everything to the box, including quantiles; call box_finish() next. False: no memory. */
bool select_walk_run(struct select_walk *w);
