/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqtt.c: raw AMD thread traces -> a trace. One stream per shader engine, decoded in parallel; an
 * invalid stream or a missing or damaged code object becomes a note as long as there is something
 * to show.
 *
 * Parts: meta.json; one track; notes about losses; records to tables; the format.
 */
#include "import/sqtt/sqtt.h"
#include "base/search.h"
#include "codec/json_reader.h"
#include "codec/varint.h"
#include "import/capture_cache.h"
#include "import/import.h"
#include "import/sqtt/container.h"
#include "import/sqtt/decoder.h"
#include "import/sqtt/rgp.h"
#include "isa/amd.h"
#include "trace/align.h"

/* --- meta.json -------------------------------------------------------------------------------- */

/*
 * Reads meta.json: target, kernel, load address, the machine, whether the data is synthetic.
 */

struct props { /* the used part of device_props */
	int64_t arrays, arrays_per_engine;
};

static void read_props(struct json_reader *r, struct sqtt_meta *m, struct props *p)
{
	struct trace_machine *c = &m->machine;
	struct str key;
	int64_t v;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (json_peek(r) != JSON_NUMBER || str_is(key, "unique_id")) {
			json_skip(r);
			continue;
		}
		if (str_is(key, "max_waves_per_simd"))
			json_get_i64(r, &c->max_waves_per_simd);
		else if (str_is(key, "wave_front_size"))
			json_get_i64(r, &c->wave_size);
		else if (str_is(key, "num_xcc"))
			json_get_i64(r, &c->xccs);
		else if (str_is(key, "array_count"))
			json_get_i64(r, &p->arrays);
		else if (str_is(key, "simd_arrays_per_engine"))
			json_get_i64(r, &p->arrays_per_engine);
		else if (str_is(key, "lds_size_in_kb") && json_get_i64(r, &v))
			c->lds_bytes_per_cu = v >= 0 && v < 1 << 20 ? v * 1024 : NO_VALUE;
		else if (!str_is(key, "lds_size_in_kb"))
			json_skip(r);
	}
}

static const char *sqtt_read_text(struct json_reader *r, struct arena *a, bool *is_nomem)
{
	struct str s;
	const char *copy;

	if (!json_get_str_or_null(r, &s) || !s.n)
		return NULL;
	copy = arena_strndup(a, s.p, s.n);
	*is_nomem |= !copy;
	return copy;
}

static bool sqtt_meta_parse(struct sqtt_meta *m, const void *p, size_t n, const char *path,
	struct arena *a, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	struct sqtt_meta out = *m;
	struct props props = {0, 1};
	bool is_nomem = false, ok;

	json_init(&r, p, n, path, 0);
	if (json_enter_object(&r))
		while (json_next_key(&r, &key)) {
			if (str_is(key, "gfx"))
				out.gfx = sqtt_read_text(&r, a, &is_nomem);
			else if (str_is(key, "kernel"))
				out.kernel = sqtt_read_text(&r, a, &is_nomem);
			else if (str_is(key, "load_base"))
				json_get_u64(&r, &out.load_base);
			else if (str_is(key, "device_props"))
				read_props(&r, &out, &props);
			else if (str_is(key, "synthetic"))
				json_get_bool(&r, &out.is_synthetic);
			else
				json_skip(&r);
		}
	ok = json_finish(&r, e);
	json_deinit(&r);
	if (is_nomem)
		return err_nomem(e);
	if (!ok)
		return false;
	if (props.arrays > 0 && props.arrays_per_engine > 0)
		out.machine.ses = props.arrays / props.arrays_per_engine;
	*m = out;
	return true;
}

/* --- one track -------------------------------------------------------------------------------- */

/* One packed wave (see "records to tables") -> the columns of one track. */

struct unpack {
	const uint8_t *p;
};

static inline uint64_t sqtt_get(struct unpack *u)
{
	uint64_t v = *u->p & 0x7f;

	for (unsigned shift = 7; *u->p++ & 0x80; shift += 7)
		v |= (uint64_t)(*u->p & 0x7f) << shift;
	return v;
}

static inline int64_t get_signed(struct unpack *u)
{
	return unzigzag(sqtt_get(u));
}

