/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.c: makes the trace: converts microseconds to cycles and lanes to tracks, and sorts the
 * slices, which stay where they were read.
 */
#include <math.h>

#include "base/mem.h"
#include "base/search.h"
#include "import/ascend/ascend.h"

track_idx asc_track_of(const struct asc_build *b, uint32_t lane)
{
	const struct asc_lane *l = &b->lanes.v[lane];

	return b->units.v[l->unit_idx].track_of[l->pipe] - 1;
}

/* --- cycles --- */

static uint64_t cycles_of(double us, double mhz)
{
	return (uint64_t)llround(us * mhz);
}

static uint32_t clamp(struct asc_build *b, uint64_t v)
{
	if (v <= UINT32_MAX)
		return (uint32_t)v;
	b->counts[ASC_CLAMPED]++;
	return UINT32_MAX;
}

static void to_cycles(struct asc_build *b, struct track_slice *r, double mhz)
{
	double ts, us;
	float f;

	memcpy(&ts, &r->start, sizeof(ts));
	memcpy(&f, &r->dur, sizeof(f));
	us = r->flags & REC_LONG ? b->long_us.v[r->dur] : (double)f;
	r->start = cycles_of(ts, mhz);
	r->dur = clamp(b, cycles_of(us, mhz));
}

/* The head cost precedes the instruction and becomes part of its slice. */
static void fold_head(struct asc_build *b, struct track_slice *r, struct asc_extra *x, double mhz)
{
	double scale = b->is_ticks ? 1 : mhz;
	uint64_t cache = cycles_of(x->cache, scale), stall = cache + cycles_of(x->ccu, scale);

	x->end = r->start + r->dur;
	if (stall > r->start || stall > UINT32_MAX - r->dur) {
		b->counts[ASC_CLAMPED]++;
		stall = r->start < UINT32_MAX - r->dur ? r->start : UINT32_MAX - r->dur;
		cache = cache < stall ? cache : stall;
	}
	r->start -= stall;
	r->dur += (uint32_t)stall;
	x->stall_cyc = (uint32_t)stall;
	x->cache_cyc = (uint32_t)cache;
	b->n_heads += stall != 0;
}

static void finish_lane(struct asc_build *b, struct asc_lane *l, double mhz)
{
	struct asc_unit *u = &b->units.v[l->unit_idx];

	EACH (struct track_slice, r, l->recs.v, l->recs.n) {
		struct code_row *c = &b->code.v[r->code];
		struct asc_row *row = &b->rows.v[r->code];

		if (!b->is_ticks)
			to_cycles(b, r, mhz);
		row->cyc += r->dur;
		if (!row->is_kind_known) {
			c->code_object = u->at.kind;
			row->is_kind_known = true;
		}
		if (r->flags & REC_EXTRA)
			fold_head(b, r, &b->extras.v[r->stall], mhz);
		r->tag = (uint8_t)l->pipe;
		r->inst_class = (uint8_t)ascend_class(l->pipe, b->opcodes.strs[c->opcode]);
		c->inst_class = r->inst_class;
		if (r->start < u->begin)
			u->begin = r->start;
		if (r->start + r->dur > u->end)
			u->end = r->start + r->dur;
		mem_step((size_t)(r - l->recs.v));
	}
}

/* --- order --- */

static bool is_before(
	const struct code_row *code, const struct track_slice *a, const struct track_slice *c)
{
	uint64_t a_end = a->start + a->dur, c_end = c->start + c->dur;

	if (a->start != c->start)
		return a->start < c->start;
	if (a_end != c_end)
		return a_end < c_end;
	if (code && code[a->code].address != code[c->code].address)
		return code[a->code].address < code[c->code].address;
	return a->code < c->code;
}

static void sift(const struct code_row *code, struct track_slice *v, size_t at, size_t n)
{
	struct track_slice r = v[at];

	for (size_t kid = 2 * at + 1; kid < n; kid = 2 * at + 1) {
		if (kid + 1 < n && is_before(code, &v[kid], &v[kid + 1]))
			kid++;
		if (!is_before(code, &r, &v[kid]))
			break;
		v[at] = v[kid];
		at = kid;
	}
	v[at] = r;
}

