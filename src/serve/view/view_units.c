/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_units.c: number of cycles of each cell in which each unit of a SIMD issued, and in which its
 * matrix pipe was busy, as modelled by its passes. A true union over its waves: one bit per cycle
 * for 65,536 cycles at a time, which costs less than any merge of sorted lists and needs the same
 * memory for any trace.
 */
#include "serve/view/tile_frame.h"

#include "analysis/waves/matrix_passes.h"
#include "base/little_endian.h"
#include "base/mem.h"

/* Rows of an answer: the issue of each unit; the row after the matrix pipe has its passes. */
enum { ROW_PASSES = SIMD_MATRIX + 1, ROWS = SIMD_NONE + 1 };

#define MAX_SIMDS (VIEW_MAX_TRACKS / ROWS)
#define CHUNK 65536u
#define WORDS (CHUNK / 64)
#define MAX_LEVEL 31u /* a cell has a 32-bit count */

struct view_units_chunk {
	uint64_t t0, t1;
	code_idx n_code;
	const uint32_t *passes; /* cycles, by code row; 0: not known */
	uint32_t longest;	/* maximum of passes */
	bool is_used[ROWS];
	uint64_t bits[ROWS][WORDS];
};

static unsigned view_units_row_of(enum simd_unit u)
{
	return u + (u > SIMD_MATRIX);
}

static void set_bits(uint64_t *bits, uint32_t from, uint32_t to)
{
	for (uint32_t w = from / 64; w <= (to - 1) / 64; w++) {
		uint32_t a = w == from / 64 ? from % 64 : 0, b = w == to / 64 ? to % 64 : 64;

		bits[w] |= (b == 64 ? UINT64_MAX : (UINT64_C(1) << b) - 1) & UINT64_MAX << a;
	}
}

/* Marks the part of [from, to) that lies in the chunk. */
static void mark(struct view_units_chunk *k, unsigned row, uint64_t from, uint64_t to)
{
	from = from > k->t0 ? from : k->t0;
	to = to < k->t1 ? to : k->t1;
	if (from >= to)
		return;
	set_bits(k->bits[row], (uint32_t)(from - k->t0), (uint32_t)(to - k->t0));
	k->is_used[row] = true;
}

/* Marks the issue cycles of a lane's slices within the chunk, and the passes that reach into it. */
static void view_units_add_lane(const struct lane *l, struct view_units_chunk *k)
{
	uint32_t i = lane_first_after(l, k->t0 > k->longest ? k->t0 - k->longest : 0),
		 end = lane_end(l);
	struct pieces p;

	if (i >= l->n || l->begin_cyc >= k->t1 || l->end_cyc <= k->t0)
		return;
	p = lane_pieces_of(l, i);
	for (;;) {
		uint64_t from = l->base_cyc + p.issue;
		enum simd_unit u = class_unit(l->inst_class[i]);

		if (u != SIMD_NONE)
			mark(k, view_units_row_of(u), from,
				l->base_cyc + (p.end < end ? p.end : end));
		if (u == SIMD_MATRIX && l->code[i] < k->n_code) {
			uint64_t to = from + k->passes[l->code[i]];

			mark(k, ROW_PASSES, from, to < l->end_cyc ? to : l->end_cyc);
		}
		if (++i >= l->n || lane_start(l, i) >= k->t1)
			return;
		p = lane_pieces_after(l, i, (uint32_t)p.end);
	}
}

static void view_units_add_cell(uint8_t *cell, uint32_t n)
{
	n += le32(cell);
	for (unsigned i = 0; i < TILE_CELL_BYTES; i++, n >>= 8)
		cell[i] = (uint8_t)n;
}

/* Adds the bits to the cells and clears them. */
static void count_bits(const struct tile_frame *f, struct view_units_chunk *k, uint8_t *cells)
{
	for (unsigned u = 0; u < ROWS; u++, cells += VIEW_TILE_CELLS * TILE_CELL_BYTES) {
		if (!k->is_used[u])
			continue;
		for (uint32_t w = 0; w < (k->t1 - k->t0 + 63) / 64; w++) {
			uint64_t bits = k->bits[u][w], at = k->t0 - f->t0 + UINT64_C(64) * w;

			for (uint32_t n = 64, part; bits; at += part, bits = n ? bits >> part : 0) {
				part = f->level < 6 ? 1u << f->level : 64;
				n -= part;
				view_units_add_cell(cells + (at >> f->level) * TILE_CELL_BYTES,
					(uint32_t)__builtin_popcountll(
						part == 64 ? bits
							   : bits & ((UINT64_C(1) << part) - 1)));
			}
		}
		memset(k->bits[u], 0, sizeof(k->bits[u]));
		k->is_used[u] = false;
	}
}