static void unpack_insts(const struct trace *t, struct unpack *u, struct track_data *d, uint32_t n)
{
	const struct sqtt_loader *l = t->loader_ctx;
	int64_t slot = 0, end = (int64_t)d->begin_cyc;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t category = *u->p++;
		code_idx code = NO_CODE;
		unsigned narrow = category < AMD_LUT_WIDTH ? category : AMD_LUT_WIDTH - 1;

		slot += get_signed(u);
		end += get_signed(u);
		if (slot != SQTT_NO_SLOT && l->row_of_slot[slot])
			code = l->row_of_slot[slot] - 1;
		d->start_cyc[i] = (uint64_t)end;
		d->dur_cyc[i] = (uint32_t)sqtt_get(u);
		d->stall_cyc[i] = (uint32_t)sqtt_get(u);
		d->code[i] = code;
		d->tag[i] = category;
		d->inst_class[i] =
			l->class_lut[(size_t)(code == NO_CODE ? t->n_code : code) * AMD_LUT_WIDTH +
				     narrow];
		d->n_unknown_code += code == NO_CODE;
		end += d->dur_cyc[i];
	}
	d->n = n;
}

static void skip_insts(struct unpack *u, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		u->p++;
		for (unsigned k = 0; k < 4; k++)
			while (*u->p++ & 0x80)
				;
	}
}

/* Load.c. */
static bool sqtt_track_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct sqtt_loader *l = t->loader_ctx;
	const struct sqtt_wave_ref *w = &l->waves[i];
	struct unpack u = {l->engines[w->engine].store.v + w->at};
	uint32_t n = want & TRACK_NO_SLICES ? 0 : w->n_insts;

	d->begin_cyc = w->begin_cyc;
	d->end_cyc = w->end_cyc;
	d->stated_slices = w->n_insts;
	if (!track_data_reserve(d, n) || !track_data_reserve_states(d, w->n_spans))
		return err_nomem(e);
	if (n)
		unpack_insts(t, &u, d, n);
	/* the end was seen, so the last message is s_endpgm, known code or not */
	if (n && !w->is_incomplete && d->code[n - 1] == NO_CODE && d->tag[n - 1] == SQTT_MSG)
		d->inst_class[n - 1] = CLASS_DRAIN;
	if (!n)
		skip_insts(&u, w->n_insts);
	for (uint32_t k = 0; want & TRACK_STATES && k < w->n_spans; k++) {
		d->state[k] = *u.p++;
		d->state_dur_cyc[k] = (uint32_t)sqtt_get(&u);
		d->n_states++;
	}
	return true;
}

/* --- notes about losses ----------------------------------------------------------------------- */

/*
 * Notes about losses. Everything the decoder counted becomes one note per kind, with the stream and
 * the byte of the first occurrence; places that are decoded differently from AMD's decoder 0.1.6
 * become information notes.
 */

static bool note_decoder(struct sqtt_build *b, enum sqtt_note n)
{
	const struct sqtt_loader *l = b->loader;
	const struct sqtt_engine *first = NULL;
	uint64_t count = 0;
	uint32_t engines = 0;

	EACH (const struct sqtt_engine, g, l->engines, l->n_engines) {
		if (g->is_bad || !g->result.notes[n].count)
			continue;
		first = first ? first : g;
		count += g->result.notes[n].count;
		engines++;
	}
	if (!first)
		return true;
	return trace_note(b->trace, sqtt_note_name(n), path_base(first->path),
		first->at + first->result.notes[n].first_off, count,
		"%s: %llu in %u of %u streams, first in %s at byte %llu", sqtt_note_text(n),
		(unsigned long long)count, engines, l->n_engines, path_base(first->path),
		(unsigned long long)(first->at + first->result.notes[n].first_off));
}

static bool note_bad_streams(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;

	EACH (const struct sqtt_engine, g, l->engines, l->n_engines) {
		struct strbuf text = {0};
		bool ok, is_link;

		if (!g->is_bad)
			continue;
		is_link = err_is(&g->why, "link-outside");
		err_format(&g->why, &text);
		ok = trace_note(b->trace, is_link ? "link-outside" : "damaged-stream",
			path_base(g->path), g->why.offset, 1, "shader engine %u is left out: %s",
			g->se, text.p ? text.p : "its stream cannot be read");
		sb_free(&text);
		if (!ok)
			return false;
	}
	return true;
}

