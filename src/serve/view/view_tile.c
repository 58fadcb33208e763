/* SPDX-License-Identifier: Apache-2.0 */
/* view_tile.c: what fills each cell of up to 64 lanes. */
#include "base/search.h"
#include "serve/view/tile_frame.h"

#include "base/mem.h"

#define CELL_NOTE 2u
#define CELL_LINK 4u
#define CELL_EDGE 8u
#define CELL_WAITS 16u /* mode=class: most of the lost cycles are waits */
_Static_assert(SPLIT_KEYS == SLOT_COUNT, "a cell has as many keys in every mode");

struct tile {
	enum tile_mode mode;
	unsigned level;
	uint64_t t0;
};

/* Contents of a cell, over all tracks that it shows. */
struct view_tile_cell {
	uint64_t sums[SPLIT_KEYS];
	uint64_t lost, waits; /* waits: part of lost, only for mode=class */
	uint32_t slices;      /* number of slices that touch it */
	bool has_note;
};

/* Marks the cells in which a link of the capture ends. */
static void mark_links(const struct view *v, const struct tile *x, track_idx track, uint8_t *cells)
{
	const struct trace *t = v->trace;
	uint32_t lo = 0, hi = t->n_links, i;

	BISECT(lo, hi, k, t->links[k].to_track < track);
	for (; lo < t->n_links && t->links[lo].to_track == track; lo++) {
		const struct lane *l = columns_slice(v->columns, track, t->links[lo].to_slice, &i);
		uint64_t at = l ? lane_start(l, i) : 0, cell;

		if (!l || at < x->t0)
			continue;
		cell = (at - x->t0) >> x->level;
		if (cell < VIEW_TILE_CELLS)
			cells[cell * 4 + 3] |= CELL_LINK;
	}
}

/* Is a record of unknown code still running at the end of the cell? `running`: number of slices
 * that have begun and not ended. */
static bool has_note(const struct split_cursor *k, uint32_t running)
{
	const struct lane *l = k->lane < k->end_lane ? &k->c->lanes[k->lane] : NULL;

	for (uint32_t i = 0; l && l->has_unknown && i < running && k->i + i < l->n; i++)
		if (l->code[k->i + i] == NO_CODE)
			return true;
	return false;
}

static void mark_edge(const struct tile *x, uint64_t at, uint8_t *cells)
{
	uint64_t cell = at >= x->t0 ? (at - x->t0) >> x->level : VIEW_TILE_CELLS;

	if (cell < VIEW_TILE_CELLS)
		cells[cell * 4 + 3] |= CELL_EDGE;
}

static uint64_t view_tile_lost(const struct tile *x, const uint64_t *a, const uint64_t *b)
{
	if (x->mode == TILE_CAUSE || x->mode == TILE_DIFF)
		return 0;
	if (x->mode == TILE_BUCKET)
		return b[BUCKET_STALL] - a[BUCKET_STALL] + b[BUCKET_WAIT] - a[BUCKET_WAIT];
	return b[SPLIT_STALL] - a[SPLIT_STALL];
}

/* Adds the difference of two sums to a cell; kernel: the key for all of it; -1: each under its own
 * key. */
static void view_tile_add_sums(const struct tile *x, const uint64_t *a, const uint64_t *b,
	int kernel, struct view_tile_cell *c)
{
	for (unsigned k = 0; k < SPLIT_KEYS; k++)
		c->sums[kernel < 0 ? k : (unsigned)kernel] += b[k] - a[k];
	c->lost += view_tile_lost(x, a, b);
	if (x->mode == TILE_CLASS)
		c->waits += b[SPLIT_WAIT] - a[SPLIT_WAIT];
	if ((x->mode == TILE_CLASS || x->mode == TILE_KERNEL) &&
		b[SPLIT_UNKNOWN] > a[SPLIT_UNKNOWN])
		c->has_note = true;
}

static void view_tile_put_cell(const struct tile *x, const struct view_tile_cell *c, uint8_t *out)
{
	uint64_t covered = 0;
	unsigned best = 0;

	for (unsigned k = 0; k < SPLIT_KEYS; k++) {
		covered += c->sums[k];
		best = c->sums[k] > c->sums[best] ? k : best;
	}
	out[0] = (uint8_t)(covered ? best : CELL_NOTHING);
	out[1] = tile_share(covered, x->level);
	out[2] = tile_share(c->lost, x->level);
	out[3] = (uint8_t)((c->slices > 1 ? CELL_SEVERAL : 0) | (c->has_note ? CELL_NOTE : 0) |
			   (c->lost && 2 * c->waits >= c->lost ? CELL_WAITS : 0));
}

/* Finds the cells [from, to) in which a track has any contents; false: no cells. */
static bool find_life(
	const struct view *v, const struct tile *x, track_idx track, uint32_t *from, uint32_t *to)
{
	const struct columns *c = v->columns;
	const struct lane *first = &c->lanes[c->first_lane[track]],
			  *last = &c->lanes[c->first_lane[track + 1] - 1];
	uint64_t t1 = x->t0 + ((uint64_t)VIEW_TILE_CELLS << x->level), begin = first->begin_cyc,
		 end = last->base_cyc + lane_cover(last, last->n), cell;

	/* records outside their track's lifetime are shown, too */
	if (first->n && lane_start(first, 0) < begin)
		begin = lane_start(first, 0);
	end = last->end_cyc > end ? last->end_cyc : end;
	end = end > begin ? end : begin + 1;
	if (begin >= t1 || end <= x->t0)
		return false;
	*from = begin > x->t0 ? (uint32_t)((begin - x->t0) >> x->level) : 0;
	cell = (end - 1 - x->t0) >> x->level;
	*to = cell < VIEW_TILE_CELLS ? (uint32_t)cell + 1 : VIEW_TILE_CELLS;
	return true;
}

