/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c: one wave's way through a program. Times are drawn so that a stream can say them; states
 * follow from the rules of the format, written down here once more and apart from any decoder.
 */
#include "walk.h"

#include "encode_gfx9.h"

#define LAST_STALL_SLOT 15u /* gfx10+: masks name sixteen waves */

struct walk {
	const struct sq_stream *s;
	struct sq_wave *w;
	uint64_t *state;
	bool is_failed;
	int64_t mark;	    /* start of the state that lasts */
	int now_in;	    /* that state */
	int64_t last_token; /* gfx10+: of this wave */
	int64_t confirmed;  /* gfx9: time of the last confirmation, or of the begin */
};

static uint32_t below(struct walk *k, uint32_t n)
{
	return sq_below(k->state, n);
}

/* Mostly none, sometimes a few, rarely many. */
static int64_t some(struct walk *k)
{
	uint32_t kind = below(k, 16);

	return kind < 8 ? 0 : kind < 15 ? 1 + below(k, 6) : 1 + below(k, 400);
}

static struct sq_inst *last(const struct walk *k)
{
	return k->w->insts.n ? &k->w->insts.v[k->w->insts.n - 1] : NULL;
}

static int64_t last_end(const struct walk *k)
{
	return last(k) ? last(k)->time + last(k)->dur : k->w->begin;
}

static void append_span(struct walk *k, int span, int64_t dur)
{
	struct sqtt_span p = {span, (int32_t)dur};

	k->is_failed |= !VEC_PUSH(&k->w->spans, p);
}

static void add_span(struct walk *k, int span, int64_t dur)
{
	size_t n = k->w->spans.n;

	if (n && k->w->spans.v[n - 1].state == span)
		k->w->spans.v[n - 1].dur += (int32_t)dur;
	else
		append_span(k, span, dur);
}

static void push(struct walk *k, struct sq_inst x)
{
	k->is_failed |= !VEC_PUSH(&k->w->insts, x);
}

/* --- gfx9 --- */

static unsigned type_gfx9(struct walk *k, enum sq_op op, bool is_taken)
{
	switch (op) {
	case SQ_OP_SMEM:
		return 0;
	case SQ_OP_BUFFER:
		return 2;
	case SQ_OP_LOAD:
	case SQ_OP_FLAT:
		return 14;
	case SQ_OP_STORE:
		return 4;
	case SQ_OP_LDS:
	case SQ_OP_LDS_WRITE:
		return 6;
	case SQ_OP_VALU:
	case SQ_OP_FMA:
		return below(k, 2) ? 5 : 18;
	case SQ_OP_BRANCH:
	case SQ_OP_CBRANCH:
		return is_taken ? 12 : 13;
	case SQ_OP_SETPC:
		return 7;
	case SQ_OP_BARRIER:
	case SQ_OP_MESSAGE:
	case SQ_OP_END:
		return 15;
	default:
		return below(k, 2) ? 1 : 17;
	}
}

static unsigned category_gfx9(unsigned type)
{
	static const uint8_t categories[32] = {[0] = SQTT_SMEM,
		[1] = SQTT_SALU,
		[17] = SQTT_SALU,
		[2] = SQTT_VMEM,
		[4] = SQTT_FLAT,
		[14] = SQTT_FLAT,
		[5] = SQTT_VALU,
		[18] = SQTT_VALU,
		[6] = SQTT_LDS,
		[12] = SQTT_JUMP,
		[13] = SQTT_NEXT,
		[7] = SQTT_SALU,
		[15] = SQTT_MSG};

	return categories[type];
}

/* The slot was seen in this state at that time. */
static void see_gfx9(struct walk *k, int state, int64_t time)
{
	if (time > k->mark) {
		add_span(k, k->now_in, time - k->mark);
		k->mark = time;
	}
	k->now_in = state;
}

static void immediate_gfx9(struct walk *k, uint32_t line)
{
	struct sq_inst x = {.time = last_end(k), .category = SQTT_IMMED, .line = line};

	x.dur = 4;
	if (last(k))
		x.dur += 4 * (uint32_t)some(k);
	else
		x.time += 4 * some(k);
	x.stall = x.dur;
	push(k, x);
	if (k->mark < x.time)
		add_span(k, k->now_in, x.time - k->mark);
	append_span(k, SQTT_WAIT, x.dur);
	k->mark = x.time + x.dur;
	k->now_in = SQTT_EXEC;
}