/* Real streams have no unknown tokens and are shorter than half a minute. */
static bool is_implausible(const struct sqtt_engine *g)
{
	const int64_t longest_cyc = (int64_t)1 << 36;
	uint64_t unknown = g->result.notes[SQTT_NOTE_UNKNOWN_TOKEN].count;

	return !g->is_bad &&
	       (unknown * 500 > g->result.decoded_bytes || g->result.last_cyc > longest_cyc);
}

static bool note_implausible(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;
	const struct sqtt_engine *first = NULL;
	uint32_t n = 0;

	for (uint32_t i = l->n_engines; i-- > 0;)
		if (is_implausible(&l->engines[i])) {
			first = &l->engines[i];
			n++;
		}
	return !n ||
	       trace_note(b->trace, "implausible-stream", path_base(first->path), 0, n,
		       "the tokens of %u of %u streams do not make sense as gfx%u, which their headers say (first: %s, %llu unknown tokens, clock at %lld): another generation, or damage",
		       n, l->n_engines, l->gfx_major, path_base(first->path),
		       (unsigned long long)first->result.notes[SQTT_NOTE_UNKNOWN_TOKEN].count,
		       (long long)first->result.last_cyc);
}

/* The addresses of rocprofv3's code objects are only in markers in the streams. */
static bool note_no_markers(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;
	uint64_t markers = 0;

	for (uint32_t i = 0; i < l->n_engines; i++)
		markers += l->engines[i].result.object_markers;
	return markers || b->container.rgp || !b->objects.v.n || !b->objects.v.v[0].id ||
	       trace_note(b->trace, "no-load-address", NULL, INCORE_NO_OFFSET, b->objects.v.n,
		       "no marker in the streams says where the code objects were loaded: load addresses are unknown, no instruction gets an address");
}

/* Notes changes made while converting records to a trace. */
static bool note_changes(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;
	struct trace *t = b->trace;
	uint64_t clamped = 0, unwritten = 0, moved = 0, no_slot = 0;
	bool ok;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		clamped += l->engines[i].n_clamped;
		moved += l->engines[i].n_out_of_order;
		no_slot += l->engines[i].n_no_slot;
	}
	if (clamped && !trace_note(t, "clamped-times", NULL, INCORE_NO_OFFSET, clamped,
			       "%llu times or durations were out of range and are clamped",
			       (unsigned long long)clamped))
		return false;
	if (moved &&
		!trace_note(t, "sorted-instructions", NULL, INCORE_NO_OFFSET, moved,
			"%llu instructions were recorded before the one they follow in the code; they stand in order of time",
			(unsigned long long)moved))
		return false;
	if (no_slot && t->n_code == 0 &&
		!trace_note(t, "no-known-code", NULL, INCORE_NO_OFFSET, no_slot,
			"none of the %llu instructions lies in a known code object: is it the right one, at the right load address?",
			(unsigned long long)no_slot))
		return false;
	for (uint32_t i = 0; i < t->n_occupancy; i++)
		unwritten += t->occupancy[i].is_start && t->occupancy[i].cu == t->meta.target_cu;
	for (track_idx i = 0; i < t->n_tracks; i++)
		unwritten -= unwritten && t->tracks[i].coord[1] == t->meta.target_cu;
	if (!unwritten)
		return true;
	t->reading = IMPORT_OCCUPANCY;
	ok = trace_note(t, "waves-without-detail", NULL, INCORE_NO_OFFSET, unwritten,
		"%llu waves of the target CU have no instructions in the stream (another SIMD, or instruction tracing was off): occupancy alone has them",
		(unsigned long long)unwritten);
	t->reading = 0;
	return ok;
}

/* Notes.c: everything the decoder lost, cut or could not place. */
static bool sqtt_notes_build(struct sqtt_build *b, struct incore_error *e)
{
	bool ok = note_bad_streams(b) && (!b->container.rgp || rgp_notes(b));

	for (unsigned n = 0; ok && n < SQTT_NOTE_COUNT; n++)
		ok = note_decoder(b, (enum sqtt_note)n);
	ok = ok && note_implausible(b) && note_no_markers(b) && note_changes(b);
	if (ok && b->rules == SQTT_RULES_C16)
		ok = trace_note(b->trace, "decoder-compat", NULL, INCORE_NO_OFFSET, 1,
			"decoded by the rules of AMD's decoder 0.1.6, its errors included");
	return ok || err_nomem(e);
}

/* --- records to tables ------------------------------------------------------------------------ */

