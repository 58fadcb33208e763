/* SPDX-License-Identifier: Apache-2.0 */
/* tile_frame.c: the question and the header of answers that are made of cells. */
#include "serve/tile_frame.h"

bool tile_frame_parse(const struct query *q, const char *key, uint32_t limit, uint32_t most,
	struct tile_frame *f, struct incore_error *e)
{
	struct query_ranges r;
	uint64_t level, i, cells = VIEW_TILE_CELLS;

	if (!query_set(q, key, limit, &r, e) ||
		!query_number(q, "level", QUERY_NEEDED, VIEW_MAX_LEVEL, &level, e) ||
		!query_number(q, "i", QUERY_NEEDED, UINT64_C(1) << 40, &i, e))
		return false;
	if (r.n != 1 || r.v[0].last - r.v[0].first >= most)
		return err_set(e, INCORE_USAGE, "bad-query", "%s wants one range of at most %u",
			key, most);
	if (i >= (UINT64_C(1) << 62) / cells >> level)
		return err_set(e, INCORE_USAGE, "bad-query", "i lies beyond all time");
	*f = (struct tile_frame){.level = (unsigned)level,
		.t0 = i * cells << level,
		.first = r.v[0].first,
		.rows = r.v[0].last - r.v[0].first + 1};
	return true;
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
