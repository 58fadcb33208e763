/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delivers records to the sink: waves are stitched and delivered one by one, the rest in batches.
 * Also the names of the notes.
 */
#include "import/sqtt/internal.h"

static const struct {
	const char *name, *text;
} notes[SQTT_NOTE_COUNT] = {
	[SQTT_NOTE_PACKET_LOST] = {"packet-lost", "the hardware dropped packets"},
	[SQTT_NOTE_TRACE_STALL] = {"trace-stall", "the trace held up the shader engine"},
	[SQTT_NOTE_CUT] = {"stream-cut", "the stream ends inside a token"},
	[SQTT_NOTE_UNKNOWN_TOKEN] = {"unknown-token", "tokens that are not known were passed over"},
	[SQTT_NOTE_BAD_SLOT] = {"bad-slot", "tokens name a wave slot that does not exist"},
	[SQTT_NOTE_CLOCK_RANGE] = {"clock-range", "the clock ran out of its range and was held"},
	[SQTT_NOTE_NO_START] = {"no-wave-start",
		"tokens of waves that began before the trace, or whose start was lost; they are resident from its begin"},
	[SQTT_NOTE_UNCONFIRMED] = {"unconfirmed", "instructions issued but never confirmed"},
	[SQTT_NOTE_OVERFULL] = {"overfull", "more is said to happen at once than hardware can do"},
	[SQTT_NOTE_STITCH_INCOMPLETE] = {"stitch-incomplete",
		"waves with instructions whose address could not be found"},
	[SQTT_NOTE_WAVE_INCOMPLETE] = {"wave-incomplete", "waves without an end"},
	[SQTT_NOTE_NO_CODE] = {"no-code", "waves whose code is not in any code object given"},
	[SQTT_NOTE_BAD_OBJECT] = {"bad-code-object", "code object markers that make no sense"},
	[SQTT_NOTE_UNVERIFIED] = {"unverified-generation",
		"no real stream of this generation was seen: rules from text alone"},
	[SQTT_NOTE_REJECTED] = {"rejected", "decoder 0.1.6 rejects the stream here"},
	[SQTT_DIFF_QUEUE_INDEX] = {"differs-queue-index",
		"an instruction was taken back while others waited: 0.1.6 confirms a wrong one"},
	[SQTT_DIFF_BAD_SLOT] = {"differs-bad-slot", "0.1.6 rejects a stream with a bad slot"},
	[SQTT_DIFF_BARRIER_WAIT] = {"differs-barrier-wait",
		"0.1.6 guesses otherwise whether an s_barrier_wait left a token"},
	[SQTT_DIFF_LATE_PC] = {"differs-late-address",
		"0.1.6 loses an address that comes after its wave's end"},
	[SQTT_DIFF_UNKNOWN_JUMP] = {"differs-unknown-jump",
		"0.1.6 goes straight on after a jump that leads nobody knows where"},
	[SQTT_DIFF_RESUMED] = {"differs-resumed",
		"0.1.6 gives up where a later known address lets us go on"},
	[SQTT_DIFF_SWAP_FLAT] = {"differs-swap-flat",
		"0.1.6 does not put a global access back in program order"},
	[SQTT_DIFF_SWAP_END] = {"differs-swap-end",
		"0.1.6 rejects a stream for looking past the end of the code"},
	[SQTT_DIFF_START_EXT] = {"differs-start-ext", "0.1.6 ignores extended wave starts"},
	[SQTT_DIFF_W64] = {"differs-w64", "0.1.6 counts the cycles of wave64 tokens twice"},
	[SQTT_DIFF_LONG_STALL] = {"differs-long-stall",
		"0.1.6 keeps 24 bits of a longer stall and 32 of a longer duration"},
	[SQTT_DIFF_RANGE_REUSED] = {"differs-range-reused",
		"0.1.6 keeps the old owner of an address range used again"},
	[SQTT_DIFF_OPEN_START] = {"differs-open-start",
		"0.1.6 ends a wave whose start was not recorded at time 0, or leaves it out"},
	[SQTT_DIFF_CUT] = {"differs-cut",
		"0.1.6 decodes a last token that the stream's end cuts as if zeros followed"},
	[SQTT_DIFF_HEADER] = {"differs-header",
		"0.1.6 lets a header in mid-stream change what is traced"},
	[SQTT_DIFF_NEWER] = {"differs-newer-rules",
		"the newer published rules give another end, duration, category or address than 0.1.6"},
};

const char *sqtt_note_name(enum sqtt_note n)
{
	return notes[n].name;
}

const char *sqtt_note_text(enum sqtt_note n)
{
	return notes[n].text;
}

