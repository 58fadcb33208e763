/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c: the bytes of tiles and views. */
#include "model/stream/ranges.h"

struct rect { /* elements of a tile */
	uint64_t row, col, rows, cols;
};

static bool ranges_add(struct range_list *out, size_t first, uint64_t from, uint64_t bytes)
{
	struct range *last = out->v.n > first ? &out->v.v[out->v.n - 1] : NULL;

	/* Tiny pieces cost time, not bytes: each counts as at least 16, so that their number is
	 * bounded even if they are joined or empty. */
	out->bytes += bytes > RANGES_BYTES ? RANGES_BYTES + 1 : bytes < 16 ? 16 : bytes;
	if (from >= RANGES_END || out->bytes > RANGES_BYTES) {
		out->is_cut = true;
		return true;
	}
	if (bytes == 0)
		return true;
	if (last && last->to == from) {
		last->to = from + bytes;
		return true;
	}
	if (out->v.n - first >= RANGES_MAX) {
		out->is_cut = true;
		return true;
	}
	return VEC_PUSH(&out->v, (struct range){from, from + bytes});
}

/* --- tiles --- */

static bool plain_tile(
	const struct op_opnd *o, uint64_t addr, const struct rect *r, struct range_list *out)
{
	bool by_col = o->blayout == BL_COL_MAJOR;
	uint64_t pitch = by_col ? OPND_ROWS(o) : OPND_COLS(o);
	uint64_t inner = by_col ? r->rows : r->cols, outer = by_col ? r->cols : r->rows;
	uint64_t at = by_col ? r->col * pitch + r->row : r->row * pitch + r->col;
	size_t first = out->v.n;

	for (uint64_t i = 0; i < outer && !out->is_cut; i++, at += pitch) {
		uint64_t from = at * o->bits / 8, to = ((at + inner) * o->bits + 7) / 8;

		if (!ranges_add(out, first, addr + from, to - from))
			return false;
	}
	return true;
}

/* Fractals are 16 rows (columns, if column major inside) of fractal / 16 bytes. */
static bool boxed_tile(
	const struct op_opnd *o, uint64_t addr, const struct rect *r, struct range_list *out)
{
	uint64_t fractal = o->fractal ? o->fractal : 512;
	uint64_t wide = fractal * 8 / 16 / (o->bits ? o->bits : 8);
	uint64_t box_rows = o->slayout == SL_ROW_MAJOR ? 16 : wide;
	uint64_t box_cols = o->slayout == SL_ROW_MAJOR ? wide : 16;
	uint64_t n_rows, n_cols, r0, r1, c0, c1;
	size_t first = out->v.n;

	if (box_rows == 0 || box_cols == 0)
		return true;
	n_rows = (OPND_ROWS(o) + box_rows - 1) / box_rows;
	n_cols = (OPND_COLS(o) + box_cols - 1) / box_cols;
	r0 = r->row / box_rows;
	r1 = (r->row + r->rows + box_rows - 1) / box_rows;
	c0 = r->col / box_cols;
	c1 = (r->col + r->cols + box_cols - 1) / box_cols;
	if (o->blayout == BL_COL_MAJOR) {
		for (uint64_t c = c0; c < c1 && !out->is_cut; c++)
			if (!ranges_add(out, first, addr + (c * n_rows + r0) * fractal,
				    (r1 - r0) * fractal))
				return false;
		return true;
	}
	for (uint64_t i = r0; i < r1 && !out->is_cut; i++)
		if (!ranges_add(
			    out, first, addr + (i * n_cols + c0) * fractal, (c1 - c0) * fractal))
			return false;
	return true;
}

static uint64_t ranges_scalar_of(
	const struct opstream *s, const struct op_exec *x, enum op_role role)
{
	const struct op_form *f = &s->forms.v[x->form];

	for (unsigned i = 0; i < f->n_opnds; i++)
		if (s->opnds.v[f->first_opnd + i].role == role &&
			s->opnds.v[f->first_opnd + i].what == OPND_SCALAR)
			return s->words.v[x->first_word + i];
	return 0;
}

