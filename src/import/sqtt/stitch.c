/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the address of each instruction of a wave. Tokens have addresses only after indirect
 * jumps, so the program is walked along with the list: a line whose class matches takes the next
 * instruction.
 */
#include "import/sqtt/internal.h"

#define MAX_FAILS 1000u	 /* consecutive lines that match nothing */
#define MAX_SKIPS 10000u /* consecutive lines that are never traced */

enum verdict { MATCH, MATCH_TWO, NO_MATCH, STOP, AGAIN };

struct walk {
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

static void set_pc(struct walk *k, struct sqtt_inst *x, const struct code_at *at)
{
	k->w->n_known++;
	x->pc = code_addr(at);
	x->object = at->object & SQTT_MAX_OBJECT;
}

/* Steps past a line; at the end of a segment it finds the one that continues there. */
static void step(struct walk *k, struct code_at *at, int64_t words)
{
	at->idx += (uint64_t)words;
	if (at->idx < at->segment->n_words)
		return;
	*at = code_find(&k->d->code, (struct sqtt_pc){code_addr(at), at->object});
}

/* The walk cannot continue: resumes at a later known place, if any. 0.1.6 gives up. */
static bool resume(struct walk *k)
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
static bool pass_unknown(struct walk *k, const struct pc_info *p)
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
static bool take_infos(struct walk *k, struct code_at *at, bool *is_stop)
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
static void take_known(struct walk *k, struct code_at at)
{
	struct code_lines *c = &k->d->code;
	struct code_line *line = code_get(c, &at);
	struct sqtt_inst *x = &k->w->insts.v[k->i++];

	while (line->inst_class == AMD_CODE_SKIP) {
		struct code_at after = at;
		struct code_line *next;

		step(k, &after, line->words);
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
		step(k, &k->next, line->branch_words);
	else
		step(k, &k->next, line->words);
}

/* gfx950 scaled matrix instructions are two in the code but one in the trace. */
static void widen_scaled(struct walk *k)
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

static bool fits_swapped(const struct walk *k, unsigned cat, unsigned class, size_t i)
{
	if (cat == class)
		return true;
	if (!k->is_right || cat != SQTT_FLAT || class != AMD_CODE_VMEM)
		return false;
	sqtt_note_at(k->d, SQTT_DIFF_SWAP_FLAT, k->w->insts.v[i].off);
	return true;
}

/* gfx9 may issue two instructions in either order; restores program order. */
static bool try_swap(struct walk *k, const struct code_line *line)
{
	struct sqtt_inst *x = &k->w->insts.v[k->i], other;
	struct code_line *next;

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

static enum verdict match_other(struct walk *k, const struct code_line *line, unsigned cat)
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

static enum verdict match(struct walk *k, const struct code_line *line, struct code_at at)
{
	struct sqtt_inst *x = &k->w->insts.v[k->i];
	unsigned cat = x->category, class = line->inst_class;

	if (is_direct(cat, class))
		return MATCH;
	if (class == AMD_CODE_BRANCH) {
		if (cat != SQTT_JUMP)
			return STOP;
		k->next = at;
		step(k, &k->next, line->branch_words);
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

static void take_match(struct walk *k, struct code_line *line, const struct code_at *at)
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
static bool walk_line(struct walk *k)
{
	struct code_at at = k->next;
	struct code_line *line = code_get(&k->d->code, &at);

	if (!line || k->w->insts.v[k->i].category == SQTT_NONE)
		return false;
	step(k, &k->next, line->words);
	if (line->inst_class == AMD_CODE_UNKNOWN || line->inst_class == AMD_CODE_SKIP)
		return ++k->skips < MAX_SKIPS;
	if ((line->flags & AMD_CODE_BARWAIT) && k->d->has_exbar &&
		sqtt_is_barrier_gap(k->d, k->w, line, k->next, k->i)) {
		struct barrier_gap gap = {{code_addr(&at), at.object}, (uint32_t)k->i};

		sqtt_need(k->d, VEC_PUSH(&k->d->gaps, gap));
		return true;
	}
	switch (match(k, line, at)) {
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
static void walk_straight(struct walk *k)
{
	const struct wave *w = k->w;
	struct code_pages *s = k->next.segment;
	uint64_t first = k->next.idx & ~(uint64_t)(PAGE_LINES - 1), left;
	struct sqtt_inst *x = w->insts.v + k->i, *limit = w->insts.v + k->n;
	struct code_line *line, *last;
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

bool sqtt_stitch(struct decoder *d, struct wave *w)
{
	struct walk k = {.d = d,
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