static void heap_sort(const struct code_row *code, struct track_slice *v, size_t n)
{
	for (size_t i = n / 2; i-- > 0;) {
		sift(code, v, i, n);
		mem_step(i);
	}
	for (size_t i = n; i-- > 1;) {
		struct track_slice r = v[0];

		v[0] = v[i];
		v[i] = r;
		sift(code, v, 0, i);
		mem_step(i);
	}
}

/* Producers write a pipe sorted by end: slices are only a few places off, so that insertion sort is
 * linear. It sorts in place, because a copy of the slices would be the memory peak. */
void asc_sort_recs(const struct code_row *code, struct track_slice *v, size_t n)
{
	size_t moves = 0;

	for (size_t i = 1; i < n; i++) {
		struct track_slice r = v[i];
		size_t k = i;

		for (; k > 0 && is_before(code, &r, &v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = r;
		moves += i - k;
		mem_step(i);
		if (moves > 16 * n) {
			heap_sort(code, v, n);
			return;
		}
	}
}

/* --- tracks --- */

ORDER_AT(unit_cmp, struct asc_unit, UP(at.core) UP(at.unit))

static const char *track_name(struct asc_build *b, const struct asc_unit *u, unsigned pipe)
{
	char buf[16];

	if (pipe >= PIPE_OTHER0)
		return arena_printf(&b->trace->arena, "%s/%.*s", u->name,
			STR_ARG(u->others[pipe - PIPE_OTHER0]));
	return arena_printf(&b->trace->arena, "%s/%s", u->name, ascend_pipe_name(pipe, buf));
}

static bool add_tracks(struct asc_build *b, struct asc_unit *u, clock_idx clock)
{
	struct trace *t = b->trace;

	for (unsigned pipe = 0; pipe < 256; pipe++) {
		struct track *k = &t->tracks[t->n_tracks];

		if (!u->track_of[pipe])
			continue;
		*k = (struct track){.coord = {u->at.core, u->at.unit, pipe},
			.clock = clock,
			.begin_cyc = u->begin,
			.end_cyc = u->end,
			.kernel_id = UINT32_MAX,
			.name = track_name(b, u, pipe),
			.workgroup = NO_VALUE};
		if (!k->name)
			return false;
		u->track_of[pipe] = ++t->n_tracks;
	}
	return true;
}

/* One clock domain per core: the simulator counts common ticks for all of them. */
static bool add_units(struct asc_build *b, struct asc_unit **order)
{
	struct trace *t = b->trace;

	t->clocks = arena_zalloc(&t->arena, b->units.n + 1, sizeof(*t->clocks));
	if (!t->clocks)
		return false;
	for (size_t i = 0; i < b->units.n; i++) {
		struct asc_unit *u = order[i];

		if (i == 0 || order[i - 1]->at.core != u->at.core)
			t->clocks[t->n_clocks++] = (struct clock_domain){.id = u->at.core,
				.is_aligned = true,
				.hz_num = t->meta.clock_hz_num,
				.hz_den = t->meta.clock_hz_den};
		if (!add_tracks(b, u, t->n_clocks - 1))
			return false;
	}
	if (t->n_clocks)
		t->reference_clock = 0;
	return true;
}

static size_t count_tracks(struct asc_build *b)
{
	size_t n = 0;

	EACH (const struct asc_lane, l, b->lanes.v, b->lanes.n) {
		if (l->unit_idx == NO_TRACK || b->units.v[l->unit_idx].track_of[l->pipe])
			continue;
		b->units.v[l->unit_idx].track_of[l->pipe] = 1;
		n++;
	}
	return n;
}

static bool make_tracks(struct asc_build *b)
{
	struct trace *t = b->trace;
	struct asc_unit **order = mem_zalloc(b->units.n + 1, sizeof(*order));
	size_t n = count_tracks(b);
	struct mem_tracks *m = mem_tracks_new(t);
	bool ok = order && m && VEC_RESERVE(&m->slices, n);

	t->tracks = arena_zalloc(&t->arena, n + 1, sizeof(*t->tracks));
	ok = ok && t->tracks;
	for (size_t i = 0; ok && i < n; i++)
		m->slices.v[m->slices.n++] = NULL;
	for (size_t i = 0; ok && i < b->units.n; i++)
		order[i] = &b->units.v[i];
	if (ok && b->units.n)
		SORT(order, b->units.n, unit_cmp);
	ok = ok && add_units(b, order);
	mem_free(order);
	return ok;
}

/* Moves the slices of all lanes of a track into one array. */
static bool take_lanes(struct asc_build *b)
{
	struct trace *t = b->trace;
	struct track_slice **slices = ((struct mem_tracks *)t->loader_ctx)->slices.v;
	uint64_t *total = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*total));

	if (!total)
		return false;
	for (size_t i = 0; i < b->lanes.n; i++)
		if (b->lanes.v[i].unit_idx != NO_TRACK)
			total[asc_track_of(b, (uint32_t)i)] += b->lanes.v[i].recs.n;
	for (size_t i = 0; i < b->lanes.n; i++) {
		struct asc_lane *l = &b->lanes.v[i];
		track_idx k = l->unit_idx != NO_TRACK ? asc_track_of(b, (uint32_t)i) : NO_TRACK;
		uint32_t *n;
		void *grown;

		if (k == NO_TRACK || total[k] > UINT32_MAX)
			continue;
		n = &t->tracks[k].n_slices;
		if (*n == 0) {
			slices[k] = l->recs.v;
			l->recs.v = NULL;
		}
		if (*n + l->recs.n < total[k] || *n) {
			grown = mem_resize(slices[k], (size_t)total[k], sizeof(struct track_slice));
			if (!grown) {
				mem_free(total);
				return false;
			}
			slices[k] = grown;
		}
		if (l->recs.v)
			memcpy(slices[k] + *n, l->recs.v, l->recs.n * sizeof(struct track_slice));
		*n += (uint32_t)l->recs.n;
		VEC_FREE(&l->recs);
	}
	mem_free(total);
	return true;
}

