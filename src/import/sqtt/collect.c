/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c: stores the records of one stream compactly. A wave becomes bytes: per instruction its
 * category, then as varints the change of slot, the gap since the previous end, duration, stall;
 * then per state a byte and a varint. Data that a trace cannot represent is corrected here and
 * counted: times before the wave begins, negative durations, instructions out of order.
 */
#include "base/search.h"
#include "codec/varint.h"
#include "import/sqtt/engine.h"

#include "import/import.h"
#include "trace/align.h"

#define MAX_INST_BYTES (1 + 5 + 10 + 5 + 5)
#define MAX_SPAN_BYTES (1 + 5)
#define MAX_ENTRY_SEARCH 4096u /* a corrupt stream may name any number of programs */
#define MIN_SPANS 3u	       /* waves with fewer and no instructions are left out */

static uint64_t clamp_time(struct sqtt_engine *g, int64_t t)
{
	if (t >= 0 && t <= TRACE_MAX_TIME_CYC)
		return (uint64_t)t;
	g->n_clamped++;
	return t < 0 ? 0 : TRACE_MAX_TIME_CYC;
}

struct order {
	int64_t time;
	size_t at;
};

ORDER(compare_order, struct order, UP(time) UP(at))

/* A stable sort by time. Rarely needed: AMD's rules may swap two neighbours. */
static bool sort_insts(struct sqtt_inst *v, size_t n)
{
	struct order *order = mem_zalloc(n, sizeof(*order));
	struct sqtt_inst *copy = mem_alloc(n * sizeof(*copy));

	if (order && copy) {
		memcpy(copy, v, n * sizeof(*copy));
		for (size_t i = 0; i < n; i++)
			order[i] = (struct order){v[i].time, i};
		SORT(order, n, compare_order);
		for (size_t i = 0; i < n; i++)
			v[i] = copy[order[i].at];
	}
	mem_free(copy);
	mem_free(order);
	return copy && order;
}

/* gfx9 reports s_barrier twice, on entering (a message) and on leaving: merged to one wait. */
static bool is_barrier_pair(const struct sqtt_inst *a, const struct sqtt_inst *b)
{
	return a->category == SQTT_MSG && b->category == SQTT_IMMED && a->pc && a->pc == b->pc &&
	       a->object == b->object;
}

/* The message that ends a gfx9 wave is sent when its stores are done: the time since the previous
 * instruction is the drain at the end, as in later generations and decoder 0.1.6. */
static void stretch_end(struct sqtt_inst *last)
{
	const struct sqtt_inst *before = last - 1;
	int64_t start = before->time + before->dur, dur = last->time + last->dur - start;

	if (last->category != SQTT_MSG || last->time <= start || dur > INT32_MAX)
		return;
	last->time = start;
	last->dur = (int32_t)dur;
	last->stall = 0;
}

/* Copies the instructions into scratch in the form that a trace needs. */
static bool tidy(struct sqtt_engine *g, const struct sqtt_wave *w)
{
	struct sqtt_inst *v;
	size_t n = 0, late = 0;

	if (!VEC_RESERVE(&g->scratch, w->n_insts + 1))
		return false;
	v = g->scratch.v;
	for (size_t i = 0; i < w->n_insts; i++) {
		struct sqtt_inst x = w->insts[i];

		if (g->result.gfx_major == 9 && n && is_barrier_pair(&v[n - 1], &x)) {
			int64_t dur = x.time + x.dur - v[n - 1].time;

			if (dur > 0 && dur <= INT32_MAX) {
				x.time = v[n - 1].time;
				x.dur = (int32_t)dur;
				x.stall = (uint32_t)dur;
				n--;
			}
		}
		if (x.dur < 0) {
			x.dur = 0;
			g->n_clamped++;
		}
		if (x.time < w->begin) {
			int64_t lost = w->begin - x.time;

			x.dur = lost < x.dur ? (int32_t)(x.dur - lost) : 0;
			x.stall = lost < x.stall ? (uint32_t)(x.stall - lost) : 0;
			x.time = w->begin;
			g->n_clamped++;
		}
		if (x.stall > (uint32_t)x.dur) {
			x.stall = (uint32_t)x.dur;
			g->n_clamped++;
		}
		late += n && x.time < v[n - 1].time;
		v[n++] = x;
	}
	g->scratch.n = n;
	g->n_out_of_order += late;
	if (late && !sort_insts(v, n))
		return false;
	if (g->result.gfx_major == 9 && n > 1 && !w->is_incomplete)
		stretch_end(&v[n - 1]);
	return true;
}

