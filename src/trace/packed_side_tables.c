/* SPDX-License-Identifier: Apache-2.0 */
/* packed_side_tables.c: occupancy, dispatches, counters, markers, series, links, notes as sections.
 */
#include "trace/packed_tables.h"

void packed_move_occupancy(struct fields *f, struct trace *t)
{
	uint64_t time = 0;
	uint32_t clock = 0, n;

	t->occupancy = fields_array(f, t->occupancy, &t->n_occupancy, sizeof(*t->occupancy), 11);
	n = t->n_occupancy;
	for (uint32_t i = 0; i < n; i++)
		fields_delta_u64(f, &t->occupancy[i].time_cyc, &time);
	for (uint32_t i = 0; i < n; i++)
		fields_delta_u32(f, &t->occupancy[i].clock, &clock);
	for (uint32_t i = 0; i < n; i++)
		fields_u16(f, &t->occupancy[i].cu);
	for (uint32_t i = 0; i < n; i++)
		fields_u8(f, &t->occupancy[i].simd);
	for (uint32_t i = 0; i < n; i++)
		fields_u8(f, &t->occupancy[i].slot);
	for (uint32_t i = 0; i < n; i++)
		fields_u32(f, &t->occupancy[i].kernel_id);
	for (uint32_t i = 0; i < n; i++)
		fields_u8(f, &t->occupancy[i].is_start);
	for (uint32_t i = 0; i < n; i++)
		fields_u8(f, &t->occupancy[i].me);
	for (uint32_t i = 0; i < n; i++)
		fields_u8(f, &t->occupancy[i].pipe);
	for (uint32_t i = 0; i < n; i++)
		fields_u8(f, &t->occupancy[i].workgroup);
	for (uint32_t i = 0; i < n; i++)
		fields_u8(f, &t->occupancy[i].cluster);
}

static void move_event(struct fields *f, struct dispatch_event *d, uint64_t *time)
{
	fields_delta_u64(f, &d->time_cyc, time);
	fields_u32(f, &d->clock);
	fields_bool(f, &d->is_dispatch);
	fields_u32(f, &d->type);
	fields_u32(f, &d->me);
	fields_u32(f, &d->pipe);
	fields_u32(f, &d->kernel_id);
	fields_u32(f, &d->flags);
	fields_str(f, &d->kernel_name);
	fields_i64(f, &d->vgprs);
	fields_i64(f, &d->sgprs);
	fields_i64(f, &d->lds_bytes);
	for (int k = 0; k < 3; k++)
		fields_i64(f, &d->thread_dim[k]);
}

void packed_move_dispatches(struct fields *f, struct trace *t)
{
	uint64_t time = 0;

	t->kernel_names =
		fields_array(f, t->kernel_names, &t->n_kernel_names, sizeof(*t->kernel_names), 2);
	for (uint32_t i = 0; i < t->n_kernel_names; i++) {
		fields_u32(f, &t->kernel_names[i].id);
		fields_str(f, &t->kernel_names[i].name);
	}
	t->dispatch_events = fields_array(
		f, t->dispatch_events, &t->n_dispatch_events, sizeof(*t->dispatch_events), 15);
	for (uint32_t i = 0; i < t->n_dispatch_events; i++)
		move_event(f, &t->dispatch_events[i], &time);
}

/* Sections grew after the first files were written: what came later stands behind, and only where
 * there is something of it, so that old files stay readable and keep their hash. */
static bool has_more(const struct fields *f, bool is_there)
{
	return f->is_reading ? !f->is_failed && f->in.p < f->in.end : is_there;
}

static void move_units(struct fields *f, struct trace *t)
{
	bool has = false;

	for (uint32_t i = 0; i < t->n_counters; i++)
		has |= t->counters[i].unit != NULL;
	if (!has_more(f, has))
		return;
	for (uint32_t i = 0; i < t->n_counters; i++) {
		fields_str(f, &t->counters[i].unit);
		fields_u32(f, &t->counters[i].per_unit);
	}
}

