/* SPDX-License-Identifier: Apache-2.0 */
/* diff_fill.c: sums of a capture by the result of comparing its rows with another capture. */
#include "base/mem.h"
#include "serve/view/view_index.h"

void diff_sums_drop(struct view *v)
{
	split_sums_free(&v->index->diff);
	v->index->diff_base = NULL;
}

static void set_keys(const struct view *v, const uint8_t *row_keys, struct split_sums *s)
{
	const struct columns *c = v->columns;
	uint64_t at = 0;

	for (uint32_t k = 0; k < c->n_lanes; k++) {
		const struct lane *l = &c->lanes[k];

		s->splits[k] = (struct lane_split){
			.mode = SPLIT_SLICE, .width = SPLIT_WIDTH_NARROW, .keys = s->keys + at};
		for (uint32_t i = 0; i < l->n; i++)
			s->keys[at++] = row_keys[l->code[i] < v->trace->n_code ? l->code[i]
									       : v->trace->n_code];
	}
}

bool diff_sums_fill(
	struct view *v, const struct view *base, const uint8_t *row_keys, struct incore_error *e)
{
	const struct columns *c = v->columns;
	struct split_sums *s = &v->index->diff;

	diff_sums_drop(v);
	s->splits = mem_zalloc((size_t)c->n_lanes + 1, sizeof(*s->splits));
	s->keys = mem_alloc((size_t)c->n_slices + 1);
	if (!s->splits || !s->keys)
		return err_nomem(e);
	set_keys(v, row_keys, s);
	if (!split_sums_build(s, c))
		return err_nomem(e);
	v->index->diff_base = base;
	return true;
}
