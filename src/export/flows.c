/* SPDX-License-Identifier: Apache-2.0 */
/* flows.c: the ends of arrows, sorted by track and slice. */
#include "export/flows.h"

#include <stdlib.h>

#include "analysis/pipes/pipe_sweep.h"

void flows_deinit(struct flows *f)
{
	VEC_FREE(&f->ends);
	VEC_FREE(&f->starting);
	VEC_FREE(&f->ending);
}

static int compare_ends(const void *a, const void *b)
{
	const struct flow_end *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void sort_ends(struct flows *f)
{
	if (!f->is_sorted && f->ends.n)
		qsort(f->ends.v, f->ends.n, sizeof(*f->ends.v), compare_ends);
	f->is_sorted = true;
}

static bool add_ends(struct flows *f, struct flow_end from, struct flow_end to)
{
	f->is_sorted = false;
	return VEC_PUSH(&f->ends, from) && VEC_PUSH(&f->ends, to);
}

/* Finds which ends are written. With a window this depends on the times of slices, so each linked
 * track is read. */
static bool count_written(
	const struct flows *f, const struct export *x, uint8_t *n_written, struct incore_error *e)
{
	const struct selection *s = x->options->walk.selection;
	bool has_window = s && (s->has_from || s->has_to), is_selected = false, ok = true;
	uint64_t from = 0, to = UINT64_MAX;
	track_idx open = NO_TRACK;
	struct track_data d = {0};

	for (size_t i = 0; ok && i < f->ends.n; i++) {
		const struct flow_end *v = &f->ends.v[i];

		if (v->track != open) {
			const struct track *k = &x->trace->tracks[v->track];

			open = v->track;
			is_selected = !s || selection_has(s, x->trace, k);
			if (is_selected && has_window) {
				selection_window(s, x->trace, k, &from, &to);
				ok = trace_load_track(x->trace, open, 0, &d, e);
			}
		}
		if (ok && is_selected &&
			(!has_window || (v->slice < d.n && d.start_cyc[v->slice] >= from &&
						d.start_cyc[v->slice] < to)))
			n_written[v->id - 1]++;
	}
	track_data_deinit(&d);
	return ok;
}

static bool drop_unwritten(struct flows *f, struct export *x, struct incore_error *e)
{
	uint8_t *n_written = mem_zalloc((size_t)x->trace->n_links + 1, 1);
	size_t n = 0;
	bool ok = n_written ? count_written(f, x, n_written, e) : err_nomem(e);

	for (size_t i = 0; ok && i < f->ends.n; i++)
		if (n_written[f->ends.v[i].id - 1] == 2)
			f->ends.v[n++] = f->ends.v[i];
	if (ok) {
		f->ends.n = n;
		x->result->n_links += n / 2;
	}
	mem_free(n_written);
	return ok;
}

bool flows_of_links(struct flows *f, struct export *x, struct incore_error *e)
{
	const struct trace *t = x->trace;

	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct link *l = &t->links[i];
		uint64_t id = (uint64_t)i + 1;

		if (!add_ends(f,
			    (struct flow_end){l->from_track, l->from_slice, false, id,
				    (uint8_t)l->kind, l->to_track},
			    (struct flow_end){l->to_track, l->to_slice, true, id, (uint8_t)l->kind,
				    l->from_track}))
			return err_nomem(e);
	}
	sort_ends(f);
	return drop_unwritten(f, x, e);
}

void flows_clear(struct flows *f)
{
	f->ends.n = f->next = 0;
}

bool flows_add(struct flows *f, const struct export_link *l, struct incore_error *e)
{
	return add_ends(f,
		       (struct flow_end){
			       l->from_track, l->from_slice, false, l->id, LINK_FLOW, l->to_track},
		       (struct flow_end){
			       l->to_track, l->to_slice, true, l->id, LINK_FLOW, l->from_track}) ||
	       err_nomem(e);
}

const struct flow_end *flows_at(struct flows *f, track_idx track, uint32_t slice, size_t *n)
{
	size_t first;

	sort_ends(f);
	while (f->next < f->ends.n &&
		(f->ends.v[f->next].track < track ||
			(f->ends.v[f->next].track == track && f->ends.v[f->next].slice < slice)))
		f->next++;
	first = f->next;
	while (f->next < f->ends.n && f->ends.v[f->next].track == track &&
		f->ends.v[f->next].slice == slice)
		f->next++;
	*n = f->next - first;
	return *n ? &f->ends.v[first] : NULL;
}

bool flows_ids(struct flows *f, track_idx track, uint32_t slice)
{
	size_t n;
	const struct flow_end *v = flows_at(f, track, slice, &n);

	f->starting.n = f->ending.n = 0;
	for (size_t i = 0; i < n; i++)
		if (!(v[i].is_end ? VEC_PUSH(&f->ending, v[i].id)
				  : VEC_PUSH(&f->starting, v[i].id)))
			return false;
	return true;
}

bool export_has_lanes(const struct trace *t)
{
	bool has_pipes = trace_has_pipes(t) && t->levels[2] && strcmp(t->levels[2], "pipe") == 0;

	return has_pipes || trace_is_timeline(t);
}

uint32_t export_unit_of(const struct trace *t, const struct track *k)
{
	return trace_is_timeline(t) ? k->coord[0] : k->coord[0] * 8 + k->coord[1];
}
