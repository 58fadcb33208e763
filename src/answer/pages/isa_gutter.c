/* SPDX-License-Identifier: Apache-2.0 */
/* isa_gutter.c: lanes of arrows, as cells that record which sides their strokes touch. */
#include "answer/pages/isa_gutter.h"

#include "base/mem.h"

enum side { SIDE_UP = 1, SIDE_DOWN = 2, SIDE_LEFT = 4, SIDE_RIGHT = 8, SIDE_HEAD = 16 };

static uint8_t *cell_at(const struct gutter *g, uint32_t line, unsigned lane)
{
	return &g->cells[(size_t)line * (g->n_lanes + 1) + lane];
}

static const char *glyph(unsigned sides, bool is_ascii)
{
	static const char *const box[16] = {" ", "\u2502", "\u2502", "\u2502", "\u2500", "\u2518",
		"\u2510", "\u2524", "\u2500", "\u2514", "\u250c", "\u251c", "\u2500", "\u2534",
		"\u252c", "\u253c"};
	static const char *const ascii[16] = {
		" ", "|", "|", "|", "-", "'", ".", "|", "-", "`", ",", "|", "-", "+", "+", "+"};

	if (sides & SIDE_HEAD)
		return is_ascii ? ">" : "\u25ba";
	return is_ascii ? ascii[sides & 15] : box[sides & 15];
}

static bool lane_is_free(const struct gutter *g, uint32_t top, uint32_t bottom, unsigned lane)
{
	for (uint32_t i = top; i <= bottom; i++)
		if (*cell_at(g, i, lane) & (SIDE_UP | SIDE_DOWN))
			return false;
	return true;
}

/* Draws a stroke from the lane to the text. */
static void stroke_right(struct gutter *g, uint32_t line, unsigned lane, bool is_head)
{
	*cell_at(g, line, lane) |= SIDE_RIGHT;
	for (unsigned k = lane + 1; k < g->n_lanes; k++)
		*cell_at(g, line, k) |= SIDE_LEFT | SIDE_RIGHT;
	*cell_at(g, line, g->n_lanes) |= is_head ? SIDE_LEFT | SIDE_HEAD : SIDE_LEFT;
}

bool gutter_init(struct gutter *g, uint32_t n_lines, unsigned n_lanes, struct incore_error *e)
{
	*g = (struct gutter){.n_lanes = n_lanes, .n_lines = n_lines};
	g->cells = mem_zalloc((size_t)n_lines + 1, n_lanes + 1);
	return g->cells || err_nomem(e);
}

void gutter_deinit(struct gutter *g)
{
	mem_free(g->cells);
	*g = (struct gutter){0};
}

bool gutter_arrow(struct gutter *g, uint32_t from, uint32_t to)
{
	uint32_t top = from < to ? from : to, bottom = from < to ? to : from;
	unsigned lane = g->n_lanes;

	if (from == to || bottom >= g->n_lines)
		return false;
	while (lane > 0 && !lane_is_free(g, top, bottom, lane - 1))
		lane--;
	if (lane == 0)
		return false;
	lane--;
	*cell_at(g, top, lane) |= SIDE_DOWN;
	*cell_at(g, bottom, lane) |= SIDE_UP;
	for (uint32_t i = top + 1; i < bottom; i++)
		*cell_at(g, i, lane) |= SIDE_UP | SIDE_DOWN;
	stroke_right(g, from, lane, false);
	stroke_right(g, to, lane, true);
	return true;
}

void gutter_put(const struct gutter *g, uint32_t line, bool is_ascii, struct strbuf *out)
{
	for (unsigned k = 0; k <= g->n_lanes; k++)
		sb_puts(out, glyph(*cell_at(g, line, k), is_ascii));
}

void gutter_put_between(const struct gutter *g, uint32_t line, bool is_ascii, struct strbuf *out)
{
	for (unsigned k = 0; k <= g->n_lanes; k++) {
		bool runs = k < g->n_lanes && (*cell_at(g, line, k) & SIDE_UP);

		sb_puts(out, glyph(runs ? SIDE_UP | SIDE_DOWN : 0, is_ascii));
	}
}
