/* SPDX-License-Identifier: Apache-2.0 */
/* tile_frame.c: the question and the header of answers that consist of cells. */
#include "serve/view/tile_frame.h"

static bool parse_place(const struct query *q, struct tile_frame *f, struct incore_error *e)
{
	uint64_t level, i, cells = VIEW_TILE_CELLS;

	if (!query_number(q, "level", QUERY_NEEDED, VIEW_MAX_LEVEL, &level, e) ||
		!query_number(q, "i", QUERY_NEEDED, UINT64_C(1) << 40, &i, e) ||
		!query_number(q, "kernel", TILE_ANY_KERNEL, UINT32_MAX, &f->kernel, e))
		return false;
	if (i >= (UINT64_C(1) << 62) / cells >> level)
		return err_set(e, INCORE_USAGE, "bad-query", "i is beyond the last frame");
	f->level = (unsigned)level;
	f->t0 = i * cells << level;
	return true;
}

bool tile_frame_parse(const struct query *q, const char *key, uint32_t limit, uint32_t most,
	struct tile_frame *f, struct incore_error *e)
{
	struct query_ranges r;

	if (!query_set(q, key, limit, &r, e) || !parse_place(q, f, e))
		return false;
	f->rows = 0;
	for (unsigned k = 0; k < r.n; k++) {
		if (r.v[k].last - r.v[k].first >= most - f->rows)
			return err_set(e, INCORE_USAGE, "bad-query",
				"%s expects at most %u of them", key, most);
		for (uint32_t n = r.v[k].first; n <= r.v[k].last; n++, f->rows++)
			f->row[f->rows].first = f->row[f->rows].last = n;
	}
	f->first = f->rows ? f->row[0].first : 0;
	return true;
}

bool tile_frame_ranges(const struct query *q, const struct query_ranges *r, struct tile_frame *f,
	struct incore_error *e)
{
	if (!parse_place(q, f, e))
		return false;
	_Static_assert(QUERY_MAX_RANGES == VIEW_MAX_TRACKS, "a range may be a row");
	f->rows = r->n;
	for (unsigned k = 0; k < r->n; k++) {
		f->row[k].first = r->v[k].first;
		f->row[k].last = r->v[k].last;
	}
	f->first = r->v[0].first;
	return true;
}

bool tile_frame_lanes(
	const struct query *q, const struct view *v, struct tile_frame *f, struct incore_error *e)
{
	uint32_t tracks = v->columns->n_tracks;
	struct query_ranges r;

	if (!query_text(q, "lanes"))
		return tile_frame_parse(q, "tracks", tracks, VIEW_MAX_TRACKS, f, e);
	return query_set(q, "lanes", tracks, &r, e) && tile_frame_ranges(q, &r, f, e);
}

bool tile_frame_put(const struct tile_frame *f, const char *magic, unsigned mode,
	struct strbuf *out, uint8_t **cells, struct incore_error *e)
{
	size_t bytes = (size_t)f->rows * VIEW_TILE_CELLS * TILE_CELL_BYTES;

	sb_puts(out, magic);
	put_u16(out, 1);
	sb_putc(out, (char)mode);
	sb_putc(out, (char)f->level);
	put_u64(out, f->t0);
	put_u32(out, VIEW_TILE_CELLS);
	put_u32(out, f->rows);
	put_u32(out, f->first);
	put_u32(out, 0);
	if (!sb_reserve(out, bytes))
		return err_nomem(e);
	*cells = (uint8_t *)out->p + out->n;
	memset(*cells, 0, bytes);
	out->n += bytes;
	return true;
}
