/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c: delivers records to the sink: waves are stitched and delivered one by one, the rest in
 * batches. Also the names of the notes.
 *
 * Parts: actions of the command processor; barriers without a token; addresses of instructions;
 * records to the sink.
 */
#include "import/sqtt/internal.h"

/* --- actions of the command processor --------------------------------------------------------- */

/*
 * Actions of the command processor: launches, flushes, stalls, from registers and events.
 */

#define MAX_EVENTS (1u << 18) /* per stream: more is corruption */

/* Decoder 0.1.6 has none. */
void sqtt_event(struct decoder *d, enum sqtt_event_type type, unsigned queue, bool is_bottom)
{
	bool is_launch = type == SQTT_DISPATCH;
	struct sqtt_pc entry = is_launch ? userdata_entry(d, queue) : (struct sqtt_pc){0, 0};
	struct sqtt_event x = {d->now, entry.addr, entry.object, {0}, (uint8_t)type,
		(uint8_t)(queue >> 2), queue & 3, is_bottom ? 2 : 0};

	if (!d->sink->event || d->is_c16)
		return;
	if (is_launch)
		memcpy(x.threads, d->threads[queue], sizeof(x.threads));
	if (d->event.n < MAX_EVENTS)
		sqtt_need(d, VEC_PUSH(&d->event, x));
	else
		sqtt_note(d, SQTT_NOTE_OVERFULL);
}

bool sqtt_register(struct decoder *d, unsigned queue, unsigned which, uint32_t data)
{
	if (which == 0x0c) /* COMPUTE_PGM_LO, _HI */
		d->pgm_lo[queue] = data;
	else if (which == 0x0d)
		d->pgm_hi[queue] = data;
	else if (which >= 7 && which <= 9) /* COMPUTE_NUM_THREAD_X to _Z */
		d->threads[queue][which - 7] = data;
	else if (which == 0 && data & 1) /* COMPUTE_DISPATCH_INITIATOR */
		sqtt_event(d, SQTT_DISPATCH, queue, false);
	else if (which == 0x7f && data == 7)
		sqtt_event(d, SQTT_CS_FLUSH, queue, false);
	else
		return false;
	return true;
}

/* Resolves entries with code objects that were announced later as loaded from the beginning. */
static void sqtt_resolve_events(struct decoder *d)
{
	for (size_t i = 0; d->user.is_enabled && i < d->event.n; i++) {
		struct sqtt_event *x = &d->event.v[i];
		struct sqtt_pc pc = {x->pc, x->object};

		if (x->pc && !x->object)
			pc = userdata_resolve_preloaded(&d->user, x->pc);
		x->pc = pc.addr;
		x->object = pc.object;
	}
}

/* --- barriers without a token ----------------------------------------------------------------- */

/*
 * Decides whether an s_barrier_wait has a token. gfx12 can be configured to omit them, and then an
 * immediate in its place may be that of the wait or of later code. 0.1.6 guesses by pairing every
 * second instruction with the following lines; the newer rules try both readings and keep the one
 * that matches longer.
 */

#define HORIZON 256u	   /* instructions checked for each reading */
#define HORIZON_C16 16384u /* 0.1.6 has no limit; corrupt streams need one */

static bool sqtt_records_fits(const struct decoder *d, unsigned cat, unsigned class)
{
	if (cat == class || (class == AMD_CODE_BRANCH && (cat == SQTT_NEXT || cat == SQTT_JUMP)) ||
		(class == AMD_CODE_IMMED && cat == SQTT_MSG) ||
		(class == AMD_CODE_VMEM && cat == SQTT_FLAT))
		return true;
	return cat == SQTT_IMMED &&
	       (class == AMD_CODE_VMEM || class == AMD_CODE_FLAT || class == AMD_CODE_LDS ||
		       class == AMD_CODE_VALU || (class == AMD_CODE_SMEM && !d->is_c16));
}

static void sqtt_records_advance(
	struct code_at *at, const struct sqtt_code_line *line, unsigned cat)
{
	bool is_jump = line->inst_class == AMD_CODE_BRANCH && cat == SQTT_JUMP;