/* The tile on the other side determines the size of the part. */
static const struct op_opnd *other_tile(
	const struct opstream *s, const struct op_form *f, const struct op_opnd *o)
{
	for (unsigned i = 0; i < f->n_opnds; i++) {
		const struct op_opnd *k = &s->opnds.v[f->first_opnd + i];

		if (k != o && k->what == OPND_TILE && k->role != o->role &&
			(k->role == ROLE_DST || k->role == ROLE_SRC))
			return k;
	}
	return NULL;
}

static struct rect rect_of(
	const struct opstream *s, const struct op_exec *x, const struct op_opnd *o)
{
	const struct op_form *f = &s->forms.v[x->form];
	struct rect r = {0, 0, OPND_VROW(o), OPND_VCOL(o)};
	const struct op_opnd *other;

	if (o->access & ACCESS_WHOLE) {
		r.rows = OPND_ROWS(o);
		r.cols = OPND_COLS(o);
		return r;
	}
	other = o->access & ACCESS_PART ? other_tile(s, f, o) : NULL;
	if (other) {
		uint64_t row = ranges_scalar_of(s, x, ROLE_ROW),
			 col = ranges_scalar_of(s, x, ROLE_COL);

		if (row >= OPND_ROWS(o) || col >= OPND_COLS(o))
			return r; /* a window that starts outside counts as the whole valid part */
		r = (struct rect){row, col, OPND_VROW(other), OPND_VCOL(other)};
		if (r.rows > OPND_ROWS(o) - row)
			r.rows = OPND_ROWS(o) - row;
		if (r.cols > OPND_COLS(o) - col)
			r.cols = OPND_COLS(o) - col;
	}
	return r;
}

/* --- global memory --- */

struct dim {
	uint64_t n, stride;
};

/* Dimensions that have a length and a stride, the smallest stride first. */
static unsigned dims_of(const struct op_opnd *o, struct dim d[5], uint64_t *start)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 5; i++) {
		int64_t stride = o->stride[i];
		struct dim k = {o->shape[i], stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride};
		unsigned at;

		if (k.n <= 1 || stride == 0)
			continue;
		if (stride < 0)
			*start -= k.stride * (k.n - 1);
		for (at = n++; at > 0 && d[at - 1].stride > k.stride; at--)
			d[at] = d[at - 1];
		d[at] = k;
	}
	return n;
}

static bool gm_rows(const struct op_opnd *o, uint64_t base, struct range_list *out)
{
	struct dim d[5];
	uint64_t start = 0;
	unsigned n = dims_of(o, d, &start), k = 0;
	uint64_t run = 1, at[5] = {0};
	size_t first = out->v.n;

	for (; k < n && d[k].stride <= run; k++)
		run = d[k].stride * (d[k].n - 1) + run;
	for (;;) {
		uint64_t elem = 0;
		unsigned i = k;

		for (unsigned q = k; q < n; q++)
			elem += at[q] * d[q].stride;
		elem += start;
		if (!ranges_add(out, first, base + elem * o->bits / 8, (run * o->bits + 7) / 8))
			return false;
		while (i < n && ++at[i] == d[i].n)
			at[i++] = 0;
		if (i >= n || out->is_cut)
			return true;
	}
}

static bool gm_view(
	const struct opstream *s, const struct op_opnd *o, uint64_t offset, struct range_list *out)
{
	for (unsigned i = 0; i < 5; i++)
		if (o->shape[i] == 0)
			return true;
	for (size_t i = 0; i < s->slots.n; i++)
		if (s->slots.v[i].slot == o->slot) {
			if (offset >= RANGES_END || s->slots.v[i].alloc_off >= RANGES_END)
				return true;
			return gm_rows(o, offset + s->slots.v[i].alloc_off, out);
		}
	return true;
}

bool ranges_of(
	const struct opstream *s, const struct op_exec *x, unsigned k, struct range_list *out)
{
	const struct op_opnd *o = &s->opnds.v[s->forms.v[x->form].first_opnd + k];
	uint64_t word = s->words.v[x->first_word + k];
	struct rect r;

	if (!o->access || o->what == OPND_SCALAR)
		return true;
	if (o->what == OPND_GM)
		return gm_view(s, o, word, out);
	if (OPND_VROW(o) == 0 || OPND_VCOL(o) == 0 || word >= RANGES_END)
		return true;
	r = rect_of(s, x, o);
	return o->slayout == SL_NONE_BOX ? plain_tile(o, word, &r, out)
					 : boxed_tile(o, word, &r, out);
}
