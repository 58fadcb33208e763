/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa_gutter.h: arrows beside a listing. Each arrow takes a lane (a column) between two lines.
 * Arrows that find no free lane are not drawn: the text beside the row names their ends anyway.
 * Owner: the caller; gutter_deinit().
 */
#pragma once

#include "base/str.h"

struct gutter {
	unsigned n_lanes;
	uint32_t n_lines;
	uint8_t *cells; /* lines x (lanes + 1): bits for the sides that a stroke goes to */
};

bool gutter_init(struct gutter *g, uint32_t n_lines, unsigned n_lanes, struct incore_error *e);
void gutter_deinit(struct gutter *g);
/* Adds an arrow from one line to another, its head at `to`; false: no lane is free. */
bool gutter_arrow(struct gutter *g, uint32_t from, uint32_t to);
/* Appends the lanes of a line, n_lanes + 1 characters wide. */
void gutter_put(const struct gutter *g, uint32_t line, bool is_ascii, struct strbuf *out);
/* Appends the lanes of a heading between `line` - 1 and `line`: only arrows that run through. */
void gutter_put_between(const struct gutter *g, uint32_t line, bool is_ascii, struct strbuf *out);
