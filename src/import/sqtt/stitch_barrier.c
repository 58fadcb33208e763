/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether an s_barrier_wait has a token. gfx12 can be configured to omit them, and then an
 * immediate in its place may be that of the wait or of later code. 0.1.6 guesses by pairing every
 * second instruction with the following lines; the newer rules try both readings and keep the one
 * that matches longer.
 */
#include "import/sqtt/internal.h"

#define HORIZON 256u	   /* instructions checked for each reading */
#define HORIZON_C16 16384u /* 0.1.6 has no limit; corrupt streams need one */

static bool fits(const struct decoder *d, unsigned cat, unsigned class)
{
	if (cat == class || (class == AMD_CODE_BRANCH && (cat == SQTT_NEXT || cat == SQTT_JUMP)) ||
		(class == AMD_CODE_IMMED && cat == SQTT_MSG) ||
		(class == AMD_CODE_VMEM && cat == SQTT_FLAT))
		return true;
	return cat == SQTT_IMMED &&
	       (class == AMD_CODE_VMEM || class == AMD_CODE_FLAT || class == AMD_CODE_LDS ||
		       class == AMD_CODE_VALU || (class == AMD_CODE_SMEM && !d->is_c16));
}

static void advance(struct code_at *at, const struct code_line *line, unsigned cat)
{
	bool is_jump = line->inst_class == AMD_CODE_BRANCH && cat == SQTT_JUMP;

	at->idx += (uint64_t)(int64_t)(is_jump ? line->branch_words : line->words);
}

static bool guess_c16(struct decoder *d, struct wave *w, struct code_at next, size_t i)
{
	unsigned earlier = 0;
	bool is_gap = true;

	for (size_t j = i; j < w->insts.n && j - i < HORIZON_C16 && is_gap;) {
		const struct code_line *m = code_get(&d->code, &next);
		unsigned cat = w->insts.v[j].category, class;

		if (!m)
			break;
		class = m->inst_class;
		advance(&next, m, cat);
		if (class == AMD_CODE_UNKNOWN || class == AMD_CODE_SKIP) {
			j++;
			continue;
		}
		is_gap = fits(d, cat, class);
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
		const struct code_line *m = code_get(&d->code, &at);
		unsigned cat = w->insts.v[j].category;

		if (!m)
			break;
		advance(&at, m, cat);
		if (m->inst_class == AMD_CODE_UNKNOWN || m->inst_class == AMD_CODE_SKIP)
			continue;
		if ((m->flags & AMD_CODE_BARWAIT) && cat != SQTT_IMMED)
			continue;
		if (!fits(d, cat, m->inst_class))
			break;
		j++;
	}
	return j;
}

static bool guess_c16_line(
	struct decoder *d, struct wave *w, struct code_line *line, struct code_at next, size_t i)
{
	if ((line->state & LINE_PARSED) && !(line->state & LINE_EXCLUDED))
		return false;
	if (w->insts.v[i].category == SQTT_IMMED && !guess_c16(d, w, next, i))
		return false;
	line->state |= LINE_EXCLUDED;
	line->inst_class = CODE_EXCLUDED;
	return true;
}

bool sqtt_is_barrier_gap(
	struct decoder *d, struct wave *w, struct code_line *line, struct code_at next, size_t i)
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

void sqtt_insert_gaps(struct decoder *d, struct wave *w)
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