	at->idx += (uint64_t)(int64_t)(is_jump ? line->branch_words : line->words);
}

static bool guess_c16(struct decoder *d, struct wave *w, struct code_at next, size_t i)
{
	unsigned earlier = 0;
	bool is_gap = true;

	for (size_t j = i; j < w->insts.n && j - i < HORIZON_C16 && is_gap;) {
		const struct sqtt_code_line *m = code_get(&d->code, &next);
		unsigned cat = w->insts.v[j].category, class;

		if (!m)
			break;
		class = m->inst_class;
		sqtt_records_advance(&next, m, cat);
		if (class == AMD_CODE_UNKNOWN || class == AMD_CODE_SKIP) {
			j++;
			continue;
		}
		is_gap = sqtt_records_fits(d, cat, class);
		if (cat != SQTT_IMMED && class != AMD_CODE_VALU) {
			if (earlier && earlier != class)
				break;
			earlier = class;
		}
		j += 2;
	}
	return is_gap;
}

/* Number of instructions from j on that match the code from `at` on, one per line. */
static size_t fit_length(struct decoder *d, struct wave *w, struct code_at at, size_t j)
{
	size_t first = j;

	while (j < w->insts.n && j - first < HORIZON) {
		const struct sqtt_code_line *m = code_get(&d->code, &at);
		unsigned cat = w->insts.v[j].category;

		if (!m)
			break;
		sqtt_records_advance(&at, m, cat);
		if (m->inst_class == AMD_CODE_UNKNOWN || m->inst_class == AMD_CODE_SKIP)
			continue;
		if ((m->flags & AMD_CODE_BARWAIT) && cat != SQTT_IMMED)
			continue;
		if (!sqtt_records_fits(d, cat, m->inst_class))
			break;
		j++;
	}
	return j;
}

static bool guess_c16_line(struct decoder *d, struct wave *w, struct sqtt_code_line *line,
	struct code_at next, size_t i)
{
	if ((line->state & LINE_PARSED) && !(line->state & LINE_EXCLUDED))
		return false;
	if (w->insts.v[i].category == SQTT_IMMED && !guess_c16(d, w, next, i))
		return false;
	line->state |= LINE_EXCLUDED;
	line->inst_class = CODE_EXCLUDED;
	return true;
}

/* Stitch_barrier.c: was the s_barrier_wait line, which has just been passed, left out of the trace
 * at instruction i? */
static bool sqtt_is_barrier_gap(struct decoder *d, struct wave *w, struct sqtt_code_line *line,
	struct code_at next, size_t i)
{
	bool is_gap;

	if (d->is_c16)
		return guess_c16_line(d, w, line, next, i);
	if (w->insts.v[i].category != SQTT_IMMED)
		return true;
	is_gap = fit_length(d, w, next, i) > fit_length(d, w, next, i + 1);
	if (is_gap != guess_c16(d, w, next, i))
		sqtt_note_at(d, SQTT_DIFF_BARRIER_WAIT, w->insts.v[i].off);
	return is_gap;
}

struct splice { /* state of the timeline, kept across gaps */
	struct wave *w;
	size_t copied;
	int64_t cur; /* end of the copied part */
};

static void splice_spans(
	struct decoder *d, struct splice *s, int64_t time, int64_t dur, int64_t next_time)
{
	struct sqtt_span *last, wait = {SQTT_WAIT, clamp_dur(s->w, dur)}, after;
	int64_t rest;

	while (s->copied < s->w->spans.n && s->cur <= time) {
		struct sqtt_span span = s->w->spans.v[s->copied++];

		s->cur += span.dur;
		sqtt_need(d, VEC_PUSH(&d->gap_spans, span));
	}
	if (d->is_failed || d->gap_spans.n == 0)
		return;
	last = &d->gap_spans.v[d->gap_spans.n - 1];
	rest = s->cur - time;
	if (last->dur < rest || s->cur < next_time)
		return;
	last->dur = clamp_dur(s->w, last->dur - rest);
	after = (struct sqtt_span){last->state, clamp_dur(s->w, rest - dur)};
	sqtt_need(d, VEC_PUSH(&d->gap_spans, wait) && VEC_PUSH(&d->gap_spans, after));
}