/* Adds to the totals of a slot, with the definitions of the columns of code.json; *prev: latest end
 * so far. */
static bool count(struct sqtt_engine *g, uint32_t slot, const struct sqtt_inst *x, int64_t *prev)
{
	struct code_totals *c;
	int64_t end = x->time + x->dur;

	if (slot == SQTT_NO_SLOT) {
		g->n_no_slot++;
		return true;
	}
	if (!g->hit[slot]) {
		if (!VEC_PUSH(&g->first_hits, slot) ||
			!VEC_PUSH(&g->totals, (struct code_totals){0}))
			return false;
		g->hit[slot] = (uint32_t)g->totals.n;
	}
	c = &g->totals.v[g->hit[slot] - 1];
	c->hit++;
	c->latency += (uint32_t)x->dur;
	c->stall += x->stall;
	c->idle += x->time > *prev ? (uint64_t)(x->time - *prev) : 0;
	*prev = end > *prev ? end : *prev;
	return true;
}

/* gfx10 and gfx11 report the whole time at a barrier as that of a message: it is a wait. */
static void mark_barrier(const struct sqtt_engine *g, struct sqtt_inst *x, uint32_t slot)
{
	static const uint8_t barriers[2][4] = {{0, 0, 0x8a, 0xbf}, {0, 0, 0xbd, 0xbf}};
	unsigned major = g->result.gfx_major;
	struct sqtt_place at;

	if (x->category != SQTT_MSG || slot == SQTT_NO_SLOT || (major != 10 && major != 11))
		return;
	at = sqtt_place_of(g->objects, slot);
	if (at.left >= 4 && memcmp(at.bytes, barriers[major - 10], 4) == 0 && x->dur)
		x->stall = (uint32_t)x->dur - 1;
}

/* Appends the scratch instructions and the states; sets *end to the end of the last instruction. */
static bool pack(struct sqtt_engine *g, const struct sqtt_wave *w, int64_t *end)
{
	size_t n = g->scratch.n;
	uint32_t before = 0;
	int64_t prev = *end;
	uint8_t *p;

	if (n > (SIZE_MAX / 4 - g->store.n) / MAX_INST_BYTES ||
		!VEC_RESERVE(
			&g->store, g->store.n + n * MAX_INST_BYTES + w->n_spans * MAX_SPAN_BYTES))
		return false;
	p = g->store.v + g->store.n;
	EACH (struct sqtt_inst, x, g->scratch.v, n) {
		uint32_t slot = sqtt_slot_of(g->objects, x->object, x->pc, &g->hint);

		mark_barrier(g, x, slot);
		if (!count(g, slot, x, &prev))
			return false;
		*p++ = (uint8_t)x->category;
		p = varint_put(p, zigzag((int64_t)slot - before));
		p = varint_put(p, zigzag(x->time - *end));
		p = varint_put(p, (uint32_t)x->dur);
		p = varint_put(p, x->stall);
		before = slot;
		*end = x->time + x->dur;
	}
	for (size_t i = 0; i < w->n_spans; i++) {
		int32_t dur = w->timeline[i].dur;

		g->n_clamped += dur < 0;
		*p++ = (uint8_t)w->timeline[i].state;
		p = varint_put(p, (uint32_t)(dur < 0 ? 0 : dur));
	}
	g->store.n = (size_t)(p - g->store.v);
	return true;
}

