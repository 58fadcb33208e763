/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_machine.c: every wave of the machine: those of all SEs and CUs, also of the CUs that were
 * not traced, from the starts and ends that the capture records; without such records: the traced
 * waves. A row is a wave slot, which holds one wave at a time. Parts: the rows; the answers.
 */
#include "base/mem.h"
#include "base/search.h"
#include "serve/view/tile_frame.h"
#include "serve/view/view_index.h"

#define MACHINE_MAX_ROWS 65536u
#define FLAG_BEGIN_END 8u

/* --- the rows --------------------------------------------------------------------------------- */

struct machine_event {
	uint64_t place, time; /* place: SE, CU, SIMD, slot, 16 bits each; time of the screen */
	uint32_t order, kernel_id;
	bool is_start;
};

ORDER(machine_event_order, struct machine_event, UP(place) UP(time) UP(is_start) UP(order))

static uint64_t place_of(uint64_t se, uint64_t cu, uint64_t simd, uint64_t slot)
{
	return (se & 0xffff) << 48 | (cu & 0xffff) << 32 | (simd & 0xffff) << 16 | (slot & 0xffff);
}

static unsigned place_part(uint64_t place, unsigned level)
{
	return (unsigned)(place >> (48 - 16 * level) & 0xffff);
}

static uint64_t machine_time(const struct view *v, clock_idx clock, uint64_t time_cyc)
{
	int64_t t = trace_aligned(v->trace, clock, time_cyc) - v->origin_cyc;

	return t < 0 ? 0 : (uint64_t)t;
}

static struct machine_event event_at(const struct view *v, size_t i)
{
	const struct trace *t = v->trace;

	if (t->n_occupancy) {
		const struct occupancy_event *x = &t->occupancy[i];
		uint32_t se = x->clock < t->n_clocks ? t->clocks[x->clock].id : 0;

		return (struct machine_event){place_of(se, x->cu, x->simd, x->slot),
			machine_time(v, x->clock, x->time_cyc), (uint32_t)i, x->kernel_id,
			x->is_start};
	}
	const struct track *k = &t->tracks[i / 2];
	bool is_start = i % 2 == 0;

	return (struct machine_event){place_of(k->coord[0], k->coord[1], k->coord[2], k->coord[3]),
		machine_time(v, k->clock, is_start ? k->begin_cyc : k->end_cyc), (uint32_t)i,
		k->kernel_id, is_start};
}

static bool has_slots(const struct trace *t)
{
	static const char *const levels[] = {"se", "cu", "simd", "slot"};

	for (unsigned i = 0; i < 4; i++)
		if (!t->levels[i] || strcmp(t->levels[i], levels[i]) != 0)
			return false;
	return true;
}

/* The wave that starts with event *i, which moves on; an end without a start is counted. False: it
 * was one. */
static bool take_wave(const struct machine_event *v, size_t n, size_t *i, struct machine *m,
	struct machine_wave *out)
{
	const struct machine_event *start = &v[(*i)++];
	bool is_there = *i < n && v[*i].place == start->place;

	if (!start->is_start) {
		m->n_stray++;
		return false;
	}
	*out = (struct machine_wave){start->time, UINT64_MAX, start->kernel_id};
	if (!is_there || v[*i].is_start) { /* its end was lost */
		m->n_open++;
		out->end = is_there ? v[*i].time : UINT64_MAX;
	} else {
		out->end = v[(*i)++].time;
	}
	return true;
}

static void make_rows(const struct machine_event *v, size_t n, struct machine *m)
{
	struct machine_wave wave;

	for (size_t i = 0; i < n;) {
		uint64_t place = v[i].place;

		if (!take_wave(v, n, &i, m, &wave))
			continue;
		if (m->n_rows == 0 || m->rows[m->n_rows - 1].place != place)
			m->rows[m->n_rows++] = (struct machine_row){place, m->n_waves, 0, false};
		m->rows[m->n_rows - 1].n++;
		m->waves[m->n_waves++] = wave;
	}
}

