/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_piece.c: what did a wave wait for in one piece of its lost time? The piece is cut from its
 * start: first what the wave's own earlier instructions held, then what others were seen to occupy,
 * then what the circumstances suggest; the rest is unknown.
 */
#include "analysis/why/why_internal.h"
#include "base/search.h"
#include "isa/amd.h"

struct part { /* part of a piece, with its verdict */
	uint64_t from, to;
	enum why_word word;
	enum why_sure sure;
	code_idx of;
	uint64_t latency_cyc;
};

struct piece {
	struct sweep *s;
	struct lane *l;
	uint64_t end; /* where the whole piece ends */
	code_idx code;
	enum cause_kind kind;
	enum inst_class inst_class;
};

static void put_part(const struct piece *p, const struct part *x)
{
	struct lane *l = p->l;
	uint64_t cyc = x->to - x->from, hidden;

	if (x->to <= x->from)
		return;
	hidden = busy_hidden(&l->view, x->from, cyc);
	l->sums.cyc[x->word] += cyc;
	l->sums.hidden_cyc[x->word] += hidden;
	why_gather_add(p->s->gather, &(struct why_cell){.code = p->code,
					     .of = x->of,
					     .kind = (uint8_t)p->kind,
					     .inst_class = (uint8_t)p->inst_class,
					     .word = (uint8_t)x->word,
					     .sure = (uint8_t)x->sure,
					     .cyc = cyc,
					     .hidden_cyc = hidden,
					     .hits = 1,
					     .latency_cyc = x->latency_cyc});
}

static void put_simple(
	const struct piece *p, uint64_t from, uint64_t to, enum why_word word, enum why_sure sure)
{
	put_part(p, &(struct part){from, to, word, sure, NO_CODE, 0});
}

static const struct why_code *row_of(const struct sweep *s, code_idx code)
{
	return &s->why->code[code < s->why->trace->n_code ? code : s->why->trace->n_code];
}

/* --- the wave itself ------------------------------------------------------------------------ */

struct holder { /* the own instruction that holds the wave longest */
	uint64_t until;
	const struct past *past;
	bool is_register;
};

static struct holder longest_holder(const struct piece *p, uint64_t from)
{
	const struct lane *l = p->l;
	uint32_t n = l->n_past < HISTORY ? l->n_past : HISTORY;
	struct holder best = {0};

	if (p->inst_class >= 32) /* not an AMD class; rules have one bit per AMD class */
		return best;
	for (uint32_t i = 1; i <= n; i++) {
		const struct past *x = &l->past[(l->n_past - i) % HISTORY];
		bool is_register;
		uint64_t cyc = why_hold_cyc(p->s->chip,
			(struct why_inst){row_of(p->s, x->code), x->inst_class},
			(struct why_inst){row_of(p->s, p->code), p->inst_class}, &is_register);

		if (cyc && x->issue + cyc > from && x->issue + cyc > best.until)
			best = (struct holder){x->issue + cyc, x, is_register};
	}
	return best;
}

/* Records what the wave's own instructions held from `from` on; returns where that ends. */
static uint64_t put_own(const struct piece *p, uint64_t from)
{
	struct holder h = longest_holder(p, from);
	uint64_t to = h.until < p->end ? h.until : p->end;

	if (!h.past)
		return from;
	put_part(p, &(struct part){from, to, h.is_register ? WHY_REGISTER : WHY_OWN_PIPE,
			    h.until == p->end  ? WHY_CERTAIN
			    : h.until < p->end ? WHY_LIKELY
					       : WHY_WEAK,
			    h.past->code, p->l->account.raw.issue - h.past->issue});
	return to;
}

/* --- circumstances -------------------------------------------------------------------------- */

static void put_queue(const struct piece *p, uint64_t from, uint64_t to)
{
	uint8_t kind = row_of(p->s, p->code)->kind;
	uint64_t n = kind ? p->s->outstanding[kind] : 0;

	if (n >= WHY_FEW)
		put_simple(p, from, to, WHY_QUEUE, n >= WHY_MANY ? WHY_LIKELY : WHY_WEAK);
	else
		put_simple(p, from, to, WHY_UNKNOWN, WHY_NONE);
}

