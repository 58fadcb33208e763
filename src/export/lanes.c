/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c: groups, names and rows of tracks; the ends of arrows, sorted by track and slice. */
#include "export/lanes.h"

#include <stdlib.h>

#include "analysis/pipes/pipe_sweep.h"
#include "trace/kind.h"

/* --- lanes --- */

void lanes_init(struct lanes *l, const struct export *x)
{
	const struct trace *t = x->trace;
	bool has_pipes =
		trace_kind(t) == KIND_PIPES && t->levels[2] && strcmp(t->levels[2], "pipe") == 0;

	*l = (struct lanes){.x = x, .has_rows = has_pipes || trace_kind(t) == KIND_TIMELINE};
	clean_rows_init(&l->rows);
}

void lanes_deinit(struct lanes *l)
{
	clean_rows_deinit(&l->rows);
}

bool lanes_begin(struct lanes *l, const struct track *k)
{
	bool has_cores = l->has_rows && trace_kind(l->x->trace) != KIND_TIMELINE;
	uint32_t group = has_cores ? k->coord[0] * 8 + k->coord[1] : k->coord[0];
	bool is_first = !l->track || group != l->group;

	l->track = k;
	l->group = group;
	clean_rows_clear(&l->rows);
	return is_first;
}

bool lanes_row(struct lanes *l, int64_t start, uint32_t dur, uint32_t *row, struct incore_error *e)
{
	*row = clean_rows_put(&l->rows, (double)start, (double)start + (double)dur, 0);
	return *row != CLEAN_NO_ROW || err_nomem(e);
}

struct lanes_span lanes_span_of(const struct lanes *l, const struct export_slice *v)
{
	if (!l->has_rows)
		return (struct lanes_span){
			v->own_cyc, v->own_end_cyc, (uint64_t)(v->own_issue_cyc - v->own_cyc)};
	return (struct lanes_span){v->start_cyc, v->start_cyc + v->dur_cyc, v->stall_cyc};
}

void lanes_put_engine(const struct lanes *l, uint32_t number, struct strbuf *b)
{
	const char *level = l->x->trace->levels[0];

	sb_printf(b, "%s %u", level ? level : "track", number);
}

void lanes_put_group(const struct lanes *l, struct strbuf *b)
{
	if (l->has_rows)
		sb_str(b, pipe_core_name(l->track));
	else
		lanes_put_engine(l, l->group, b);
}

void lanes_put_about(const struct lanes *l, struct strbuf *b)
{
	const struct trace_meta *m = &l->x->trace->meta;

	sb_printf(b, ", %s, %s (%s)", m->kernel ? m->kernel : "kernel", evidence_name(m->evidence),
		l->x->options->is_real_time ? "real time" : "1 ns shown = 1 cycle");
}

void lanes_put_name(const struct lanes *l, uint32_t row, struct strbuf *b)
{
	const char *const *levels = l->x->trace->levels;

	if (l->has_rows || !levels[1])
		sb_puts(b, l->has_rows ? pipe_lane_name(l->track) : l->track->name);
	else
		for (int i = 1; i < TRACK_LEVELS && levels[i]; i++)
			sb_printf(b, "%s%s %u", i > 1 ? " " : "", levels[i], l->track->coord[i]);
	if (row)
		sb_printf(b, " #%u", row);
}

/* --- arrows --- */

void flows_deinit(struct lane_flows *f)
{
	VEC_FREE(&f->ends);
	VEC_FREE(&f->starting);
	VEC_FREE(&f->ending);
}

static int flows_compare_ends(const void *a, const void *b)
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

static void sort_ends(struct lane_flows *f)
{
	if (!f->is_sorted && f->ends.n)
		qsort(f->ends.v, f->ends.n, sizeof(*f->ends.v), flows_compare_ends);
	f->is_sorted = true;
}

static bool add_ends(struct lane_flows *f, struct flow_end from, struct flow_end to)
{
	f->is_sorted = false;
	return VEC_PUSH(&f->ends, from) && VEC_PUSH(&f->ends, to);
}

/* Finds which ends are written. With a window this depends on the times of slices, so each linked
 * track is read. */
static bool flows_count_written(const struct lane_flows *f, const struct export *x,
	uint8_t *n_written, struct incore_error *e)
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

static bool drop_unwritten(struct lane_flows *f, struct export *x, struct incore_error *e)
{
	uint8_t *n_written = mem_zalloc((size_t)x->trace->n_links + 1, 1);
	size_t n = 0;
	bool ok = n_written ? flows_count_written(f, x, n_written, e) : err_nomem(e);

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

bool flows_of_links(struct lane_flows *f, const struct trace *t, struct incore_error *e)
{
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
	return true;
}

bool flows_of_selected(struct lane_flows *f, struct export *x, struct incore_error *e)
{
	return flows_of_links(f, x->trace, e) && drop_unwritten(f, x, e);
}

void flows_clear(struct lane_flows *f)
{
	f->ends.n = f->next = 0;
}

bool flows_add(struct lane_flows *f, const struct export_link *l, struct incore_error *e)
{
	return add_ends(f,
		       (struct flow_end){
			       l->from_track, l->from_slice, false, l->id, LINK_FLOW, l->to_track},
		       (struct flow_end){
			       l->to_track, l->to_slice, true, l->id, LINK_FLOW, l->from_track}) ||
	       err_nomem(e);
}

const struct flow_end *flows_at(struct lane_flows *f, track_idx track, uint32_t slice, size_t *n)
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

bool flows_ids(struct lane_flows *f, track_idx track, uint32_t slice)
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