/* Marks the rows of which some wave was traced. */
static bool mark_traced(const struct trace *t, struct machine *m)
{
	uint64_t *places = mem_alloc(((size_t)t->n_tracks + 1) * sizeof(*places));
	uint32_t at = 0;

	if (!places)
		return false;
	for (track_idx i = 0; i < t->n_tracks; i++) {
		const uint32_t *c = t->tracks[i].coord;

		places[i] = place_of(c[0], c[1], c[2], c[3]);
	}
	SORT(places, t->n_tracks, compare_u64);
	for (uint32_t i = 0; i < m->n_rows; i++) {
		while (at < t->n_tracks && places[at] < m->rows[i].place)
			at++;
		m->rows[i].is_traced = at < t->n_tracks && places[at] == m->rows[i].place;
	}
	mem_free(places);
	return true;
}

bool machine_make(struct view *v, struct incore_error *e)
{
	const struct trace *t = v->trace;
	size_t n = !has_slots(t) ? 0 : t->n_occupancy ? t->n_occupancy : (size_t)t->n_tracks * 2;
	struct machine *m = mem_zalloc(1, sizeof(*m));
	struct machine_event *events = mem_alloc((n + 1) * sizeof(*events));

	v->index->machine = m;
	if (m) {
		m->rows = mem_alloc((n + 1) * sizeof(*m->rows));
		m->waves = mem_alloc((n + 1) * sizeof(*m->waves));
	}
	if (!m || !events || !m->rows || !m->waves) {
		mem_free(events);
		machine_free(v);
		return err_nomem(e);
	}
	for (size_t i = 0; i < n; i++)
		events[i] = event_at(v, i);
	SORT(events, n, machine_event_order);
	make_rows(events, n, m);
	mem_free(events);
	if (mark_traced(t, m))
		return true;
	machine_free(v);
	return err_nomem(e);
}

void machine_free(struct view *v)
{
	if (!v->index->machine)
		return;
	mem_free(v->index->machine->rows);
	mem_free(v->index->machine->waves);
	mem_free(v->index->machine);
	v->index->machine = NULL;
}

/* --- the answers ------------------------------------------------------------------------------ */

static void put_row(const struct machine_row *r, struct json_writer *w)
{
	json_w_row(w);
	for (unsigned level = 0; level < 4; level++)
		json_w_u64(w, place_part(r->place, level));
	json_w_u64(w, r->n);
	json_w_u64(w, r->is_traced);
	json_w_end(w);
}

/* The first wave of a row that ends after t. */
static uint32_t wave_after(const struct machine *m, const struct machine_row *r, uint64_t t)
{
	uint32_t lo = r->first, hi = r->first + r->n;

	BISECT(lo, hi, i, m->waves[i].end <= t);
	return lo;
}

static void put_wave(
	const struct view *v, const struct machine_row *r, uint64_t t, struct json_writer *w)
{
	const struct machine *m = v->index->machine;
	uint32_t i = wave_after(m, r, t);
	const struct machine_wave *x = &m->waves[i];

	if (i == r->first + r->n || x->begin > t) {
		json_w_kv_null(w, "wave");
		return;
	}
	json_w_kv_row_object(w, "wave");
	json_w_kv_u64(w, "begin", x->begin);
	if (x->end == UINT64_MAX)
		json_w_kv_null(w, "end");
	else
		json_w_kv_u64(w, "end", x->end);
	if (x->kernel_id == UINT32_MAX)
		json_w_kv_null(w, "kernel");
	else
		json_w_kv_u64(w, "kernel", x->kernel_id);
	json_w_end(w);
}