static void put_memory(const struct piece *p, uint64_t from, uint64_t to)
{
	const struct why_chip *chip = p->s->chip;
	uint64_t last = p->s->last_vmem, wake;
	bool is_first = last == UINT64_MAX || (last < from && from - last >= chip->silence_cyc);

	if (why_port_of(p->inst_class) == PORT_VMEM && chip->wake_cyc && is_first) {
		wake = from + chip->wake_cyc < to ? from + chip->wake_cyc : to;
		put_simple(p, from, wake, WHY_WAKE,
			wake == from + chip->wake_cyc ? WHY_LIKELY : WHY_WEAK);
		from = wake;
	}
	put_queue(p, from, to);
}

/* Does the SIMD issue on its vector pipe at `at`? *until is where that changes, at most `to`. */
static bool is_issuing(const struct issue_list *l, uint64_t at, uint64_t to, uint64_t *until)
{
	size_t lo = 0, hi = l->list.n;

	BISECT(lo, hi, i, l->list.v[i].start <= at);
	*until = lo < l->list.n && l->list.v[lo].start < to ? l->list.v[lo].start : to;
	for (size_t i = lo; i > 0 && l->list.v[i - 1].start + l->longest_cyc > at; i--)
		if (l->list.v[i - 1].end > at) {
			*until = l->list.v[i - 1].end < *until ? l->list.v[i - 1].end : *until;
			return true;
		}
	return false;
}

/* Records turns: while the SIMDs take turns, exactly one of them issues. */
static void put_turns(const struct piece *p, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t until = to, next;
		unsigned n = 0;

		for (uint32_t k = 0; k < p->s->n_simds; k++) {
			bool is_busy =
				is_issuing(sweep_port(p->s, k, PORT_VECTOR), from, to, &next);

			n += is_busy;
			until = next < until ? next : until;
		}
		if (n == 1)
			put_simple(p, from, until, WHY_OTHER_SIMD, WHY_LIKELY);
		else
			put_simple(p, from, until, WHY_UNKNOWN, WHY_NONE);
		from = until;
	}
}

static void put_circumstances(const struct piece *p, uint64_t from, uint64_t to)
{
	enum why_port port = why_port_of(p->inst_class);

	if (from >= to)
		return;
	if (port == PORT_VECTOR && p->s->chip->has_turns)
		put_turns(p, from, to);
	else
		put_memory(p, from, to);
}

/* --- other waves ---------------------------------------------------------------------------- */

static void count_neighbour(struct lane *l, track_idx track, uint64_t cyc, bool *failed)
{
	EACH (struct neighbour, n, l->neighbours.v, l->neighbours.n)
		if (n->track == track) {
			n->cyc += cyc;
			return;
		}
	if (!VEC_PUSH(&l->neighbours, (struct neighbour){track, cyc}))
		*failed = true;
}

/* Records when others occupied a pipe; the remainder of [at[0], at[1]) goes to `rest`. For queued
 * matrix instructions the wave's own count, too, and their end is modelled. */
static void put_others(const struct piece *p, enum why_port port, const uint64_t at[2],
	void (*rest)(const struct piece *, uint64_t, uint64_t))
{
	const struct issue_list *l = sweep_port(p->s, p->l->simd, port);
	bool is_line = port == PORT_MATRIX && p->s->chip->matrix_is_serial;
	bool is_packed = port == PORT_MATRIX && p->inst_class != CLASS_MATRIX;
	uint64_t extra = is_packed ? p->s->chip->packed_cyc : 0, from = at[0];
	size_t lo = 0, hi = l->list.n;

	BISECT(lo, hi, i, l->list.v[i].start + l->longest_cyc + extra <= at[0]);
	for (; lo < l->list.n && l->list.v[lo].start < at[1]; lo++) {
		const struct issue *x = &l->list.v[lo];
		bool is_own = x->track == p->l->track;
		uint64_t a = x->start > from ? x->start : from;
		uint64_t b = x->end + extra < at[1] ? x->end + extra : at[1];

		if ((is_own && !is_line) || b <= a)
			continue;
		rest(p, from, a);
		put_part(p, &(struct part){a, b, is_own ? WHY_OWN_PIPE : WHY_OTHER_WAVE,
				    is_line ? WHY_LIKELY : WHY_CERTAIN, x->code, 0});
		if (!is_own)
			count_neighbour(p->l, x->track, b - a, &p->s->gather->has_failed);
		from = b;
	}
	rest(p, from, at[1]);
}