void packed_move_counters(struct fields *f, struct trace *t)
{
	t->counter_names = fields_array(
		f, t->counter_names, &t->n_counter_names, sizeof(*t->counter_names), 1);
	for (uint32_t i = 0; i < t->n_counter_names; i++)
		fields_str(f, &t->counter_names[i]);
	t->counters = fields_array(f, t->counters, &t->n_counters, sizeof(*t->counters), 4);
	for (uint32_t i = 0; i < t->n_counters; i++) {
		struct counter_series *c = &t->counters[i];
		uint64_t *time = (uint64_t *)c->time_cyc, *value = (uint64_t *)c->value, prev = 0;
		uint32_t n;

		fields_str(f, &c->name);
		fields_u32(f, &c->clock);
		fields_u32(f, &c->cu);
		time = fields_array(f, time, &c->n, sizeof(*time), 2);
		n = c->n;
		if (f->is_reading)
			value = arena_zalloc(f->arena, n, sizeof(*value));
		if (f->is_reading && !value) {
			f->is_nomem = true;
			c->n = n = 0;
		}
		for (uint32_t k = 0; k < n; k++)
			fields_delta_u64(f, &time[k], &prev);
		for (uint32_t k = 0; k < n; k++)
			fields_u64(f, &value[k]);
		if (f->is_reading) {
			c->time_cyc = time;
			c->value = value;
		}
	}
	move_units(f, t);
}

void packed_move_markers(struct fields *f, struct trace *t)
{
	uint64_t time = 0, value = 0;

	t->markers = fields_array(f, t->markers, &t->n_markers, sizeof(*t->markers), 7);
	for (uint32_t i = 0; i < t->n_markers; i++) {
		struct marker *m = &t->markers[i];

		fields_delta_u64(f, &m->time_cyc, &time);
		fields_delta_u64(f, &m->value, &value);
		fields_u32(f, &m->clock);
		fields_u16(f, &m->cu);
		fields_u8(f, &m->simd);
		fields_u8(f, &m->slot);
		fields_u8(f, &m->flags);
	}
}

void packed_move_other_issues(struct fields *f, struct trace *t)
{
	uint64_t time = 0;
	uint32_t n;

	t->other_issues =
		fields_array(f, t->other_issues, &t->n_other_issues, sizeof(*t->other_issues), 4);
	n = t->n_other_issues;
	for (uint32_t i = 0; i < n; i++)
		fields_delta_u64(f, &t->other_issues[i].time_cyc, &time);
	for (uint32_t i = 0; i < n; i++)
		fields_u32(f, &t->other_issues[i].dur_cyc);
	for (uint32_t i = 0; i < n; i++)
		fields_u32(f, &t->other_issues[i].category);
	for (uint32_t i = 0; i < n; i++)
		fields_u32(f, &t->other_issues[i].clock);
}

/* Times are stored in clock quanta when all of them are multiples. */
static uint64_t series_scale(const struct stated_series *s, unsigned quantum)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (quantum < 2 || s->time_cyc[i] % quantum)
			return 1;
	return s->n ? quantum : 1;
}

static void move_one_series(struct fields *f, struct stated_series *s, unsigned quantum)
{
	uint64_t scale = f->is_reading ? 1 : series_scale(s, quantum), prev = 0;
	uint64_t *time = (uint64_t *)s->time_cyc;
	uint32_t *count = (uint32_t *)s->count, last = 0, n;

	fields_u32(f, &s->state);
	fields_u64(f, &scale);
	time = fields_array(f, time, &s->n, sizeof(*time), 2);
	n = s->n;
	if (f->is_reading)
		count = arena_zalloc(f->arena, n, sizeof(*count));
	if (f->is_reading && !count) {
		f->is_nomem = true;
		s->n = n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = f->is_reading ? 0 : time[i] / scale;

		fields_delta_u64(f, &v, &prev);
		if (f->is_reading)
			time[i] = v * scale;
	}
	for (uint32_t i = 0; i < n; i++)
		fields_delta_u32(f, &count[i], &last);
	if (f->is_reading) {
		s->time_cyc = time;
		s->count = count;
	}
}