/*
 * Stores the records of one stream compactly. A wave becomes bytes: per instruction its category,
 * then as varints the change of slot, the gap since the previous end, duration, stall; then per
 * state a byte and a varint. Data that a trace cannot represent is corrected here and counted:
 * times before the wave begins, negative durations, instructions out of order.
 */

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

struct stream_order {
	int64_t time;
	size_t at;
};

ORDER(compare_order, struct stream_order, UP(time) UP(at))

/* A stable sort by time. Rarely needed: AMD's rules may swap two neighbours. */
static bool sort_insts(struct sqtt_inst *v, size_t n)
{
	struct stream_order *order = mem_zalloc(n, sizeof(*order));
	struct sqtt_inst *copy = mem_alloc(n * sizeof(*copy));

	if (order && copy) {
		memcpy(copy, v, n * sizeof(*copy));
		for (size_t i = 0; i < n; i++)
			order[i] = (struct stream_order){v[i].time, i};
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
static bool sqtt_count(
	struct sqtt_engine *g, uint32_t slot, const struct sqtt_inst *x, int64_t *prev)
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
static bool sqtt_pack(struct sqtt_engine *g, const struct sqtt_wave *w, int64_t *end)
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
		if (!sqtt_count(g, slot, x, &prev))
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
	if (!tidy(g, &clipped) || !sqtt_pack(g, &clipped, &end))
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

static bool sqtt_add_event(struct sqtt_engine *g, const struct sqtt_occupancy *o)
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
		if (!sqtt_add_event(g, &v[i]))
			return err_nomem(e);
	return true;
}

static bool sqtt_take_event(void *ctx, const struct sqtt_event *v, size_t n, struct incore_error *e)
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
	struct stream_order *order;
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
			order[i] = (struct stream_order){(int64_t)copy[i].time_cyc, i};
		}
		SORT(order, n, compare_order);
		for (size_t i = 0; i < n; i++)
			g->events.v[i] = copy[order[i].at];
	}
	mem_free(copy);
	mem_free(order);
	return order && copy;
}