static void issue_gfx9(struct walk *k, uint32_t line, unsigned type)
{
	struct sq_inst x = {
		.category = (uint8_t)category_gfx9(type), .code = (uint8_t)type, .line = line};
	int64_t early;

	x.time = last_end(k) + 4 * some(k); /* one draw a statement: the same on every compiler */
	x.stall = 4 * (uint32_t)some(k);
	x.dur = x.stall + 4 + (below(k, 8) == 0 ? 4 * below(k, 4) : 0);
	early = k->confirmed - sq_confirm_gfx9(&x, k->w->simd, false);
	if (early > 0) /* confirmations keep their order */
		x.time += early;
	k->confirmed = sq_confirm_gfx9(&x, k->w->simd, false);
	push(k, x);
	if (x.stall)
		see_gfx9(k, SQTT_STALL, x.time);
	see_gfx9(k, SQTT_EXEC, x.time + x.stall);
}

/* 0.1.6: the message of the end begins where the instruction before it ended. */
static void end_c16(struct walk *k, uint32_t line)
{
	struct sq_inst x = {.time = last_end(k), .category = SQTT_MSG, .code = 15, .line = line};
	int64_t issue, end;

	x.dur = 4 + 4 * (uint32_t)some(k);
	if (k->confirmed > sq_confirm_gfx9(&x, k->w->simd, true))
		x.dur += (uint32_t)(k->confirmed - sq_confirm_gfx9(&x, k->w->simd, true));
	issue = x.time + x.dur - 4;
	see_gfx9(k, SQTT_EXEC, issue);
	end = sq_confirm_gfx9(&x, k->w->simd, true) + 4 * some(k);
	push(k, x);
	if (k->w->spans.n)
		k->w->spans.v[k->w->spans.n - 1].dur -= (int32_t)(issue - x.time);
	append_span(k, SQTT_WAIT, x.dur);
	if (end > issue + 4)
		append_span(k, SQTT_IDLE, end - issue - 4);
	k->w->end = end;
}

static void end_gfx9(struct walk *k, uint32_t line)
{
	if (k->s->is_c16) {
		end_c16(k, line);
		return;
	}
	issue_gfx9(k, line, 15);
	k->w->end = k->confirmed + 4 * some(k) + 4;
	if (k->w->spans.n && k->w->end > k->mark)
		append_span(k, k->now_in, k->w->end - k->mark);
}

static void step_gfx9(struct walk *k, uint32_t line, bool is_taken)
{
	enum sq_op op = k->s->program->lines[line].op;

	if (op >= SQ_OP_WAIT_SMEM && op <= SQ_OP_NOP) {
		immediate_gfx9(k, line);
		return;
	}
	if (op == SQ_OP_END) {
		end_gfx9(k, line);
		return;
	}
	issue_gfx9(k, line, type_gfx9(k, op, is_taken));
	if (op == SQ_OP_BARRIER)
		immediate_gfx9(k, line);
}

/* --- gfx10 and later --- */

static void see_gfx10(struct walk *k, int state, int64_t time)
{
	if (time > k->mark) {
		add_span(k, k->now_in, time - k->mark);
		k->mark = time;
	}
	k->now_in = state;
}

/* Code, category and cycles of an instruction of this kind. */
static unsigned code_gfx10(struct walk *k, enum sq_op op, bool is_taken, struct sq_inst *x)
{
	static const uint8_t valu[][2] = {
		{SQ_VALU_TOKEN, 1}, {SQ_VALU_TOKEN, 1}, {10, 1}, {11, 4}, {13, 2}, {14, 4}};
	bool is_gfx10 = k->s->gen == SQ_GFX10;
	unsigned i;

	switch (op) {
	case SQ_OP_SMEM:
		x->category = SQTT_SMEM;
		x->code = (uint8_t)(1 + below(k, 2));
		return 1;
	case SQ_OP_BUFFER:
	case SQ_OP_LOAD:
	case SQ_OP_STORE:
		x->category = SQTT_VMEM;
		i = below(k, 12);
		x->code = (uint8_t)(55 + i);
		return 1 + i;
	case SQ_OP_FLAT:
		x->category = SQTT_FLAT;
		i = below(k, 5);
		x->code = (uint8_t)((is_gfx10 ? 30 : 28) + i);
		return i + (is_gfx10 ? 1 : 2);
	case SQ_OP_LDS:
	case SQ_OP_LDS_WRITE:
		x->category = SQTT_LDS;
		i = below(k, 5);
		x->code = (uint8_t)(42 + i);
		return 1 + i;
	case SQ_OP_VALU:
	case SQ_OP_FMA:
		x->category = SQTT_VALU;
		i = below(k, sizeof(valu) / sizeof(*valu));
		x->code = valu[i][0];
		return valu[i][1];
	case SQ_OP_BRANCH:
	case SQ_OP_CBRANCH:
		x->category = is_taken ? SQTT_JUMP : SQTT_NEXT;
		x->code = is_taken ? 3 : 4;
		return 1;
	case SQ_OP_MESSAGE:
	case SQ_OP_SIGNAL:
		x->category = SQTT_MSG;
		x->code = op == SQ_OP_MESSAGE ? 9 : 122;
		return 1;
	default:
		x->category = SQTT_SALU;
		x->code = op == SQ_OP_SETPC ? 5 : (uint8_t)(7 * below(k, 2));
		return 1;
	}
}