/* Adds a track to `cells`; NULL: it is alone in its row and is written to `out` directly. */
static void view_tile_add_track(const struct view *v, const struct tile *x, track_idx track,
	struct view_tile_cell *cells, uint8_t *out)
{
	uint32_t kernel_id = v->trace->tracks[track].kernel_id, from, to, ended = 0, begun, done;
	int kernel = x->mode != TILE_KERNEL    ? -1
		     : kernel_id == UINT32_MAX ? (int)SLOT_OTHER
					       : (int)(kernel_id % SLOT_COUNT);
	struct split_row r = {.width = UINT64_C(1) << x->level};
	struct split_stop stops[VIEW_TILE_CELLS + 1];
	uint64_t sums[2][LANE_SUMS];
	struct split_cursor k, slices; /* k may be over pieces; slices are always counted */
	bool has_pieces = v->has_pipes && (x->mode == TILE_BUCKET || x->mode == TILE_CAUSE);

	if (!find_life(v, x, track, &from, &to))
		return;
	r.t0 = x->t0 + from * r.width;
	r.n = to - from + 1;
	view_split_begin(v, x->mode, track, &k);
	split_begin(&slices, v->columns, NULL, track);
	split_find(&k, &r, stops);
	for (uint32_t c = 0; c < STOPS_AHEAD && c < r.n; c++)
		split_fetch(&k, &stops[c]);
	for (uint32_t c = 0; c < r.n; c++) {
		uint64_t *a = sums[(c + 1) % 2], *b = sums[c % 2];
		struct view_tile_cell one = {{0}, 0, 0, 0, false}, *cell = &one;

		if (c + STOPS_AHEAD < r.n &&
			stops[c + STOPS_AHEAD].mark != stops[c + STOPS_AHEAD - 1].mark)
			split_fetch(&k, &stops[c + STOPS_AHEAD]);
		done = split_at_stop(&k, r.t0 + c * r.width, &stops[c], b, &begun);
		if (has_pieces) {
			uint64_t ignored[LANE_SUMS];

			done = split_at(&slices, r.t0 + c * r.width, ignored, &begun);
		}
		if (c > 0) {
			cell = cells ? &cells[from + c - 1] : cell;
			view_tile_add_sums(x, a, b, kernel, cell);
			cell->slices += begun - ended;
			if (!k.splits && has_note(&k, begun - done))
				cell->has_note = true;
			if (!cells)
				view_tile_put_cell(x, cell, out + (size_t)4 * (from + c - 1));
		}
		ended = done;
	}
}

static void mark_track(const struct view *v, const struct tile *x, track_idx track, uint8_t *out)
{
	const struct lane *l = &v->columns->lanes[v->columns->first_lane[track]];

	mark_edge(x, l->begin_cyc, out);
	mark_edge(x, l->end_cyc > l->begin_cyc ? l->end_cyc - 1 : l->end_cyc, out);
	mark_links(v, x, track, out);
}

/* Fills a row; `room`: buffer for the cells of a row with several tracks. */
static void view_tile_fill_row(const struct view *v, const struct tile *x,
	const struct tile_frame *f, uint32_t row, struct view_tile_cell *room, uint8_t *out)
{
	uint32_t first = f->row[row].first, last = f->row[row].last, from, to, alive = 0;

	for (track_idx i = first; i <= last && alive < 2; i++)
		alive += tile_frame_has(f, v, i) && find_life(v, x, i, &from, &to);
	for (size_t c = 0; c < VIEW_TILE_CELLS; c++)
		out[c * 4] = CELL_NOTHING;
	if (alive > 1)
		memset(room, 0, VIEW_TILE_CELLS * sizeof(*room));
	for (track_idx i = first; i <= last; i++)
		if (tile_frame_has(f, v, i))
			view_tile_add_track(v, x, i, alive > 1 ? room : NULL, out);
	for (size_t c = 0; alive > 1 && c < VIEW_TILE_CELLS; c++)
		view_tile_put_cell(x, &room[c], out + 4 * c);
	for (track_idx i = first; i <= last; i++)
		if (tile_frame_has(f, v, i))
			mark_track(v, x, i, out);
}

bool view_tile(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const char *hash = query_text(q, "h");
	struct tile_frame f;
	struct view_tile_cell *room;
	struct tile x;
	unsigned mode;
	uint8_t *cells;

	if (!tile_frame_lanes(q, v, &f, e) || !query_word(q, "mode", TILE_MODES, &mode, e))
		return false;
	if (hash && strcmp(hash, v->hash) != 0)
		return err_set(e, INCORE_USAGE, "wrong-hash", "that is another capture's tile");
	x = (struct tile){.mode = (enum tile_mode)mode, .level = f.level, .t0 = f.t0};
	if (!tile_frame_put(&f, "ICT1", mode, out, &cells, e))
		return false;
	room = mem_alloc(VIEW_TILE_CELLS * sizeof(*room));
	if (!room)
		return err_nomem(e);
	for (uint32_t i = 0; i < f.rows; i++)
		view_tile_fill_row(
			v, &x, &f, i, room, cells + (size_t)i * VIEW_TILE_CELLS * TILE_CELL_BYTES);
	mem_free(room);
	return true;
}