void packed_move_series(struct fields *f, struct trace *t)
{
	t->stated_series = fields_array(
		f, t->stated_series, &t->n_stated_series, sizeof(*t->stated_series), 3);
	for (uint32_t i = 0; i < t->n_stated_series; i++)
		move_one_series(f, &t->stated_series[i], t->meta.clock_quantum);
}

static void move_heads(struct fields *f, struct trace *t)
{
	uint32_t track = 0, slice = 0;

	t->heads = fields_array(f, t->heads, &t->n_heads, sizeof(*t->heads), 3);
	for (uint32_t i = 0; i < t->n_heads; i++)
		fields_delta_u32(f, &t->heads[i].track, &track);
	for (uint32_t i = 0; i < t->n_heads; i++)
		fields_delta_u32(f, &t->heads[i].slice, &slice);
	for (uint32_t i = 0; i < t->n_heads; i++)
		fields_u32(f, &t->heads[i].cache_cyc);
}

static void move_named_table(struct fields *f, struct named_table *k)
{
	const char **cols, **cells;
	uint32_t n_cells = k->n_cols * k->n_rows;

	fields_str(f, &k->name);
	fields_str(f, &k->origin);
	cols = fields_array(f, (void *)k->cols, &k->n_cols, sizeof(*cols), 1);
	for (uint32_t i = 0; i < k->n_cols; i++)
		fields_str(f, &cols[i]);
	fields_u32(f, &k->n_rows);
	cells = fields_array(f, (void *)k->cells, &n_cells, sizeof(*cells), 1);
	for (uint32_t i = 0; i < n_cells; i++)
		fields_str(f, &cells[i]);
	if ((uint64_t)k->n_cols * k->n_rows != n_cells) {
		f->is_failed = true;
		k->n_rows = 0;
	}
	if (f->is_reading) {
		k->cols = cols;
		k->cells = cells;
	}
}

void packed_move_links(struct fields *f, struct trace *t)
{
	uint32_t from = 0, to = 0, from_slice = 0, to_slice = 0;

	t->links = fields_array(f, t->links, &t->n_links, sizeof(*t->links), 5);
	for (uint32_t i = 0; i < t->n_links; i++) {
		struct link *l = &t->links[i];
		uint32_t kind = l->kind;

		fields_delta_u32(f, &l->from_track, &from);
		fields_delta_u32(f, &l->to_track, &to);
		fields_delta_u32(f, &l->from_slice, &from_slice);
		fields_delta_u32(f, &l->to_slice, &to_slice);
		fields_u32(f, &kind);
		f->is_failed |= kind > LINK_FLOW;
		if (f->is_reading)
			l->kind = (enum link_kind)kind;
	}
	if (!has_more(f, t->n_heads || t->n_tables))
		return;
	move_heads(f, t);
	t->tables = fields_array(f, t->tables, &t->n_tables, sizeof(*t->tables), 4);
	for (uint32_t i = 0; i < t->n_tables; i++)
		move_named_table(f, &t->tables[i]);
}

/* Read notes keep the capacity that trace_note() expects: it must be able to add to them. */
static struct note *notes_room(struct fields *f, uint32_t n)
{
	uint32_t cap = 8;
	struct note *v;

	while (cap < n)
		cap *= 2;
	v = arena_zalloc(f->arena, cap, sizeof(*v));
	f->is_nomem |= !v;
	return v;
}

void packed_move_notes(struct fields *f, struct trace *t)
{
	uint32_t n = t->n_notes;

	fields_u32(f, &n);
	if (f->is_reading) {
		t->n_notes = 0;
		if (f->in.is_failed || n > (size_t)(f->in.end - f->in.p) / 6) {
			f->is_failed = true;
			return;
		}
		t->notes = n ? notes_room(f, n) : NULL;
		if (!t->notes)
			return;
		t->n_notes = n;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct note *v = &t->notes[i];
		uint32_t kind = v->kind;

		fields_u32(f, &kind);
		f->is_failed |= kind > NOTE_INFO;
		if (f->is_reading)
			v->kind = (enum note_kind)kind;
		fields_str(f, &v->code);
		fields_str(f, &v->message);
		fields_str(f, &v->path);
		fields_u64(f, &v->offset);
		fields_u64(f, &v->count);
	}
}