void sqtt_newer(struct decoder *d)
{
	if (!d->is_c16)
		sqtt_note(d, SQTT_DIFF_NEWER);
}

void wave_open(struct wave *w, int64_t now, uint64_t off)
{
	w->is_open = true;
	w->is_ended = w->is_scaled = 0;
	w->had_switch = w->has_msg = w->is_clamped = false;
	w->state = SQTT_IDLE;
	w->status = WAVE_OK;
	w->contexts = 0;
	w->barrier = 0;
	w->off = w->end_off = (uint32_t)off;
	w->begin = w->mark = now;
	w->end = w->msg = w->last_stall = 0;
	w->entry = (struct sqtt_pc){0, 0};
	w->insts.n = w->spans.n = w->infos.n = w->issued.n = w->stalls.n = 0;
	w->issued_head = w->stalls_head = w->first_unknown = 0;
	memset(w->replay_last, 0, sizeof(w->replay_last));
}

void wave_free(struct wave *w)
{
	VEC_FREE(&w->insts);
	VEC_FREE(&w->spans);
	VEC_FREE(&w->infos);
	VEC_FREE(&w->issued);
	VEC_FREE(&w->stalls);
}

void sqtt_add_info(struct decoder *d, struct wave *w, uint32_t index, const struct sqtt_pc *pc)
{
	struct pc_info p = {.index = index};

	if (pc) {
		p.pc = *pc;
		p.is_known = true;
		if (index == 0)
			w->entry = *pc;
		w->first_unknown = (uint32_t)w->infos.n + 1;
	}
	sqtt_need(d, VEC_PUSH(&w->infos, p));
}

void sqtt_fill_info(struct decoder *d, struct wave *w, uint64_t addr)
{
	struct sqtt_pc pc = userdata_resolve(&d->user, addr);
	size_t i = w->first_unknown;

	if (i >= w->infos.n) {
		sqtt_add_info(d, w, (uint32_t)w->insts.n, &pc);
		return;
	}
	w->infos.v[i].pc = pc;
	w->infos.v[i].is_known = true;
	w->first_unknown++;
}

void sqtt_occupancy(
	struct decoder *d, int64_t time, unsigned place, struct sqtt_pc entry, bool is_start)
{
	struct sqtt_occupancy *o;

	if (d->user.is_enabled && entry.addr && !entry.object)
		d->holds_occupancy = true;
	if (!VEC_RESERVE(&d->occupancy, d->occupancy.n + 1)) {
		d->is_failed = true;
		return;
	}
	o = &d->occupancy.v[d->occupancy.n++];
	o->time = time;
	o->pc = entry.addr;
	o->object = entry.object;
	o->off = (uint32_t)d->off;
	o->cu = (uint8_t)(place >> 16);
	o->simd = (uint8_t)(place >> 8);
	o->slot = (uint8_t)place;
	o->is_start = is_start;
	o->is_front = 0;
	if (d->occupancy.n >= BATCH && !d->holds_occupancy)
		sqtt_flush(d, false);
}

void sqtt_occupancy_front(struct decoder *d, unsigned place)
{
	struct sqtt_occupancy o = {.cu = (uint8_t)(place >> 16),
		.simd = (uint8_t)(place >> 8),
		.slot = (uint8_t)place,
		.off = (uint32_t)d->off,
		.is_start = 1,
		.is_front = 1};

	sqtt_note(d, SQTT_NOTE_NO_START);
	sqtt_need(d, VEC_PUSH(&d->front, o));
}

static void close_incomplete(struct decoder *d, struct wave *w)
{
	for (size_t i = 0; i < w->insts.n; i++)
		if (inst_end(&w->insts.v[i]) + 4 > w->end)
			w->end = inst_end(&w->insts.v[i]) + 4;
	sqtt_note_at(d, SQTT_NOTE_WAVE_INCOMPLETE, w->off);
	if (d->stream.gfx_major != 9 || !w->had_switch)
		d->res->is_wave_incomplete = true;
}

/* Newer rules: resolves a code object that was announced after the wave began. */
static void resolve_late(struct decoder *d, struct wave *w)
{
	EACH (struct pc_info, p, w->infos.v, w->infos.n) {
		uint32_t was = p->pc.object;

		if (p->is_known && p->pc.object == 0)
			p->pc = userdata_resolve(&d->user, p->pc.addr);
		if (p->is_known && p->pc.object == 0)
			p->pc = userdata_resolve_preloaded(&d->user, p->pc.addr);
		if (was != p->pc.object)
			sqtt_newer(d);
	}
}