static void insert_gap(
	struct decoder *d, struct splice *s, struct sqtt_inst *x, const struct barrier_gap *gap)
{
	const struct sqtt_inst *before = &d->gap_insts.v[d->gap_insts.n - 1];
	struct sqtt_inst wait = {.time = inst_end(before), .category = SQTT_IMMED};

	if (x->time == wait.time && x->dur > 1) {
		x->time++;
		x->dur--;
	}
	wait.dur = clamp_dur(s->w, x->time - wait.time);
	wait.pc = gap->pc.addr;
	wait.object = gap->pc.object & SQTT_MAX_OBJECT;
	wait.off = x->off;
	splice_spans(d, s, wait.time, wait.dur, x->time);
	sqtt_need(d, VEC_PUSH(&d->gap_insts, wait));
	s->w->n_known++;
}

static void sqtt_insert_gaps(struct decoder *d, struct wave *w)
{
	struct splice s = {.w = w, .cur = w->begin};
	uint32_t previous = 0;
	size_t g = 0;

	d->gap_insts.n = d->gap_spans.n = 0;
	for (size_t i = 0; i < w->insts.n && !d->is_failed; i++) {
		for (; g < d->gaps.n && d->gaps.v[g].index <= i; g++) {
			if (d->gaps.v[g].index <= previous)
				continue;
			previous = d->gaps.v[g].index;
			insert_gap(d, &s, &w->insts.v[i], &d->gaps.v[g]);
		}
		sqtt_need(d, VEC_PUSH(&d->gap_insts, w->insts.v[i]));
	}
	while (s.copied < w->spans.n && !d->is_failed)
		sqtt_need(d, VEC_PUSH(&d->gap_spans, w->spans.v[s.copied++]));
	if (d->is_failed)
		return;
	w->insts.n = w->spans.n = 0;
	for (size_t i = 0; i < d->gap_insts.n; i++)
		sqtt_need(d, VEC_PUSH(&w->insts, d->gap_insts.v[i]));
	for (size_t i = 0; i < d->gap_spans.n; i++)
		sqtt_need(d, VEC_PUSH(&w->spans, d->gap_spans.v[i]));
}

/* --- addresses of instructions ---------------------------------------------------------------- */

/*
 * Finds the address of each instruction of a wave. Tokens have addresses only after indirect jumps,
 * so the program is walked along with the list: a line whose class matches takes the next
 * instruction.
 */

#define MAX_FAILS 1000u	 /* consecutive lines that match nothing */
#define MAX_SKIPS 10000u /* consecutive lines that are never traced */

enum verdict { MATCH, MATCH_TWO, NO_MATCH, STOP, AGAIN };

struct stitch_walk {
	struct decoder *d;
	struct wave *w;
	struct code_at next;
	size_t i, n, info; /* current instruction, their number, first unused info */
	unsigned imms;	   /* immediates taken as the instruction they waited for */
	unsigned fails, skips;
	bool is_gfx9, is_right;
};

static bool is_direct(unsigned cat, unsigned class)
{
	return cat == class || (class == AMD_CODE_BRANCH && cat == SQTT_NEXT) ||
	       (class == AMD_CODE_IMMED && cat == SQTT_MSG) ||
	       (class == AMD_CODE_VMEM && cat == SQTT_FLAT);
}

static void set_pc(struct stitch_walk *k, struct sqtt_inst *x, const struct code_at *at)
{
	k->w->n_known++;
	x->pc = code_addr(at);
	x->object = at->object & SQTT_MAX_OBJECT;
}

/* Steps past a line; at the end of a segment it finds the one that continues there. */
static void sqtt_records_step(struct stitch_walk *k, struct code_at *at, int64_t words)
{
	at->idx += (uint64_t)words;
	if (at->idx < at->segment->n_words)
		return;
	*at = code_find(&k->d->code, (struct sqtt_pc){code_addr(at), at->object});
}