/* --- places in the text --- */

/* Stores the event of each slice; a slice without an extra had it in its stall field. */
static bool put_places(struct asc_build *b, track_idx k, struct track_slice *v)
{
	struct trace_text *x = b->trace->text;
	uint32_t n = b->trace->tracks[k].n_slices, *out = mem_resize(NULL, n + 1, sizeof(*out));

	x->of_track[k] = out;
	for (uint32_t i = 0; out && i < n; i++) {
		const struct asc_extra *extra;

		mem_step(i);
		if (!(v[i].flags & REC_EXTRA)) {
			out[i] = v[i].stall;
			v[i].stall = 0;
			continue;
		}
		extra = &b->extras.v[v[i].stall];
		out[i] = extra->event;
		if ((extra->cache > 0 || extra->ccu > 0) &&
			!VEC_PUSH(&x->heads, (struct text_head){out[i], extra->cache, extra->ccu}))
			return false;
	}
	return out != NULL;
}

static bool is_lone_head(const struct asc_build *b, uint32_t extra)
{
	return extra == NO_EXTRA ||
	       (b->extras.v[extra].lane == NO_TRACK && !b->extras.v[extra].is_linked);
}

static bool begin_places(struct asc_build *b)
{
	struct trace_text *x = b->trace->text;
	size_t n = 0;

	for (size_t i = 0; i < x->lone_heads.n; i++) {
		mem_step(i);
		if (is_lone_head(b, b->head_extras.v[i]))
			x->lone_heads.v[n++] = x->lone_heads.v[i];
	}
	x->lone_heads.n = n;
	x->n_tracks = b->trace->n_tracks;
	x->of_track = mem_zalloc((size_t)x->n_tracks + 1, sizeof(*x->of_track));
	return x->of_track != NULL;
}

/* Sorts a track and updates the slice indices of its flags and head costs. */
static bool settle_track(struct asc_build *b, track_idx k)
{
	struct trace *t = b->trace;
	struct track_slice *v = mem_tracks_at(t, k);

	asc_sort_recs(b->code.v, v, t->tracks[k].n_slices);
	if (b->trace->text && !put_places(b, k, v))
		return false;
	for (uint32_t i = 0; i < t->tracks[k].n_slices; i++) {
		struct asc_extra *x;

		mem_step(i);
		if (!(v[i].flags & REC_EXTRA))
			continue;
		x = &b->extras.v[v[i].stall];
		x->slice = i;
		v[i].stall = x->stall_cyc;
		if (x->stall_cyc)
			t->heads[t->n_heads++] = (struct head_cost){k, i, x->cache_cyc};
	}
	return true;
}

