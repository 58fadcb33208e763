/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_pipes.c: rows for slices in flight at once, and positions of linked slices. */
#include "export/chrome_pipes.h"

#include "base/mem.h"

static bool add_end(struct chrome_pipes *p, track_idx track, uint32_t slice)
{
	uint64_t *at = u64_map_at(&p->linked, (uint64_t)track << 32 | slice);

	if (!at)
		return false;
	if (*at)
		return true;
	*at = p->ends.n + 1;
	return VEC_PUSH(&p->ends, (struct chrome_end){0});
}

bool chrome_pipes_init(struct chrome_pipes *p, const struct trace *t, struct incore_error *e)
{
	*p = (struct chrome_pipes){.next_tid = 1};
	clean_rows_init(&p->rows);
	for (uint32_t i = 0; i < t->n_links; i++)
		if (!add_end(p, t->links[i].from_track, t->links[i].from_slice) ||
			!add_end(p, t->links[i].to_track, t->links[i].to_slice))
			return err_nomem(e);
	return true;
}

void chrome_pipes_deinit(struct chrome_pipes *p)
{
	clean_rows_deinit(&p->rows);
	VEC_FREE(&p->row_of);
	u64_map_deinit(&p->linked);
	VEC_FREE(&p->ends);
}

bool chrome_pipes_track(struct chrome_pipes *p, const struct track_data *d, struct incore_error *e)
{
	clean_rows_clear(&p->rows);
	p->row_of.n = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		double start = (double)d->start_cyc[i];
		uint32_t row = clean_rows_put(&p->rows, start, start + (double)d->dur_cyc[i], 0);

		if (row == CLEAN_NO_ROW || !VEC_PUSH(&p->row_of, row))
			return err_nomem(e);
	}
	p->n_rows = p->rows.n_rows ? p->rows.n_rows : 1;
	p->first_tid = p->next_tid;
	p->next_tid += p->n_rows;
	return true;
}

void chrome_pipes_keep(struct chrome_pipes *p, const struct export_slice *s, uint32_t pid)
{
	uint64_t *at = u64_map_find(&p->linked, (uint64_t)s->track << 32 | s->index);

	if (at)
		p->ends.v[*at - 1] = (struct chrome_end){
			pid, p->first_tid + p->row_of.v[s->index], s->start_cyc, s->dur_cyc, true};
}

const struct chrome_end *chrome_pipes_end(
	const struct chrome_pipes *p, track_idx track, uint32_t slice)
{
	const uint64_t *at = u64_map_find(&p->linked, (uint64_t)track << 32 | slice);

	return at && p->ends.v[*at - 1].is_written ? &p->ends.v[*at - 1] : NULL;
}