/* The walk cannot continue: resumes at a later known place, if any. 0.1.6 gives up. */
static bool resume(struct stitch_walk *k)
{
	const struct pc_info *v = k->w->infos.v;

	if (!k->is_right)
		return false;
	while (k->info < k->w->infos.n && (v[k->info].index <= k->i || !v[k->info].is_known))
		k->info++;
	if (k->info == k->w->infos.n || v[k->info].index >= k->n)
		return false;
	k->i = v[k->info].index;
	k->fails = k->skips = k->imms = 0;
	sqtt_note_at(k->d, SQTT_DIFF_RESUMED, k->w->insts.v[k->i].off);
	return true;
}

/* Skips a place that is unknown or has no code. False: no later place is known either. */
static bool pass_unknown(struct stitch_walk *k, const struct pc_info *p)
{
	bool is_last = k->info + 1 >= k->w->infos.n;

	if (!p->is_known) {
		if (k->d->is_c16) /* it continues without a jump */
			return true;
		sqtt_note_at(k->d, SQTT_DIFF_UNKNOWN_JUMP, k->w->insts.v[k->i].off);
	}
	if (is_last)
		return !k->is_right;
	if (p[1].index > k->i)
		k->i = p[1].index;
	return k->i < k->n;
}

/* True: the address of instruction k->i is known and in *at. *is_stop: no later address is
 * known. */
static bool take_infos(struct stitch_walk *k, struct code_at *at, bool *is_stop)
{
	bool is_known = false;

	for (; k->info < k->w->infos.n && k->w->infos.v[k->info].index <= k->i; k->info++) {
		const struct pc_info *p = &k->w->infos.v[k->info];

		if (p->index != k->i)
			continue;
		if (p->is_known)
			*at = code_find(&k->d->code, p->pc);
		is_known = p->is_known && code_get(&k->d->code, at);
		if (is_known || pass_unknown(k, p))
			continue;
		*is_stop = true;
		return false;
	}
	return is_known;
}

/* Uses the known address; the class is not checked. */
static void take_known(struct stitch_walk *k, struct code_at at)
{
	struct code_lines *c = &k->d->code;
	struct sqtt_code_line *line = code_get(c, &at);
	struct sqtt_inst *x = &k->w->insts.v[k->i++];

	while (line->inst_class == AMD_CODE_SKIP) {
		struct code_at after = at;
		struct sqtt_code_line *next;

		sqtt_records_step(k, &after, line->words);
		if (!(next = code_get(c, &after)))
			break;
		at = after;
		line = next;
	}
	set_pc(k, x, &at);
	if (line->inst_class == AMD_CODE_BARRIER && k->i < k->n)
		set_pc(k, &k->w->insts.v[k->i++], &at);
	k->next = at;
	if (line->inst_class == AMD_CODE_BRANCH && x->category == SQTT_JUMP)
		sqtt_records_step(k, &k->next, line->branch_words);
	else
		sqtt_records_step(k, &k->next, line->words);
}

/* gfx950 scaled matrix instructions are two in the code but one in the trace. */
static void widen_scaled(struct stitch_walk *k)
{
	struct wave *w = k->w;
	struct sqtt_inst *x = &w->insts.v[k->i];
	int64_t lo = k->i ? inst_end(x - 1) : k->w->begin;
	int64_t hi = k->i + 1 < k->n ? x[1].time : k->w->end;

	x->dur = clamp_dur(w, (int64_t)x->dur + 4);
	if (x->time > lo) {
		x->time -= 4;
		if (inst_end(x) < hi)
			x->dur = clamp_dur(w, (int64_t)x->dur + 4);
	} else if (inst_end(x) > hi) {
		x->dur -= 4;
	}
}

static bool fits_swapped(const struct stitch_walk *k, unsigned cat, unsigned class, size_t i)
{
	if (cat == class)
		return true;
	if (!k->is_right || cat != SQTT_FLAT || class != AMD_CODE_VMEM)
		return false;
	sqtt_note_at(k->d, SQTT_DIFF_SWAP_FLAT, k->w->insts.v[i].off);
	return true;
}