static bool collect_decode(struct sqtt_engine *g, const struct file_data *f,
	const struct sqtt_options *o, unsigned want, struct incore_error *e)
{
	/* occupancy is always decoded: kernel ids are assigned in its order */
	struct sqtt_sink sink = {.ctx = g,
		.wave = take_wave,
		.realtime = take_realtime,
		.occupancy = take_occupancy};

	if (want & IMPORT_OCCUPANCY)
		sink.event = sqtt_take_event;
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

static bool sqtt_engine_decode(
	struct sqtt_engine *g, const struct sqtt_options *o, unsigned want, struct incore_error *e)
{
	struct incore_error why = {0};
	bool ok;

	g->want = want;
	g->hit = mem_zalloc((size_t)g->objects->n_slots + 1, sizeof(*g->hit));
	if (!g->hit)
		return err_nomem(e);
	err_move(&why, &g->why);
	ok = g->file.data && collect_decode(g, &g->file, o, want, &why);
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

static void sqtt_engine_free(struct sqtt_engine *g)
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

/* --- the format ------------------------------------------------------------------------------- */

static void sqtt_close_loader(void *ctx)
{
	struct sqtt_loader *l = ctx;

	for (uint32_t i = 0; i < l->n_engines; i++)
		sqtt_engine_free(&l->engines[i]);
	mem_free(l->engines);
	mem_free(l->waves);
	mem_free(l->row_of_slot);
	mem_free(l);
}

static struct sqtt_loader *sqtt_new_loader(struct trace *t, uint32_t n_engines)
{
	struct sqtt_loader *l = mem_zalloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->engines = mem_zalloc((size_t)n_engines + 1, sizeof(*l->engines));
	if (!l->engines) {
		mem_free(l);
		return NULL;
	}
	l->n_engines = n_engines;
	t->loader.load = sqtt_track_load;
	t->loader.close = sqtt_close_loader;
	t->loader_ctx = l;
	return l;
}

static bool sqtt_read_meta(struct sqtt_build *b, struct incore_error *e)
{
	struct incore_error why = {0};
	struct file_data f = {0};
	bool ok;

	b->meta.load_base = SQTT_NO_ADDR;
	b->meta.machine = b->trace->meta.machine;
	if (b->container.rgp)
		rgp_meta(b);
	if (!b->container.meta)
		return true;
	ok = import_load(b->options, &f, b->container.meta, &why) &&
	     sqtt_meta_parse(&b->meta, f.data, f.size, b->container.meta, &b->trace->arena, &why);
	file_unload(&f);
	if (ok) {
		b->trace->meta.machine = b->meta.machine;
		if (b->meta.is_synthetic)
			b->trace->meta.evidence = EVIDENCE_SYNTHETIC;
		return true;
	}
	if (why.status == INCORE_BAD_INPUT &&
		import_note_unread(b->trace, "damaged-file", b->container.meta,
			"is damaged and was left out", &why))
		return true;
	err_move(e, &why);
	return false;
}

bool sqtt_stream_load(struct sqtt_build *b, uint32_t i, struct incore_error *e)
{
	const struct sqtt_stream_file *s = &b->container.streams[i];
	struct file_data *f = &b->loader->engines[i].file;

	if (!s->data)
		return f->data || import_load(b->options, f, s->path, e);
	f->data = s->data;
	f->size = (size_t)s->size;
	return true;
}

struct decode_job {
	struct sqtt_build *b;
	struct sqtt_options options;
};

static bool decode_one(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct decode_job *j = ctx;

	(void)worker;
	if (!sqtt_engine_decode(&j->b->loader->engines[item], &j->options, j->b->want, e))
		return false;
	progress_add(j->b->options ? j->b->options->progress : NULL, 1);
	return true;
}

static bool decode_all(struct sqtt_build *b, struct incore_error *e)
{
	struct sqtt_loader *l = b->loader;
	struct progress *p = b->options ? b->options->progress : NULL;
	struct decode_job j = {.b = b,
		.options = {b->rules, &b->objects.code, SQTT_TARGET_OF_STREAM,
			b->container.rgp ? &b->objects.places : NULL}};
	bool ok;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		l->engines[i].se = b->container.streams[i].se;
		l->engines[i].at = b->container.streams[i].at;
		l->engines[i].path = arena_strdup(&b->trace->arena, b->container.streams[i].path);
		l->engines[i].objects = &b->objects;
		if (!l->engines[i].path)
			return err_nomem(e);
		/* Loaded here because the cache is for one thread; a failure is reported when it is
		 * decoded. */
		sqtt_stream_load(b, i, &l->engines[i].why);
	}
	progress_begin(p, "shader engines", l->n_engines);
	ok = pool_run(b->options ? b->options->pool : NULL, l->n_engines, 1, decode_one, &j, e);
	progress_end(p);
	return ok;
}

/* Code whose number follows from the programs that ran needs the streams to be decoded twice. */
static bool decode_placed(struct sqtt_build *b, struct incore_error *e)
{
	bool is_new = false;

	if (!decode_all(b, e) || !sqtt_place_objects(b, &is_new, e))
		return false;
	if (!is_new)
		return true;
	sqtt_objects_choose(b);
	EACH (struct sqtt_engine, g, b->loader->engines, b->loader->n_engines) {
		unsigned generation = g->generation;

		sqtt_engine_free(g);
		*g = (struct sqtt_engine){.generation = generation};
	}
	return decode_all(b, e);
}

/* Fails if no stream is usable, with the error of the first. */
static bool sqtt_check_streams(struct sqtt_build *b, struct incore_error *e)
{
	struct sqtt_loader *l = b->loader;
	struct trace_meta *m = &b->trace->meta;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		const struct sqtt_stream *s = &l->engines[i].stream;

		if (l->engines[i].is_bad)
			continue;
		m->gfx_major = s->gfx_major;
		l->gfx_major = s->gfx_major;
		m->clock_quantum = s->gfx_major == 9 ? 4 : 1;
		if (b->objects.gpu && amd_arch_major(b->objects.arch) == s->gfx_major) {
			m->arch = arena_strdup(&b->trace->arena, b->objects.gpu);
			m->arch_source = b->objects.gpu_source;
		} else {
			m->arch = arena_printf(&b->trace->arena, "gfx%u", s->gfx_major);
			m->arch_source = "thread trace header";
		}
		return m->arch || err_nomem(e);
	}
	err_move(e, &l->engines[0].why);
	return err_wrap(e, "none of %u streams of %s is a thread trace", l->n_engines,
		b->container.dir && *b->container.dir ? b->container.dir : ".");
}

static bool find_container(struct sqtt_build *b, const char *path, struct incore_error *e)
{
	struct sqtt_container *v;
	uint32_t n;

	if (!sqtt_containers(import_fence(b->options), path, &b->scratch, &v, &n, e))
		return false;
	b->container = v[0]; /* a folder with several is split, so that each has a path */
	return true;
}

