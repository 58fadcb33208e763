/* SPDX-License-Identifier: Apache-2.0 */
/* find_strip.c: executions of matching rows, as cells of up to 64 lanes. */
#include "serve/view/find_strip.h"

#include "serve/view/tile_frame.h"

struct found {
	uint64_t cyc;
	uint32_t n;
};

/* Adds [start, end) to the cells it touches. */
static void add(const struct tile_frame *f, uint64_t start, uint64_t end, struct found *cells)
{
	uint64_t width = UINT64_C(1) << f->level;

	start = start > f->t0 ? start - f->t0 : 0;
	end -= f->t0;
	for (uint64_t c = start >> f->level; c < VIEW_TILE_CELLS && c * width < end; c++) {
		uint64_t from = c * width > start ? c * width : start;
		uint64_t to = (c + 1) * width < end ? (c + 1) * width : end;

		cells[c].cyc += to - from;
		cells[c].n++;
	}
}

static void add_track(const struct view *v, const struct tile_frame *f, const uint8_t *is_match,
	track_idx track, struct found *cells)
{
	const struct columns *c = v->columns;
	uint64_t width = UINT64_C(1) << f->level, t1 = f->t0 + VIEW_TILE_CELLS * width;

	for (uint32_t k = c->first_lane[track]; k < c->first_lane[track + 1]; k++) {
		const struct lane *l = &c->lanes[k];

		for (uint32_t i = lane_first_after(l, f->t0); i < l->n; i++) {
			uint64_t start = lane_start(l, i),
				 end = start + (l->dur[i] ? l->dur[i] : 1);

			if (start >= t1)
				break;
			if (l->code[i] < v->trace->n_code && is_match[l->code[i]] && end > f->t0)
				add(f, start, end, cells);
		}
	}
}

static void fill_row(const struct view *v, const struct tile_frame *f, const uint8_t *is_match,
	uint32_t row, uint8_t *out)
{
	struct found cells[VIEW_TILE_CELLS] = {{0, 0}};

	for (track_idx i = f->row[row].first; i <= f->row[row].last; i++)
		if (tile_frame_has(f, v, i))
			add_track(v, f, is_match, i, cells);
	for (unsigned i = 0; i < VIEW_TILE_CELLS; i++, out += TILE_CELL_BYTES) {
		out[0] = cells[i].n ? 0 : CELL_NOTHING;
		out[1] = tile_share(cells[i].cyc, f->level);
		out[3] = cells[i].n > 1 ? CELL_SEVERAL : 0;
	}
}

bool find_strip(const struct view *v, const struct query *q, const uint8_t *is_match,
	struct strbuf *out, struct incore_error *e)
{
	struct tile_frame f;
	uint8_t *cells;

	if (!tile_frame_lanes(q, v, &f, e) ||
		!tile_frame_put(&f, "ICT1", TILE_CLASS, out, &cells, e))
		return false;
	for (uint32_t i = 0; i < f.rows; i++)
		fill_row(v, &f, is_match, i, cells + (size_t)i * VIEW_TILE_CELLS * TILE_CELL_BYTES);
	return true;
}