struct simd {
	track_idx first, end;
	uint64_t begin_cyc, end_cyc;
};

static bool view_units_is_same(const struct trace *t, track_idx a, track_idx b, int level)
{
	for (int k = 0; k <= level; k++)
		if (t->tracks[a].coord[k] != t->tracks[b].coord[k])
			return false;
	return true;
}

static void view_units_add_track(struct simd *s, track_idx i, const struct lane *l)
{
	if (!s->end)
		*s = (struct simd){i, i, l->begin_cyc, l->end_cyc};
	s->end = i + 1;
	s->begin_cyc = l->begin_cyc < s->begin_cyc ? l->begin_cyc : s->begin_cyc;
	s->end_cyc = l->end_cyc > s->end_cyc ? l->end_cyc : s->end_cyc;
}

/* Finds the SIMDs that the rows of f name (f NULL: only counts). SIMDs are numbered in the order of
 * tracks, which are sorted. Returns the number of SIMDs. */
static uint32_t find_simds(
	const struct view *v, int level, const struct tile_frame *f, struct simd *out)
{
	const struct trace *t = v->trace;
	uint32_t simds = 0;

	for (track_idx i = 0; i < v->columns->n_tracks; i++) {
		const struct lane *l = &v->columns->lanes[v->columns->first_lane[i]];

		if (i == 0 || !view_units_is_same(t, i - 1, i, level))
			simds++;
		for (uint32_t k = 0; f && k < f->rows; k++)
			if (f->row[k].first == simds - 1)
				view_units_add_track(&out[k], i, l);
	}
	return simds;
}

static void fill_simd(const struct view *v, const struct tile_frame *f, const struct simd *s,
	struct view_units_chunk *k, uint8_t *cells)
{
	uint64_t span = (uint64_t)VIEW_TILE_CELLS << f->level, end = f->t0 + span;
	uint64_t step = span < CHUNK ? span : CHUNK;

	end = s->end_cyc < end ? s->end_cyc : end;
	k->t0 = f->t0;
	if (s->begin_cyc > f->t0)
		k->t0 += (s->begin_cyc - f->t0) / step * step;
	for (; k->t0 < end; k->t0 += step) {
		k->t1 = k->t0 + step;
		for (track_idx i = s->first; i < s->end; i++) {
			if (!tile_frame_has(f, v, i))
				continue;
			for (uint32_t n = v->columns->first_lane[i];
				n < v->columns->first_lane[i + 1]; n++)
				view_units_add_lane(&v->columns->lanes[n], k);
		}
		count_bits(f, k, cells);
	}
}

static int view_units_simd_level(const struct trace *t)
{
	int level = TRACK_LEVELS - 1;

	while (level >= 0 && (!t->levels[level] || strcmp(t->levels[level], "simd") != 0))
		level--;
	return level;
}

static bool view_units_fill(const struct view *v, const struct tile_frame *f,
	const struct simd *simds, uint8_t *cells, struct incore_error *e)
{
	struct view_units_chunk *k = mem_zalloc(1, sizeof(*k));
	uint32_t *passes = mem_zalloc((size_t)v->trace->n_code + 1, sizeof(*passes));
	bool ok = k && passes;

	if (ok) {
		k->n_code = v->trace->n_code;
		k->passes = passes;
		k->longest = matrix_passes(v->trace, passes);
		for (uint32_t i = 0; i < f->rows / ROWS; i++)
			fill_simd(v, f, &simds[i], k,
				cells + (size_t)i * ROWS * VIEW_TILE_CELLS * TILE_CELL_BYTES);
	}
	mem_free(passes);
	mem_free(k);
	return ok || err_nomem(e);
}

bool view_units(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct simd simds[MAX_SIMDS] = {{0, 0, 0, 0}};
	struct tile_frame f;
	uint8_t *cells;
	int level = view_units_simd_level(v->trace);

	if (level < 0)
		return err_set(
			e, INCORE_USAGE, "no-simds", "the tracks of this capture are not SIMDs'");
	if (!tile_frame_parse(q, "simds", find_simds(v, level, NULL, NULL), MAX_SIMDS, &f, e))
		return false;
	if (f.level > MAX_LEVEL)
		return err_set(e, INCORE_USAGE, "bad-query", "level expects at most %u", MAX_LEVEL);
	find_simds(v, level, &f, simds);
	f.first *= ROWS;
	f.rows *= ROWS;
	return tile_frame_put(&f, "ICU1", 0, out, &cells, e) &&
	       view_units_fill(v, &f, simds, cells, e);
}
