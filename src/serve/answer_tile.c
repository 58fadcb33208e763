/* SPDX-License-Identifier: Apache-2.0 */
/* answer_tile.c: what fills each cell of up to 64 tracks? */
#include "serve/view.h"

#define CELL_SEVERAL 1u
#define CELL_NOTE 2u
#define CELL_LINK 4u
#define CELL_EDGE 8u
#define NOTHING 255u
#define AHEAD 6u /* cells that memory is asked for in advance */

struct tile {
	enum tile_mode mode;
	unsigned level;
	uint64_t t0;
	uint32_t first, tracks;
};

static uint8_t share(uint64_t part, uint64_t whole)
{
	uint64_t x = part >= whole ? 255 : (part * 255 + whole / 2) / whole;

	return (uint8_t)(x == 0 && part ? 1 : x);
}

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
	return (uint8_t)(*covered ? best : NOTHING);
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

static void mark_edge(const struct tile *x, uint64_t at, uint8_t *cells)
{
	uint64_t cell = at >= x->t0 ? (at - x->t0) >> x->level : VIEW_TILE_CELLS;

	if (cell < VIEW_TILE_CELLS)
		cells[cell * 4 + 3] |= CELL_EDGE;
}

static void fill_row(const struct view *v, const struct tile *x, track_idx track, uint8_t *cells)
{
	const struct lane_split *splits = view_splits(v, x->mode);
	const struct lane *l = &v->columns->lanes[v->columns->first_lane[track]];
	uint32_t kernel = v->trace->tracks[track].kernel_id;
	uint64_t sums[2][LANE_SUMS], width = UINT64_C(1) << x->level, covered;
	uint32_t ended, begun, ahead = 0;
	struct split_cursor k;

	split_begin(&k, v->columns, splits, track);
	ended = split_at(&k, x->t0, sums[0], &begun);
	for (unsigned c = 0; c < VIEW_TILE_CELLS; c++, cells += 4) {
		uint64_t *a = sums[c % 2], *b = sums[(c + 1) % 2];
		uint32_t done;

		split_ahead(&k, x->t0 + (c + AHEAD) * width, &ahead);
		done = split_at(&k, x->t0 + (c + 1) * width, b, &begun);

		cells[0] = largest(a, b, splits ? SPLIT_KEYS : SLOT_COUNT, &covered);
		if (x->mode == TILE_KERNEL && cells[0] != NOTHING)
			cells[0] = kernel == UINT32_MAX ? SLOT_OTHER : (uint8_t)(kernel % 12);
		cells[1] = share(covered, width);
		cells[2] = x->mode == TILE_CAUSE || x->mode == TILE_DIFF
				   ? 0
				   : share(lost(x, a, b), width);
		cells[3] = begun > ended + 1 ? CELL_SEVERAL : 0;
		if (!splits && b[SPLIT_UNKNOWN] > a[SPLIT_UNKNOWN])
			cells[3] |= CELL_NOTE;
		ended = done;
	}
	cells -= VIEW_TILE_CELLS * 4;
	mark_edge(x, l->begin_cyc, cells);
	mark_edge(x, l->end_cyc > l->begin_cyc ? l->end_cyc - 1 : l->end_cyc, cells);
	mark_links(v, x, track, cells);
}

static bool parse(
	const struct view *v, const struct query *q, struct tile *x, struct incore_error *e)
{
	struct query_ranges r;
	uint64_t level, i, cells = VIEW_TILE_CELLS;
	unsigned mode;

	if (!query_set(q, "tracks", v->columns->n_tracks, &r, e) ||
		!query_number(q, "level", QUERY_NEEDED, VIEW_MAX_LEVEL, &level, e) ||
		!query_number(q, "i", QUERY_NEEDED, UINT64_C(1) << 40, &i, e) ||
		!query_word(q, "mode", TILE_MODES, &mode, e))
		return false;
	if (r.n != 1 || r.v[0].last - r.v[0].first >= VIEW_MAX_TRACKS)
		return err_set(e, INCORE_USAGE, "bad-query", "tracks wants one range of at most %u",
			VIEW_MAX_TRACKS);
	if (i >= (UINT64_C(1) << 62) / cells >> level)
		return err_set(e, INCORE_USAGE, "bad-query", "i lies beyond all time");
	*x = (struct tile){.mode = (enum tile_mode)mode,
		.level = (unsigned)level,
		.t0 = i * cells << level,
		.first = r.v[0].first,
		.tracks = r.v[0].last - r.v[0].first + 1};
	return true;
}

bool answer_tile(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const char *hash = query_text(q, "h");
	size_t row = VIEW_TILE_CELLS * 4;
	struct tile x;

	if (!parse(v, q, &x, e))
		return false;
	if (hash && strcmp(hash, v->hash) != 0)
		return err_set(e, INCORE_USAGE, "wrong-hash", "that is another capture's tile");
	sb_puts(out, "ICT1");
	put_u16(out, 1);
	sb_putc(out, (char)x.mode);
	sb_putc(out, (char)x.level);
	put_u64(out, x.t0);
	put_u32(out, VIEW_TILE_CELLS);
	put_u32(out, x.tracks);
	put_u32(out, x.first);
	put_u32(out, 0);
	if (!sb_reserve(out, row * x.tracks))
		return err_nomem(e);
	for (uint32_t i = 0; i < x.tracks; i++, out->n += row)
		fill_row(v, &x, x.first + i, (uint8_t *)out->p + out->n);
	return true;
}
