/* SPDX-License-Identifier: Apache-2.0 */
/* answer_tile.c: what fills each cell of up to 64 tracks? */
#include "serve/tile_frame.h"

#define CELL_NOTE 2u
#define CELL_LINK 4u
#define CELL_EDGE 8u
_Static_assert(SPLIT_KEYS == SLOT_COUNT, "a cell has as many keys in every mode");

struct tile {
	enum tile_mode mode;
	unsigned level;
	uint64_t t0;
};

/* The largest of the differences; the first among equals. */
static uint8_t largest(const uint64_t *a, const uint64_t *b, unsigned n, uint64_t *covered)
{
	unsigned best = 0;

	*covered = 0;
	for (unsigned k = 0; k < n; k++) {
		*covered += b[k] - a[k];
		if (b[k] - a[k] > b[best] - a[best])
			best = k;
	}
	return (uint8_t)(*covered ? best : CELL_NOTHING);
}

static uint64_t lost(const struct tile *x, const uint64_t *a, const uint64_t *b)
{
	if (x->mode == TILE_BUCKET)
		return b[BUCKET_STALL] - a[BUCKET_STALL] + b[BUCKET_WAIT] - a[BUCKET_WAIT];
	return b[SPLIT_STALL] - a[SPLIT_STALL];
}

/* Marks the cells in which a link of the capture ends. */
static void mark_links(const struct view *v, const struct tile *x, track_idx track, uint8_t *cells)
{
	const struct trace *t = v->trace;
	uint32_t lo = 0, hi = t->n_links, i;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->links[mid].to_track < track)
			lo = mid + 1;
		else
			hi = mid;
	}
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

/* Does a record of unknown code run on when the cell ends? `running` slices have begun and not ended. */
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

/* What lies between two sums; its flags but CELL_SEVERAL are known to others. */
static void put_cell(const struct tile *x, const uint64_t *a, const uint64_t *b, uint8_t *cell)
{
	bool has_classes = x->mode == TILE_CLASS || x->mode == TILE_KERNEL;
	uint64_t covered;

	cell[0] = largest(a, b, SPLIT_KEYS, &covered);
	cell[1] = tile_share(covered, x->level);
	cell[2] = x->mode == TILE_CAUSE || x->mode == TILE_DIFF
			  ? 0
			  : tile_share(lost(x, a, b), x->level);
	cell[3] = has_classes && b[SPLIT_UNKNOWN] > a[SPLIT_UNKNOWN] ? CELL_NOTE : 0;
}

static void put_kernel(uint32_t kernel, uint8_t *cells)
{
	for (unsigned c = 0; c < VIEW_TILE_CELLS; c++)
		if (cells[c * 4] != CELL_NOTHING)
			cells[c * 4] = kernel == UINT32_MAX ? SLOT_OTHER : (uint8_t)(kernel % 12);
}

static void fill_row(const struct view *v, const struct tile *x, track_idx track, uint8_t *cells)
{
	const struct lane *l = &v->columns->lanes[v->columns->first_lane[track]];
	struct split_row r = {x->t0, UINT64_C(1) << x->level, VIEW_TILE_CELLS + 1};
	struct split_stop stops[VIEW_TILE_CELLS + 1];
	uint64_t sums[2][LANE_SUMS];
	uint32_t ended = 0, begun;
	struct split_cursor k, slices; /* what is split may be no slices, but those are counted */
	bool has_pieces = v->has_pipes && (x->mode == TILE_BUCKET || x->mode == TILE_CAUSE);

	view_split_begin(v, x->mode, track, &k);
	split_begin(&slices, v->columns, NULL, track);
	split_find(&k, &r, stops);
	for (uint32_t c = 0; c < STOPS_AHEAD; c++)
		split_fetch(&k, &stops[c]);
	for (uint32_t c = 0; c < r.n; c++) {
		uint64_t *a = sums[(c + 1) % 2], *b = sums[c % 2];
		uint32_t done;

		if (c + STOPS_AHEAD < r.n &&
			stops[c + STOPS_AHEAD].mark != stops[c + STOPS_AHEAD - 1].mark)
			split_fetch(&k, &stops[c + STOPS_AHEAD]);
		done = split_at_stop(&k, r.t0 + c * r.width, &stops[c], b, &begun);
		if (has_pieces) {
			uint64_t ignored[LANE_SUMS];

			done = split_at(&slices, r.t0 + c * r.width, ignored, &begun);
		}
		if (c > 0) {
			put_cell(x, a, b, cells + 4 * (c - 1));
			cells[4 * c - 1] |= begun > ended + 1 ? CELL_SEVERAL : 0;
			if (!k.splits && has_note(&k, begun - done))
				cells[4 * c - 1] |= CELL_NOTE;
		}
		ended = done;
	}
	if (x->mode == TILE_KERNEL)
		put_kernel(v->trace->tracks[track].kernel_id, cells);
	mark_edge(x, l->begin_cyc, cells);
	mark_edge(x, l->end_cyc > l->begin_cyc ? l->end_cyc - 1 : l->end_cyc, cells);
	mark_links(v, x, track, cells);
}

bool answer_tile(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const char *hash = query_text(q, "h");
	struct tile_frame f;
	struct tile x;
	unsigned mode;
	uint8_t *cells;

	if (!tile_frame_parse(q, "tracks", v->columns->n_tracks, VIEW_MAX_TRACKS, &f, e) ||
		!query_word(q, "mode", TILE_MODES, &mode, e))
		return false;
	if (hash && strcmp(hash, v->hash) != 0)
		return err_set(e, INCORE_USAGE, "wrong-hash", "that is another capture's tile");
	x = (struct tile){.mode = (enum tile_mode)mode, .level = f.level, .t0 = f.t0};
	if (!tile_frame_put(&f, "ICT1", mode, out, &cells, e))
		return false;
	for (uint32_t i = 0; i < f.rows; i++)
		fill_row(v, &x, f.first + i, cells + (size_t)i * VIEW_TILE_CELLS * TILE_CELL_BYTES);
	return true;
}