static void put_matrix_others(const struct piece *p, uint64_t from, uint64_t to)
{
	const uint64_t at[2] = {from, to};

	if (from < to)
		put_others(p, PORT_MATRIX, at, put_circumstances);
}

static void put_stall(const struct piece *p, uint64_t from)
{
	enum why_port port = why_port_of(p->inst_class);
	bool is_matrix = p->inst_class == CLASS_MATRIX ||
			 (p->s->chip->matrix_is_serial ? p->inst_class == CLASS_SALU
						       : row_of(p->s, p->code)->is_packed);
	uint64_t at[2] = {put_own(p, from), p->end};

	if (at[0] >= at[1])
		return;
	if (port == PORT_NONE)
		put_simple(p, at[0], at[1], WHY_UNKNOWN, WHY_NONE);
	else
		put_others(p, port, at, is_matrix ? put_matrix_others : put_circumstances);
}

/* --- gaps ----------------------------------------------------------------------------------- */

/* Does the instruction reach beyond the bytes of the previous fetch? */
static bool needs_fetch(const struct piece *p)
{
	const struct trace *t = p->s->why->trace;
	unsigned window = p->s->chip->fetch_bytes;
	uint64_t at;

	if (p->code >= t->n_code)
		return false;
	at = t->code[p->code].address;
	return at % window == 0 || at / window != (at + row_of(p->s, p->code)->bytes - 1) / window;
}

static void put_gap(const struct piece *p, uint64_t from)
{
	const struct sweep *s = p->s;
	uint64_t at = put_own(p, from);
	bool is_cold = p->code < s->why->trace->n_code && s->first_run[p->code] >= from &&
		       p->end - at > s->chip->cold_cyc;

	if (at >= p->end)
		return;
	if (p->kind == CAUSE_BRANCH || is_cold || needs_fetch(p))
		put_simple(p, at, p->end, WHY_FETCH, WHY_LIKELY);
	else
		put_simple(p, at, p->end, WHY_UNKNOWN, WHY_NONE);
}

/* --- records -------------------------------------------------------------------------------- */

static void take_nop(struct piece *p, uint64_t from)
{
	const struct causes *c = p->s->why->causes;
	uint64_t floor = cause_nop_floor(c, p->code), to = p->end;

	to = to - from > floor ? from + floor : to;
	put_simple(p, from, to, WHY_HAZARD, WHY_CERTAIN);
	p->kind = CAUSE_NOP_EXCESS;
	put_simple(p, to, p->end, WHY_UNKNOWN, WHY_NONE);
}

static void take_stall(struct piece *p, uint64_t from)
{
	p->kind = cause_of_stall(p->inst_class);
	if (!why_splits(p->kind))
		return;
	p->l->sums.lump_cyc += p->end - from;
	if (p->kind == CAUSE_NOP_PADDING)
		take_nop(p, from);
	else
		put_stall(p, from);
}

static void take_gap(struct piece *p, uint64_t from)
{
	p->kind = cause_of_gap(&p->l->data, p->l->account.i);
	p->l->sums.lump_cyc += p->end - from;
	if (p->kind == CAUSE_LAUNCH)
		put_simple(p, from, p->end, WHY_LAUNCH, WHY_CERTAIN);
	else
		put_gap(p, from);
}

static void take_tail(struct piece *p, uint64_t from, uint64_t cyc)
{
	p->kind = CAUSE_TAIL;
	p->l->sums.lump_cyc += cyc;
	put_simple(p, from, from + cyc, WHY_TAIL, WHY_CERTAIN);
}

void why_take_record(struct sweep *s, struct lane *l)
{
	const struct account *a = &l->account;
	struct piece p = {
		.s = s, .l = l, .code = l->data.code[a->i], .inst_class = l->data.inst_class[a->i]};

	if (!l->is_selected)
		return;
	p.end = a->at.stall;
	if (a->gap_cyc)
		take_gap(&p, a->at.gap);
	p.end = a->at.issue;
	if (a->stall_cyc)
		take_stall(&p, a->at.stall);
	if (a->tail_cyc)
		take_tail(&p, a->at.end, a->tail_cyc);
}

void why_take_empty(struct sweep *s, struct lane *l)
{
	struct piece p = {.s = s, .l = l, .code = NO_CODE, .inst_class = CLASS_OTHER};

	if (l->is_selected && l->account.tail_cyc)
		take_tail(&p, l->account.at.end, l->account.tail_cyc);
}