bool view_machine(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct machine *m = v->index->machine;
	uint32_t shown = m->n_rows < MACHINE_MAX_ROWS ? m->n_rows : MACHINE_MAX_ROWS;
	uint64_t row, t;
	struct json_writer w;

	if (!query_number(q, "row", shown, shown, &row, e) ||
		!query_number(q, "t", 0, INT64_MAX, &t, e))
		return false;
	json_w_buf(&w, out, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view.machine/1");
	if (row < shown) {
		put_wave(v, &m->rows[row], t, &w);
	} else {
		json_w_kv_bool(&w, "is_from_tracks", v->trace->n_occupancy == 0);
		json_w_kv_u64(&w, "waves", m->n_waves);
		json_w_kv_u64(&w, "unmatched_ends", m->n_stray);
		json_w_kv_u64(&w, "open", m->n_open);
		json_w_kv_u64(&w, "left_out", m->n_rows - shown);
		json_w_kv_array(&w, "rows"); /* SE, CU, SIMD, slot, waves, was it traced */
		for (uint32_t i = 0; i < shown; i++)
			put_row(&m->rows[i], &w);
		json_w_end(&w);
	}
	json_w_end(&w);
	return json_w_finish(&w, e);
}

struct machine_cell {
	uint64_t sums[SLOT_COUNT]; /* by kernel number modulo their number */
	uint32_t waves;
	bool is_edge;
};

/* Adds the waves of a row to the cells that begin at t0. */
static void add_row(const struct machine *m, const struct machine_row *r,
	const struct tile_frame *f, struct machine_cell *cells)
{
	uint64_t width = UINT64_C(1) << f->level, t1 = f->t0 + VIEW_TILE_CELLS * width;

	for (uint32_t i = wave_after(m, r, f->t0); i < r->first + r->n; i++) {
		const struct machine_wave *x = &m->waves[i];
		uint64_t from = x->begin > f->t0 ? x->begin : f->t0, to = x->end < t1 ? x->end : t1;
		unsigned key = x->kernel_id == UINT32_MAX ? SLOT_OTHER : x->kernel_id % SLOT_COUNT;

		if (x->begin >= t1)
			return;
		if (f->kernel != TILE_ANY_KERNEL && x->kernel_id != f->kernel)
			continue;
		for (uint64_t c = (from - f->t0) >> f->level; from < to; c++) {
			uint64_t next = f->t0 + (c + 1) * width;

			next = next < to ? next : to;
			cells[c].sums[key] += next - from;
			cells[c].waves++;
			cells[c].is_edge |= from == x->begin || next == x->end;
			from = next;
		}
	}
}

/* slots: how many rows the cell stands for: their waves can fill it so often. */
static void put_cell(const struct machine_cell *c, unsigned level, uint32_t slots, uint8_t *out)
{
	uint64_t covered = 0;
	unsigned best = 0;

	for (unsigned k = 0; k < SLOT_COUNT; k++) {
		covered += c->sums[k];
		best = c->sums[k] > c->sums[best] ? k : best;
	}
	out[0] = (uint8_t)(covered ? best : CELL_NOTHING);
	out[1] = tile_share(covered / slots + (covered % slots != 0), level);
	out[2] = 0;
	out[3] = (uint8_t)((c->waves > slots ? CELL_SEVERAL : 0) |
			   (c->is_edge && slots == 1 ? FLAG_BEGIN_END : 0));
}

bool view_resident(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct machine *m = v->index->machine;
	struct machine_cell *room;
	struct query_ranges ranges;
	struct tile_frame f;
	uint8_t *cells;

	if (m->n_rows == 0)
		return err_set(e, INCORE_USAGE, "bad-query", "this capture has no wave slots");
	if (!query_set(q, "rows", m->n_rows, &ranges, e) || !tile_frame_ranges(q, &ranges, &f, e) ||
		!tile_frame_put(&f, "ICT1", TILE_KERNEL, out, &cells, e))
		return false;
	room = mem_alloc(VIEW_TILE_CELLS * sizeof(*room));
	if (!room)
		return err_nomem(e);
	for (uint32_t i = 0; i < f.rows; i++) {
		memset(room, 0, VIEW_TILE_CELLS * sizeof(*room));
		for (uint32_t k = f.row[i].first; k <= f.row[i].last; k++)
			add_row(m, &m->rows[k], &f, room);
		for (uint32_t c = 0; c < VIEW_TILE_CELLS; c++, cells += TILE_CELL_BYTES)
			put_cell(&room[c], f.level, f.row[i].last - f.row[i].first + 1, cells);
	}
	mem_free(room);
	return true;
}