static bool count_insts(struct decoder *d, struct wave *w)
{
	uint64_t unconfirmed = 0, known = 0;

	if (d->stream.gfx_major > 9) /* all are confirmed, and those with an address are counted */
		known = w->n_known;
	for (size_t i = 0; i < w->insts.n && d->stream.gfx_major == 9; i++) {
		struct sqtt_inst *x = &w->insts.v[i];

		known += x->pc != 0;
		if (x->category != SQTT_NONE)
			continue;
		if (unconfirmed++ == 0)
			sqtt_note_at(d, SQTT_NOTE_UNCONFIRMED, x->off);
		if (d->is_c16 && x->pc)
			x->category = SQTT_UNCONFIRMED;
	}
	if (unconfirmed)
		d->res->notes[SQTT_NOTE_UNCONFIRMED].count += unconfirmed - 1;
	d->res->insts += w->insts.n;
	d->res->stitched += known;
	return known > 0;
}

static void note_stitch(struct decoder *d, struct wave *w, bool is_all, bool has_any)
{
	if (is_all)
		return;
	if (!has_any)
		sqtt_note_at(d, SQTT_NOTE_NO_CODE, w->off);
	else
		sqtt_note_at(d, SQTT_NOTE_STITCH_INCOMPLETE, w->off);
	if (w->infos.n && w->infos.v[0].is_known && w->infos.v[0].pc.object)
		d->res->is_stitch_incomplete = true;
}

void sqtt_emit_wave(struct decoder *d, struct wave *w, bool is_incomplete)
{
	struct sqtt_wave out;
	bool is_all;

	if (is_incomplete)
		close_incomplete(d, w);
	if (!d->is_c16 && (d->user.ranges.n || d->user.preloaded.n))
		resolve_late(d, w);
	is_all = sqtt_stitch(d, w);
	if (w->is_clamped)
		sqtt_note_at(d, SQTT_DIFF_LONG_STALL, w->off);
	note_stitch(d, w, is_all, count_insts(d, w));
	d->res->waves++;
	out = (struct sqtt_wave){.cu = w->cu,
		.simd = w->simd,
		.slot = w->slot,
		.contexts = w->contexts,
		.is_incomplete = is_incomplete,
		.begin = w->begin,
		.end = w->end,
		.entry_pc = w->entry.addr,
		.entry_object = w->entry.object,
		.off = w->off,
		.end_off = w->end_off,
		.insts = w->insts.v,
		.n_insts = w->insts.n,
		.timeline = w->spans.v,
		.n_spans = w->spans.n};
	if (!d->is_failed && d->sink->wave && !d->sink->wave(d->sink->ctx, &out, d->e))
		d->is_failed = true;
	w->is_open = w->is_ended = false;
}

#define DELIVER(d, kind)                                                                           \
	do {                                                                                       \
		if ((d)->kind.n && !(d)->is_failed && (d)->sink->kind &&                           \
			!(d)->sink->kind((d)->sink->ctx, (d)->kind.v, (d)->kind.n, (d)->e))        \
			(d)->is_failed = true;                                                     \
		(d)->kind.n = 0;                                                                   \
	} while (0)

/* Resolves entries whose code object was announced later as loaded from the beginning. */
static void resolve_occupancy(struct decoder *d)
{
	for (size_t i = 0; i < d->occupancy.n && d->holds_occupancy; i++) {
		struct sqtt_occupancy *o = &d->occupancy.v[i];
		struct sqtt_pc pc;

		if (o->object || !o->pc)
			continue;
		pc = userdata_resolve_preloaded(&d->user, o->pc);
		o->pc = pc.addr;
		o->object = pc.object;
	}
}

/* Each record belongs before the previous ones. */
static void deliver_front(struct decoder *d)
{
	for (size_t i = 0; i < d->front.n / 2; i++) {
		struct sqtt_occupancy o = d->front.v[i];

		d->front.v[i] = d->front.v[d->front.n - 1 - i];
		d->front.v[d->front.n - 1 - i] = o;
	}
	if (d->front.n && !d->is_failed && d->sink->occupancy &&
		!d->sink->occupancy(d->sink->ctx, d->front.v, d->front.n, d->e))
		d->is_failed = true;
}

void sqtt_flush(struct decoder *d, bool is_end)
{
	DELIVER(d, perf);
	DELIVER(d, shaderdata);
	DELIVER(d, other_simd);
	if (is_end)
		resolve_occupancy(d);
	if (is_end || !d->holds_occupancy)
		DELIVER(d, occupancy);
	if (!is_end)
		return;
	deliver_front(d);
	DELIVER(d, realtime);
	sqtt_resolve_events(d);
	DELIVER(d, event);
}