static bool sqtt_read_all(
	struct sqtt_build *b, sqtt_find_fn find, const char *path, struct incore_error *e)
{
	static const char *const levels[TRACK_LEVELS] = {"se", "cu", "simd", "slot", "wave"};
	struct trace *t = b->trace;

	if (!find(b, path, e))
		return false;
	t->meta.vendor = VENDOR_AMD;
	t->meta.evidence = EVIDENCE_HARDWARE_TRACE;
	t->meta.format_version = b->rules == SQTT_RULES_C16 ? "decoder rules 0.1.6" : NULL;
	t->meta.launch.agent = b->container.agent;
	t->meta.launch.dispatch = b->container.dispatch;
	memcpy(t->levels, levels, sizeof(levels));
	b->loader = sqtt_new_loader(t, b->container.n_streams);
	if (!b->loader)
		return err_nomem(e);
	return sqtt_read_meta(b, e) && sqtt_objects_load(b, e) && decode_placed(b, e) &&
	       sqtt_check_streams(b, e) && sqtt_rows_build(b, e) && sqtt_tables_build(b, e);
}

static bool choose_rules(struct sqtt_build *b, struct incore_error *e)
{
	const char *compat = b->options ? b->options->decoder_compat : NULL;

	b->rules = SQTT_RULES_RIGHT;
	if (!compat || !*compat)
		return true;
	if (strcmp(compat, "0.1.6") != 0)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--decoder-compat '%s': expected 0.1.6, the only decoder whose rules are known",
			compat);
	b->rules = SQTT_RULES_C16;
	return true;
}

bool sqtt_read_found(sqtt_find_fn find, const void *from, const char *path,
	const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct sqtt_build b = {
		.trace = t, .options = o, .from = from, .want = o ? o->want : (unsigned)IMPORT_ALL};
	bool ok;

	arena_init(&b.scratch);
	ok = choose_rules(&b, e) && sqtt_read_all(&b, find, path, e) && sqtt_notes_build(&b, e);
	sqtt_objects_free(&b.objects);
	sqtt_listings_free(&b);
	for (uint32_t i = 0; b.loader && i < b.loader->n_engines; i++)
		b.loader->engines[i].objects = NULL; /* they are freed */
	if (b.container.rgp)
		rgp_close(b.container.rgp);
	arena_deinit(&b.scratch);
	return ok;
}

static bool sqtt_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	return sqtt_read_found(find_container, NULL, path, o, t, e);
}

/* --- recognising --- */

static int sqtt_sniff(const struct probe *p)
{
	if (p->is_dir)
		return sqtt_is_dir(capture_fence(p->cache), p->path) ? 90 : 0;
	return p->is_named && sqtt_is_stream_name(p->path) ? 90 : 0;
}

static void sqtt_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct sqtt_container *v;
	uint32_t count;

	*n = 0;
	if (!sqtt_containers(capture_fence(cache), path, a, &v, &count, NULL))
		return;
	*paths = arena_zalloc(a, count, sizeof(**paths));
	for (uint32_t i = 0; *paths && i < count; i++)
		(*paths)[(*n)++] = v[i].first;
}

static void sqtt_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct sqtt_container *v;
	uint32_t n;

	if (!sqtt_containers(capture_fence(cache), path, a, &v, &n, NULL))
		return;
	c->agent = v[0].agent;
	c->dispatch = v[0].dispatch;
	c->is_empty = v[0].n_bytes == 0;
	c->is_uncounted = true;
	c->n_bytes = v[0].n_bytes;
}

static const struct signature sqtt_signs[] = {
	{.entry = "*.att"},
	{.entry = "se*.sqtt"},
	{.name = ".att"},
	{.name = ".sqtt"},
	{0},
};

const struct import_ops import_sqtt = {
	.name = "sqtt",
	.summary = "raw AMD thread trace: .att or .sqtt streams with their code objects",
	.looks_for = "raw thread traces (*_shader_engine_*.att, se*.sqtt)",
	.signs = sqtt_signs,
	.sniff = sqtt_sniff,
	.split = sqtt_split,
	.takes_code = true,
	.look = sqtt_look,
	.read = sqtt_read,
	.lost = import_lost_noted, /* noted while reading, where the decoder's counts are available */
};