static bool put_counters(struct asc_build *b, double mhz)
{
	struct trace *t = b->trace;

	t->counters = arena_zalloc(&t->arena, b->series.n + 1, sizeof(*t->counters));
	t->counter_names = arena_zalloc(&t->arena, b->series.n + 1, sizeof(*t->counter_names));
	if (!t->counters || !t->counter_names)
		return false;
	EACH (const struct asc_series, s, b->series.v, b->series.n) {
		uint64_t *time = arena_zalloc(&t->arena, s->ts.n + 1, sizeof(*time));
		uint64_t *value = arena_memdup(&t->arena, s->value.v, s->value.n * sizeof(*value));

		if (!time || (s->value.n && !value) || s->ts.n > UINT32_MAX)
			return false;
		for (size_t k = 0; k < s->ts.n; k++)
			time[k] = cycles_of(s->ts.v[k], b->is_ticks ? 1 : mhz);
		t->counters[t->n_counters++] = (struct counter_series){.name = s->name,
			.clock = t->n_clocks ? 0 : NO_CLOCK,
			.cu = UINT32_MAX,
			.n = (uint32_t)s->ts.n,
			.time_cyc = time,
			.value = value,
			.unit = s->unit,
			.per_unit = ASC_COUNTER_SCALE};
		t->counter_names[t->n_counter_names++] = s->name;
	}
	return true;
}

static bool put_slices(struct asc_build *b, double mhz)
{
	struct trace *t = b->trace;

	for (size_t i = 0; i < b->lanes.n; i++)
		if (b->lanes.v[i].unit_idx != NO_TRACK)
			finish_lane(b, &b->lanes.v[i], mhz);
	for (size_t i = 0; i < b->extras.n; i++) {
		mem_step(i);
		if (b->extras.v[i].lane == NO_TRACK && !b->extras.v[i].is_linked)
			b->counts[ASC_LONE_HEAD]++;
	}
	t->heads = arena_zalloc(&t->arena, b->n_heads + 1, sizeof(*t->heads));
	if (!t->heads || !make_tracks(b) || !take_lanes(b) || (b->trace->text && !begin_places(b)))
		return false;
	for (track_idx k = 0; k < t->n_tracks; k++)
		if (!settle_track(b, k))
			return false;
	return true;
}

/* The blocks of details are kept complete beside a trace, for writing the trace again. */
static bool put_details(struct asc_build *b)
{
	struct asc_table k;

	if (!b->details.n || !b->n_slices)
		return true;
	asc_table_open(b, &k, ASCEND_TABLE_DETAILS, b->path, "type|json");
	EACH (const struct asc_detail, v, b->details.v, b->details.n) {
		asc_putf(b, &k, "%u", v->type);
		asc_put(b, &k, v->json);
	}
	return asc_table_close(b, &k);
}

bool asc_finish(struct asc_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	double mhz = 0;

	if (!asc_resolve(b, e))
		return false;
	if (!asc_merge_csv(b))
		return err_nomem(e);
	if (!asc_find_lines(b, e) || !asc_find_clock(b, &mhz, e))
		return false;
	/* Files of our own exporter are exact to the cycle. */
	t->meta.is_from_us = !b->is_ticks && !b->has_metadata && b->n_slices;
	if (!asc_put_throughput(b, mhz) || !put_slices(b, mhz) || !put_counters(b, mhz))
		return err_nomem(e);
	if (!asc_link(b, b->is_ticks ? 1 : mhz, e) || !asc_put_code(b, e) || !asc_count_notes(b, e))
		return false;
	if (!put_details(b))
		return err_nomem(e);
	t->tables = arena_memdup(&t->arena, b->tables.v, b->tables.n * sizeof(*b->tables.v));
	t->n_tables = (uint32_t)b->tables.n;
	if (b->tables.n && !t->tables)
		return err_nomem(e);
	return asc_take_own(b, e);
}