/* gfx9 may issue two instructions in either order; restores program order. */
static bool try_swap(struct stitch_walk *k, const struct sqtt_code_line *line)
{
	struct sqtt_inst *x = &k->w->insts.v[k->i], other;
	struct sqtt_code_line *next;

	if (k->i + 1 >= k->n || !fits_swapped(k, x[1].category, line->inst_class, k->i + 1))
		return false;
	next = code_get(&k->d->code, &k->next);
	if (!next) {
		sqtt_note_at(k->d, k->d->is_c16 ? SQTT_NOTE_REJECTED : SQTT_DIFF_SWAP_END, x->off);
		if (k->d->is_c16)
			k->d->res->status = SQTT_INVALID_DATA;
		return false;
	}
	if (!fits_swapped(k, x->category, next->inst_class, k->i))
		return false;
	other = x[0];
	x[0] = x[1];
	x[1] = other;
	return true;
}

static bool immed_stands_for(const struct decoder *d, unsigned class)
{
	return class == AMD_CODE_VMEM || class == AMD_CODE_FLAT || class == AMD_CODE_LDS ||
	       class == AMD_CODE_VALU || (class == AMD_CODE_SMEM && !d->is_c16);
}

static enum verdict match_other(
	struct stitch_walk *k, const struct sqtt_code_line *line, unsigned cat)
{
	if (k->is_gfx9 && try_swap(k, line))
		return AGAIN;
	if (!k->is_gfx9 && cat == SQTT_IMMED && immed_stands_for(k->d, line->inst_class)) {
		if (line->inst_class == AMD_CODE_SMEM)
			sqtt_newer(k->d);
		k->imms++;
		return MATCH;
	}
	if ((line->flags & AMD_CODE_WAIT) && k->imms > 0) {
		k->imms--;
		return MATCH;
	}
	if ((line->flags & (AMD_CODE_WAIT | AMD_CODE_LOAD)) && !(line->flags & AMD_CODE_SCRATCH))
		return STOP;
	return NO_MATCH;
}

static enum verdict sqtt_records_match(
	struct stitch_walk *k, const struct sqtt_code_line *line, struct code_at at)
{
	struct sqtt_inst *x = &k->w->insts.v[k->i];
	unsigned cat = x->category, class = line->inst_class;

	if (is_direct(cat, class))
		return MATCH;
	if (class == AMD_CODE_BRANCH) {
		if (cat != SQTT_JUMP)
			return STOP;
		k->next = at;
		sqtt_records_step(k, &k->next, line->branch_words);
		return MATCH;
	}
	if (class == AMD_CODE_MFMA_SCALE && cat == SQTT_VALU) {
		widen_scaled(k);
		return MATCH;
	}
	if (class == AMD_CODE_BARRIER && cat == SQTT_MSG)
		return k->i + 1 < k->n && x[1].category == SQTT_IMMED ? MATCH_TWO : MATCH;
	if (class == AMD_CODE_BARRIER && cat == SQTT_IMMED)
		return MATCH;
	return match_other(k, line, cat);
}

static void take_match(struct stitch_walk *k, struct sqtt_code_line *line, const struct code_at *at)
{
	struct sqtt_inst *x = &k->w->insts.v[k->i++];

	set_pc(k, x, at);
	if ((line->flags & AMD_CODE_MOV_B64) && !k->d->is_c16 &&
		x->dur < clamp_dur(k->w, (int64_t)x->stall + 2)) {
		x->dur = clamp_dur(k->w, (int64_t)x->stall + 2);
		sqtt_newer(k->d);
	}
	if (line->flags & AMD_CODE_DS_BVH)
		sqtt_newer(k->d);
	line->state |= LINE_PARSED;
	k->fails = k->skips = 0;
}

/* Matches one line of code with the current instruction. False: the walk cannot continue. */
static bool walk_line(struct stitch_walk *k)
{
	struct code_at at = k->next;
	struct sqtt_code_line *line = code_get(&k->d->code, &at);

	if (!line || k->w->insts.v[k->i].category == SQTT_NONE)
		return false;
	sqtt_records_step(k, &k->next, line->words);
	if (line->inst_class == AMD_CODE_UNKNOWN || line->inst_class == AMD_CODE_SKIP)
		return ++k->skips < MAX_SKIPS;
	if ((line->flags & AMD_CODE_BARWAIT) && k->d->has_exbar &&
		sqtt_is_barrier_gap(k->d, k->w, line, k->next, k->i)) {
		struct barrier_gap gap = {{code_addr(&at), at.object}, (uint32_t)k->i};

		sqtt_need(k->d, VEC_PUSH(&k->d->gaps, gap));
		return true;
	}
	switch (sqtt_records_match(k, line, at)) {
	case MATCH_TWO:
		set_pc(k, &k->w->insts.v[k->i + 1], &at);
		take_match(k, line, &at);
		k->i++;
		return true;
	case MATCH:
		take_match(k, line, &at);
		return true;
	case AGAIN:
		k->next = at;
		return true;
	case STOP:
		return false;
	default:
		return ++k->fails < MAX_FAILS;
	}
}