static bool take_wave(void *ctx, const struct sqtt_wave *w, struct incore_error *e)
{
	struct sqtt_engine *g = ctx;
	struct sqtt_wave clipped = *w;
	struct sqtt_wave_ref ref = {.cu = (uint16_t)w->cu,
		.simd = (uint8_t)w->simd,
		.slot = (uint8_t)w->slot,
		.is_incomplete = w->is_incomplete,
		.at = g->store.n,
		.entry_pc = w->entry_pc,
		.entry_object = w->entry_object};
	int64_t end;

	if (!w->n_insts && w->n_spans < MIN_SPANS)
		return true;
	if (w->n_insts > UINT32_MAX - 1 || w->n_spans > UINT32_MAX - 1)
		return err_set(e, INCORE_BAD_INPUT, "too-large", "a wave of 2^32 instructions");
	clipped.begin = (int64_t)clamp_time(g, w->begin);
	end = clipped.begin;
	if (!tidy(g, &clipped) || !pack(g, &clipped, &end))
		return err_nomem(e);
	if (!w->is_incomplete || w->end > end)
		end = w->end;
	ref.begin_cyc = (uint64_t)clipped.begin;
	ref.end_cyc = clamp_time(g, end);
	if (ref.end_cyc < ref.begin_cyc)
		ref.end_cyc = ref.begin_cyc;
	ref.n_insts = (uint32_t)g->scratch.n;
	ref.n_spans = (uint32_t)w->n_spans;
	return VEC_PUSH(&g->waves, ref) || err_nomem(e);
}

/* One function per kind of record: appends a batch to its vector. */
#define TAKE(kind)                                                                                 \
	static bool take_##kind(                                                                   \
		void *ctx, const struct sqtt_##kind *v, size_t n, struct incore_error *e)          \
	{                                                                                          \
		struct sqtt_engine *g = ctx;                                                       \
                                                                                                   \
		if (!n)                                                                            \
			return true;                                                               \
		if (!VEC_RESERVE(&g->kind, g->kind.n + n))                                         \
			return err_nomem(e);                                                       \
		memcpy(g->kind.v + g->kind.n, v, n * sizeof(*v));                                  \
		g->kind.n += n;                                                                    \
		return true;                                                                       \
	}

TAKE(realtime)
TAKE(perf)
TAKE(shaderdata)
TAKE(other_simd)

/* Finds or adds the number of an entry; 0: unknown. False when out of memory. Programs are few. */
static bool entry_number(struct sqtt_engine *g, const struct sqtt_occupancy *o, uint32_t *number)
{
	size_t n = g->entries.n;

	*number = 0;
	if (!o->pc)
		return true;
	for (size_t i = n; i-- > 0 && n - i <= MAX_ENTRY_SEARCH;)
		if (g->entries.v[i].pc == o->pc && g->entries.v[i].object == o->object) {
			*number = (uint32_t)i + 1;
			return true;
		}
	*number = (uint32_t)n + 1;
	return VEC_PUSH(&g->entries, (struct sqtt_entry){o->object, o->pc, 0, 0});
}

static bool add_event(struct sqtt_engine *g, const struct sqtt_occupancy *o)
{
	struct occupancy_event x = {.time_cyc = clamp_time(g, o->time),
		.cu = o->cu,
		.simd = o->simd,
		.slot = o->slot,
		.is_start = o->is_start};

	if (!entry_number(g, o, &x.kernel_id))
		return false;
	if (x.kernel_id && o->is_start) {
		g->entries.v[x.kernel_id - 1].starts++;
		if (!g->n_starts++)
			g->first_start_cyc = x.time_cyc;
	}
	g->n_open_starts += o->is_front;
	return !(g->want & IMPORT_OCCUPANCY) || VEC_PUSH(&g->events, x);
}

static bool take_occupancy(
	void *ctx, const struct sqtt_occupancy *v, size_t n, struct incore_error *e)
{
	struct sqtt_engine *g = ctx;

	for (size_t i = 0; i < n; i++)
		if (!add_event(g, &v[i]))
			return err_nomem(e);
	return true;
}

static bool take_event(void *ctx, const struct sqtt_event *v, size_t n, struct incore_error *e)
{
	struct sqtt_engine *g = ctx;

	for (size_t i = 0; i < n; i++, v++) {
		struct sqtt_occupancy entry = {.pc = v->pc, .object = v->object};
		struct dispatch_event x = {.time_cyc = clamp_time(g, v->time),
			.is_dispatch = v->type == SQTT_DISPATCH,
			.type = v->type,
			.me = v->me,
			.pipe = v->pipe,
			.flags = v->flags,
			.vgprs = NO_VALUE,
			.sgprs = NO_VALUE,
			.lds_bytes = NO_VALUE};

		for (unsigned k = 0; k < 3; k++)
			x.thread_dim[k] = v->threads[k] ? v->threads[k] : NO_VALUE;
		if (!entry_number(g, &entry, &x.kernel_id) || !VEC_PUSH(&g->dispatches, x))
			return err_nomem(e);
	}
	return true;
}