static void immediate_gfx10(struct walk *k, uint32_t line)
{
	struct sq_inst x = {.category = SQTT_IMMED, .line = line};
	int64_t now = k->last_token + 1 + some(k);

	x.time = last(k) && last_end(k) < now ? last_end(k) : now;
	x.stall = (uint32_t)(now - x.time);
	x.dur = x.stall + 1;
	if (k->s->program->lines[line].op == SQ_OP_BARWAIT)
		x.code = 19;
	push(k, x);
	see_gfx10(k, SQTT_WAIT, x.time);
	see_gfx10(k, SQTT_EXEC, now + 1);
	k->last_token = now;
}

static void issue_gfx10(struct walk *k, uint32_t line, bool is_taken)
{
	struct sq_inst x = {.line = line, .time = k->last_token + 1 + some(k)};
	unsigned cycles = code_gfx10(k, k->s->program->lines[line].op, is_taken, &x);

	if (k->w->slot <= LAST_STALL_SLOT && below(k, 3) == 0) {
		x.time = (k->mark > k->last_token ? k->mark : k->last_token) + some(k);
		x.stall = 1 + (uint32_t)some(k);
		see_gfx10(k, SQTT_STALL, x.time);
	}
	x.dur = x.stall + cycles;
	push(k, x);
	k->last_token = x.time + x.stall;
	see_gfx10(k, SQTT_EXEC, k->last_token);
}

static void step_gfx10(struct walk *k, uint32_t line, bool is_taken)
{
	enum sq_op op = k->s->program->lines[line].op;

	if (op == SQ_OP_SKIP)
		return;
	if ((op >= SQ_OP_WAIT_SMEM && op <= SQ_OP_NOP) || op == SQ_OP_BARWAIT) {
		immediate_gfx10(k, line);
	} else if (op == SQ_OP_END) {
		struct sq_inst x = {.time = last_end(k), .category = SQTT_MSG, .line = line};

		k->w->end = k->last_token + 1 + some(k);
		if ((!k->s->has_short_ends || below(k, 2)) && k->w->end <= last_end(k))
			k->w->end = last_end(k) + 1 + some(k);
		see_gfx10(k, SQTT_EMPTY, k->w->end);
		x.dur = (uint32_t)(k->w->end - x.time);
		if (x.time < k->w->end)
			push(k, x);
	} else {
		issue_gfx10(k, line, is_taken);
	}
}

bool sq_walk(const struct sq_stream *s, struct sq_wave *w, uint64_t *state, unsigned max_insts)
{
	struct walk k = {.s = s,
		.w = w,
		.state = state,
		.mark = w->begin,
		.now_in = SQTT_IDLE,
		.last_token = w->begin,
		.confirmed = w->begin};
	uint32_t line = 0;

	for (;;) {
		const struct sq_line *l = &s->program->lines[line];
		bool can_loop = w->insts.n < max_insts || l->target > line;
		bool is_taken = l->op == SQ_OP_BRANCH ||
				(l->op == SQ_OP_CBRANCH && can_loop && sq_below(state, 2));

		if (s->gen == SQ_GFX9)
			step_gfx9(&k, line, is_taken);
		else
			step_gfx10(&k, line, is_taken);
		if (l->op == SQ_OP_END || k.is_failed)
			return !k.is_failed;
		line = is_taken || l->op == SQ_OP_SETPC ? l->target : line + 1;
	}
}