#define MAX_WORDS 8u /* upper bound for an instruction */
#define SPECIAL (AMD_CODE_BARWAIT | AMD_CODE_DS_BVH | AMD_CODE_MOV_B64) /* need more than a match */

/* Fast path, since most code is straight and matches: does the same as walk_line() without its
 * checks, up to the next known place or the end of the page. */
static void walk_straight(struct stitch_walk *k)
{
	const struct wave *w = k->w;
	struct code_pages *s = k->next.segment;
	uint64_t first = k->next.idx & ~(uint64_t)(PAGE_LINES - 1), left;
	struct sqtt_inst *x = w->insts.v + k->i, *limit = w->insts.v + k->n;
	struct sqtt_code_line *line, *last;
	uint64_t base;

	if (!s || k->next.idx >= s->n_words || !s->pages[first / PAGE_LINES])
		return;
	if (k->info < w->infos.n && w->infos.v[k->info].index < k->n)
		limit = w->insts.v + w->infos.v[k->info].index;
	base = k->next.base + 4 * first;
	left = s->n_words - first < PAGE_LINES ? s->n_words - first : PAGE_LINES;
	line = s->pages[first / PAGE_LINES];
	last = left > MAX_WORDS ? line + (left - MAX_WORDS)
				: line; /* a step from before it stays in the page */
	line += k->next.idx - first;
	for (; x < limit && line < last; line += line->words) {
		if (line->inst_class == x->category && !(line->flags & SPECIAL)) {
			x->pc = base + 4 * (uint64_t)(line - s->pages[first / PAGE_LINES]);
			x->object = k->next.object & SQTT_MAX_OBJECT;
			line->state |= LINE_PARSED;
			k->fails = k->skips = 0;
			x++;
		} else if (line->inst_class != AMD_CODE_SKIP || ++k->skips >= MAX_SKIPS) {
			break;
		}
	}
	k->w->n_known += (uint32_t)((size_t)(x - w->insts.v) - k->i);
	k->i = (size_t)(x - w->insts.v);
	k->next.idx = first + (uint64_t)(line - s->pages[first / PAGE_LINES]);
}

/* Stitch.c: assigns addresses to the wave's instructions; true: all were processed. */
static bool sqtt_stitch(struct decoder *d, struct wave *w)
{
	struct stitch_walk k = {.d = d,
		.w = w,
		.n = w->insts.n,
		.is_gfx9 = d->stream.gfx_major == 9,
		.is_right = d->rules == SQTT_RULES_RIGHT};
	bool is_all;

	d->gaps.n = 0;
	w->n_known = 0;
	while (k.i < k.n) {
		struct code_at at = {0};
		bool is_stop = false;

		walk_straight(&k);
		if (k.i == k.n)
			break;
		if (k.info < w->infos.n && w->infos.v[k.info].index <= k.i &&
			take_infos(&k, &at, &is_stop)) {
			if (w->insts.v[k.i].category == SQTT_CONTEXT)
				set_pc(&k, &w->insts.v[k.i++], &at);
			else
				take_known(&k, at);
			continue;
		}
		if (is_stop)
			break;
		if (w->insts.v[k.i].category == SQTT_CONTEXT)
			k.i++;
		else if (!walk_line(&k) && !resume(&k))
			break;
	}
	is_all = k.i >= k.n;
	if (d->gaps.n)
		sqtt_insert_gaps(d, w);
	return is_all;
}

/* --- records to the sink ---------------------------------------------------------------------- */

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