/* Sorts by time: open starts are last in the stream but come first, and a clock may have jumped
 * back. */
static bool sort_events(struct sqtt_engine *g)
{
	size_t n = g->events.n, n_main = n > g->n_open_starts ? n - g->n_open_starts : 0;
	struct order *order;
	struct occupancy_event *copy;
	bool is_sorted = true;

	for (size_t i = 1; i < n && is_sorted; i++)
		is_sorted = g->events.v[i - 1].time_cyc <= g->events.v[i].time_cyc;
	if (is_sorted)
		return true;
	order = mem_zalloc(n, sizeof(*order));
	copy = mem_alloc(n * sizeof(*copy));
	if (order && copy) {
		for (size_t i = 0; i < n; i++) {
			size_t from = i < n - n_main ? n_main + i : i - (n - n_main);

			copy[i] = g->events.v[from];
			order[i] = (struct order){(int64_t)copy[i].time_cyc, i};
		}
		SORT(order, n, compare_order);
		for (size_t i = 0; i < n; i++)
			g->events.v[i] = copy[order[i].at];
	}
	mem_free(copy);
	mem_free(order);
	return order && copy;
}

static bool decode(struct sqtt_engine *g, const struct file_data *f, const struct sqtt_options *o,
	unsigned want, struct incore_error *e)
{
	/* occupancy is always decoded: kernel ids are assigned in its order */
	struct sqtt_sink sink = {.ctx = g,
		.wave = take_wave,
		.realtime = take_realtime,
		.occupancy = take_occupancy};

	if (want & IMPORT_OCCUPANCY)
		sink.event = take_event;
	if (want & IMPORT_COUNTERS) {
		sink.perf = take_perf;
		sink.shaderdata = take_shaderdata;
		sink.other_simd = take_other_simd;
	}
	if (!sqtt_recognise(f->data, f->size, &g->stream, e))
		return false;
	if (g->generation && g->generation != sqtt_generation(&g->stream))
		return err_set(e, INCORE_BAD_INPUT, "wrong-generation",
			"its header says gfx%u, those of most streams gfx%u", g->stream.gfx_major,
			g->generation / 2);
	g->result.gfx_major = g->stream.gfx_major;
	return sqtt_decode(f->data, f->size, o, &sink, &g->result, e) &&
	       (sort_events(g) || err_nomem(e));
}

bool sqtt_engine_decode(
	struct sqtt_engine *g, const struct sqtt_options *o, unsigned want, struct incore_error *e)
{
	struct incore_error why = {0};
	bool ok;

	g->want = want;
	g->hit = mem_zalloc((size_t)g->objects->n_slots + 1, sizeof(*g->hit));
	if (!g->hit)
		return err_nomem(e);
	err_move(&why, &g->why);
	ok = g->file.data && decode(g, &g->file, o, want, &why);
	file_unload(&g->file);
	VEC_FREE(&g->scratch);
	if (ok)
		return true;
	if (why.status != INCORE_BAD_INPUT) {
		err_move(e, &why);
		return false;
	}
	if (!why.path) { /* the decoder sees bytes, not files */
		why.path = mem_strndup(g->path, strlen(g->path));
		why.offset = g->at + (why.offset == INCORE_NO_OFFSET ? 0 : why.offset);
	}
	g->is_bad = true; /* the other engines may be usable */
	err_move(&g->why, &why);
	return true;
}

void sqtt_engine_free(struct sqtt_engine *g)
{
	file_unload(&g->file);
	VEC_FREE(&g->store);
	VEC_FREE(&g->waves);
	VEC_FREE(&g->events);
	VEC_FREE(&g->entries);
	VEC_FREE(&g->realtime);
	VEC_FREE(&g->perf);
	VEC_FREE(&g->shaderdata);
	VEC_FREE(&g->other_simd);
	VEC_FREE(&g->dispatches);
	VEC_FREE(&g->first_hits);
	VEC_FREE(&g->totals);
	VEC_FREE(&g->scratch);
	mem_free(g->hit);
	incore_error_clear(&g->why);
}
