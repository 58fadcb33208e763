/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * why_sweep.c: sweeps the waves of a compute unit together in the order of time. A wave is read
 * when it begins and freed when it ends, so memory is needed only for waves alive at the same time.
 * The wave that issues next is taken from a heap; at that point everything issued earlier is known.
 * Time is linear in the records, times the logarithm of the waves alive. Divisions: pieces; the
 * sweep.
 */
#include "analysis/why/why_internal.h"
#include "base/search.h"
#include "isa/amd.h"

/* --- pieces ----------------------------------------------------------------------------------- */

/*
 * What did a wave wait for in one piece of its lost time? The piece is cut from its
 * start: first what the wave's own earlier instructions held, then what others were seen to occupy,
 * then what the circumstances suggest; the rest is unknown.
 */

struct why_sweep_part { /* part of a piece, with its verdict */
	uint64_t from, to;
	enum why_word word;
	enum why_sure sure;
	code_idx of;
	uint64_t latency_cyc;
};

struct why_sweep_piece {
	struct sweep *s;
	struct lane *l;
	uint64_t end; /* where the whole piece ends */
	code_idx code;
	enum cause_kind kind;
	enum inst_class inst_class;
};

static enum why_port why_port_of(enum inst_class c);

static void put_part(const struct why_sweep_piece *p, const struct why_sweep_part *x)
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

static void put_simple(const struct why_sweep_piece *p, uint64_t from, uint64_t to,
	enum why_word word, enum why_sure sure)
{
	put_part(p, &(struct why_sweep_part){from, to, word, sure, NO_CODE, 0});
}

static const struct why_code *why_sweep_row_of(const struct sweep *s, code_idx code)
{
	return &s->why->code[code < s->why->trace->n_code ? code : s->why->trace->n_code];
}

/* --- the wave itself ------------------------------------------------------------------------ */

struct holder { /* the own instruction that holds the wave longest */
	uint64_t until;
	const struct past *past;
	bool is_register;
};

static struct holder longest_holder(const struct why_sweep_piece *p, uint64_t from)
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
			(struct why_inst){why_sweep_row_of(p->s, x->code), x->inst_class},
			(struct why_inst){why_sweep_row_of(p->s, p->code), p->inst_class},
			&is_register);

		if (cyc && x->issue + cyc > from && x->issue + cyc > best.until)
			best = (struct holder){x->issue + cyc, x, is_register};
	}
	return best;
}

/* Records what the wave's own instructions held from `from` on; returns where that ends. */
static uint64_t put_own(const struct why_sweep_piece *p, uint64_t from)
{
	struct holder h = longest_holder(p, from);
	uint64_t to = h.until < p->end ? h.until : p->end;

	if (!h.past)
		return from;
	put_part(p, &(struct why_sweep_part){from, to, h.is_register ? WHY_REGISTER : WHY_OWN_PIPE,
			    h.until == p->end  ? WHY_CERTAIN
			    : h.until < p->end ? WHY_LIKELY
					       : WHY_WEAK,
			    h.past->code, p->l->account.raw.issue - h.past->issue});
	return to;
}

/* --- circumstances -------------------------------------------------------------------------- */

static void put_queue(const struct why_sweep_piece *p, uint64_t from, uint64_t to)
{
	uint8_t kind = why_sweep_row_of(p->s, p->code)->kind;
	uint64_t n = kind ? p->s->outstanding[kind] : 0;

	if (n >= WHY_FEW)
		put_simple(p, from, to, WHY_QUEUE, n >= WHY_MANY ? WHY_LIKELY : WHY_WEAK);
	else
		put_simple(p, from, to, WHY_UNKNOWN, WHY_NONE);
}

static void put_memory(const struct why_sweep_piece *p, uint64_t from, uint64_t to)
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
static void put_turns(const struct why_sweep_piece *p, uint64_t from, uint64_t to)
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

static void put_circumstances(const struct why_sweep_piece *p, uint64_t from, uint64_t to)
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
static void put_others(const struct why_sweep_piece *p, enum why_port port, const uint64_t at[2],
	void (*rest)(const struct why_sweep_piece *, uint64_t, uint64_t))
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
		put_part(p, &(struct why_sweep_part){a, b, is_own ? WHY_OWN_PIPE : WHY_OTHER_WAVE,
				    is_line ? WHY_LIKELY : WHY_CERTAIN, x->code, 0});
		if (!is_own)
			count_neighbour(p->l, x->track, b - a, &p->s->gather->has_failed);
		from = b;
	}
	rest(p, from, at[1]);
}

static void put_matrix_others(const struct why_sweep_piece *p, uint64_t from, uint64_t to)
{
	const uint64_t at[2] = {from, to};

	if (from < to)
		put_others(p, PORT_MATRIX, at, put_circumstances);
}

static void put_stall(const struct why_sweep_piece *p, uint64_t from)
{
	enum why_port port = why_port_of(p->inst_class);
	bool is_matrix =
		p->inst_class == CLASS_MATRIX ||
		(p->s->chip->matrix_is_serial ? p->inst_class == CLASS_SALU
					      : why_sweep_row_of(p->s, p->code)->is_packed);
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
static bool needs_fetch(const struct why_sweep_piece *p)
{
	const struct trace *t = p->s->why->trace;
	unsigned window = p->s->chip->fetch_bytes;
	uint64_t at;

	if (p->code >= t->n_code)
		return false;
	at = t->code[p->code].address;
	return at % window == 0 ||
	       at / window != (at + why_sweep_row_of(p->s, p->code)->bytes - 1) / window;
}

static void put_gap(const struct why_sweep_piece *p, uint64_t from)
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

static void take_nop(struct why_sweep_piece *p, uint64_t from)
{
	const struct causes *c = p->s->why->causes;
	uint64_t floor = cause_nop_floor(c, p->code), to = p->end;

	to = to - from > floor ? from + floor : to;
	put_simple(p, from, to, WHY_HAZARD, WHY_CERTAIN);
	p->kind = CAUSE_NOP_EXCESS;
	put_simple(p, to, p->end, WHY_UNKNOWN, WHY_NONE);
}

static void take_stall(struct why_sweep_piece *p, uint64_t from)
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

static void take_gap(struct why_sweep_piece *p, uint64_t from)
{
	p->kind = cause_of_gap(&p->l->data, p->l->account.i);
	p->l->sums.lump_cyc += p->end - from;
	if (p->kind == CAUSE_LAUNCH)
		put_simple(p, from, p->end, WHY_LAUNCH, WHY_CERTAIN);
	else
		put_gap(p, from);
}

static void take_tail(struct why_sweep_piece *p, uint64_t from, uint64_t cyc)
{
	p->kind = CAUSE_TAIL;
	p->l->sums.lump_cyc += cyc;
	put_simple(p, from, from + cyc, WHY_TAIL, WHY_CERTAIN);
}

/* Splits the pieces of the lane's current record into parts. */
static void why_take_record(struct sweep *s, struct lane *l)
{
	const struct account *a = &l->account;
	struct why_sweep_piece p = {
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

/* Handles the single piece of a wave without records. */
static void why_take_empty(struct sweep *s, struct lane *l)
{
	struct why_sweep_piece p = {.s = s, .l = l, .code = NO_CODE, .inst_class = CLASS_OTHER};

	if (l->is_selected && l->account.tail_cyc)
		take_tail(&p, l->account.at.end, l->account.tail_cyc);
}

/* --- the sweep -------------------------------------------------------------------------------- */

/* --- the heap ------------------------------------------------------------------------------- */

static bool issues_before(const struct lane *a, const struct lane *b)
{
	if (a->account.raw.issue != b->account.raw.issue)
		return a->account.raw.issue < b->account.raw.issue;
	return a->track < b->track;
}

static void heap_swap(struct sweep *s, size_t a, size_t b)
{
	struct lane *x = s->alive.v[a];

	s->alive.v[a] = s->alive.v[b];
	s->alive.v[b] = x;
}

static void heap_sink(struct sweep *s)
{
	for (size_t i = 0;;) {
		size_t least = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < s->alive.n; k++)
			if (issues_before(s->alive.v[k], s->alive.v[least]))
				least = k;
		if (least == i)
			return;
		heap_swap(s, i, least);
		i = least;
	}
}

static bool heap_push(struct sweep *s, struct lane *l)
{
	size_t i = s->alive.n;

	if (!VEC_PUSH(&s->alive, l))
		return false;
	for (; i > 0 && issues_before(s->alive.v[i], s->alive.v[(i - 1) / 2]); i = (i - 1) / 2)
		heap_swap(s, i, (i - 1) / 2);
	return true;
}

/* --- what is issued ------------------------------------------------------------------------- */

static enum why_port why_port_of(enum inst_class c)
{
	static const uint8_t ports[SIMD_UNITS] = {[SIMD_VALU] = PORT_VECTOR,
		[SIMD_MATRIX] = PORT_VECTOR,
		[SIMD_LDS] = PORT_LDS,
		[SIMD_VMEM] = PORT_VMEM,
		[SIMD_SALU] = PORT_SALU,
		[SIMD_SMEM] = PORT_SMEM,
		[SIMD_BRANCH] = PORT_BRANCH,
		[SIMD_OTHER] = PORT_NONE,
		[SIMD_NONE] = PORT_NONE};

	return (enum why_port)ports[class_unit(c)];
}

/* Keeps the list sorted by start, even if a damaged wave begins out of order. */
static bool list_push(struct issue_list *l, const struct issue *x)
{
	size_t i = l->list.n;

	if (x->end <= x->start)
		return true;
	if (!VEC_PUSH(&l->list, *x))
		return false;
	for (; i > 0 && l->list.v[i - 1].start > x->start; i--)
		l->list.v[i] = l->list.v[i - 1];
	l->list.v[i] = *x;
	if (x->end - x->start > l->longest_cyc)
		l->longest_cyc = x->end - x->start;
	return true;
}

#define DROP_EVERY 4096u

/* Drops entries that ended before the oldest piece still open. */
static void drop_old(struct sweep *s)
{
	uint64_t oldest = UINT64_MAX;

	if (++s->n_since_drop < DROP_EVERY)
		return;
	s->n_since_drop = 0;
	for (size_t i = 0; i < s->alive.n; i++)
		if (s->alive.v[i]->account.raw.gap < oldest)
			oldest = s->alive.v[i]->account.raw.gap;
	EACH (struct issue_list, l, s->ports, (size_t)s->n_simds * PORT_COUNT) {
		size_t n = 0;

		for (size_t i = 0; i < l->list.n; i++)
			if (l->list.v[i].end > oldest)
				l->list.v[n++] = l->list.v[i];
		l->list.n = n;
	}
}

static void fall_to(struct sweep *s, struct lane *l, enum why_queue q, uint32_t left)
{
	if (l->outstanding[q] > left) {
		s->outstanding[q] -= l->outstanding[q] - left;
		l->outstanding[q] = left;
	}
}

/* A wait lowers its counters; scalar loads return in any order, so for them only zero is
 * certain. */
static void fall(struct sweep *s, struct lane *l, const struct amd_wait_row *w)
{
	for (unsigned c = 0; c < AMD_COUNTERS; c++) {
		if (!(w->counters >> c & 1) || w->value[c] == AMD_NO_WAIT)
			continue;
		if (c >= AMD_VMCNT)
			fall_to(s, l, QUEUE_VMEM, w->value[c]);
		if (c == AMD_LGKMCNT || c == AMD_DSCNT)
			fall_to(s, l, QUEUE_LDS, w->value[c]);
		if ((c == AMD_LGKMCNT || c == AMD_KMCNT) && w->value[c] == 0)
			fall_to(s, l, QUEUE_SMEM, 0);
	}
}

static void count_memory(struct sweep *s, struct lane *l, code_idx code)
{
	const struct amd_wait_tables *t = &s->why->causes->tables->amd;

	if (code >= s->why->trace->n_code)
		return;
	if (s->why->code[code].kind != QUEUE_NONE) {
		l->outstanding[s->why->code[code].kind]++;
		s->outstanding[s->why->code[code].kind]++;
	} else if (t->role[code] == AMD_ROLE_WAIT) {
		fall(s, l, &t->row[code]);
	}
}

/* Occupies the matrix pipe: for the passes of the instruction, or, where instructions queue for it,
 * for as long as this one is recorded, after those before it. */
static bool note_matrix(struct sweep *s, const struct lane *l, struct issue x)
{
	uint32_t n_code = s->why->trace->n_code, i = l->account.i;
	uint64_t *until = &s->matrix_until[l->simd];

	if (s->chip->matrix_is_serial) {
		uint64_t cyc = l->data.dur_cyc[i] - l->data.stall_cyc[i];

		x.start = *until > x.start ? *until : x.start;
		x.end = *until = x.start + cyc;
	} else {
		x.end = x.start + s->why->code[x.code < n_code ? x.code : n_code].passes_cyc;
	}
	return list_push(sweep_port(s, l->simd, PORT_MATRIX), &x);
}

/* The lane's current record issues and keeps others off its pipes. */
static bool note_issue(struct sweep *s, struct lane *l)
{
	const struct account *a = &l->account;
	code_idx code = l->data.code[a->i];
	uint32_t n_code = s->why->trace->n_code;
	enum inst_class k = l->data.inst_class[a->i];
	enum why_port port = why_port_of(k);
	const struct why_code *c = &s->why->code[code < n_code ? code : n_code];
	struct issue x = {a->raw.issue, a->raw.end, l->track, code};

	if (k == CLASS_MATRIX && x.start + c->hold_cyc > x.end)
		x.end = x.start + c->hold_cyc;
	if (port != PORT_NONE && !list_push(sweep_port(s, l->simd, port), &x))
		return false;
	if (k == CLASS_MATRIX && !note_matrix(s, l, x))
		return false;
	if (port == PORT_VMEM)
		s->last_vmem = x.start;
	if (code < n_code && x.start < s->first_run[code])
		s->first_run[code] = x.start;
	if (port != PORT_NONE)
		l->past[l->n_past++ % HISTORY] = (struct past){x.start, code, k};
	count_memory(s, l, code);
	drop_old(s);
	return true;
}

/* --- waves come and go ---------------------------------------------------------------------- */

static void lane_free(struct lane *l)
{
	if (!l)
		return;
	track_data_deinit(&l->data);
	VEC_FREE(&l->neighbours);
	mem_free(l);
}

static bool lane_end(struct sweep *s, struct lane *l)
{
	for (unsigned q = 0; q < WHY_QUEUES; q++)
		s->outstanding[q] -= l->outstanding[q];
	l->sums.other = NO_TRACK;
	EACH (const struct neighbour, n, l->neighbours.v, l->neighbours.n)
		if (n->cyc > l->sums.other_cyc ||
			(n->cyc == l->sums.other_cyc && n->track < l->sums.other)) {
			l->sums.other = n->track;
			l->sums.other_cyc = n->cyc;
		}
	if (l->is_selected)
		s->why->tracks[l->track] = l->sums;
	return VEC_PUSH(&s->unused, l);
}

static bool lane_begin(struct sweep *s, const struct selection *selection, const track_idx at[2],
	struct incore_error *e)
{
	const struct trace *t = s->why->trace;
	struct lane *l = s->unused.n ? s->unused.v[--s->unused.n] : mem_zalloc(1, sizeof(*l));
	struct incore_error why = {0};
	uint64_t from, to;

	if (!l || !VEC_RESERVE(&s->unused, s->unused.n + 1))
		return lane_free(l), err_nomem(e);
	if (!trace_load_track(t, at[0], 0, &l->data, &why)) {
		bool is_fatal = track_error_is_fatal(&why);

		lane_free(l);
		if (is_fatal)
			err_move(e, &why);
		incore_error_clear(&why);
		return !is_fatal;
	}
	l->track = at[0];
	l->simd = s->why->busy->group[at[0]] - s->why->busy->group[at[1]];
	l->is_selected = selection_has(selection, t, &t->tracks[at[0]]);
	l->n_past = 0;
	l->neighbours.n = 0;
	memset(l->outstanding, 0, sizeof(l->outstanding));
	l->sums = (struct why_track){.is_selected = true};
	busy_view_init(&l->view, s->why->busy, at[0]);
	selection_window(selection, t, &t->tracks[at[0]], &from, &to);
	account_begin(&l->account, &l->data, from, to);
	if (account_next(&l->account) ? heap_push(s, l) : (why_take_empty(s, l), lane_end(s, l)))
		return true;
	lane_free(l);
	return err_nomem(e);
}

/* Lets the lane that issues next issue its record. */
static bool why_sweep_step(struct sweep *s, struct incore_error *e)
{
	struct lane *l = s->alive.v[0];

	why_take_record(s, l);
	if (!note_issue(s, l))
		return err_nomem(e);
	if (!account_next(&l->account)) {
		s->alive.v[0] = s->alive.v[--s->alive.n];
		if (!lane_end(s, l))
			return lane_free(l), err_nomem(e);
	}
	heap_sink(s);
	return true;
}

struct why_sweep_starter {
	uint64_t begin;
	track_idx track;
};

ORDER(by_begin, struct why_sweep_starter, UP(begin) UP(track))

static bool sweep_tracks(struct sweep *s, const struct selection *selection,
	const track_idx unit[2], struct incore_error *e)
{
	size_t n = unit[1] - unit[0], next = 0;
	struct why_sweep_starter *v = mem_zalloc(n + 1, sizeof(*v));
	bool ok = v != NULL || err_nomem(e);

	for (size_t i = 0; ok && i < n; i++) {
		track_idx k = unit[0] + (track_idx)i;

		v[i] = (struct why_sweep_starter){s->why->trace->tracks[k].begin_cyc, k};
	}
	if (ok)
		SORT(v, n, by_begin);
	while (ok && (next < n || s->alive.n)) {
		bool is_due = next < n &&
			      (!s->alive.n || v[next].begin <= s->alive.v[0]->account.raw.issue);

		if (is_due) {
			const track_idx at[2] = {v[next++].track, unit[0]};

			ok = lane_begin(s, selection, at, e);
		} else {
			ok = why_sweep_step(s, e);
		}
	}
	mem_free(v);
	return ok;
}

bool why_sweep_unit(struct why *w, const struct selection *selection, const track_idx unit[2],
	struct why_gather *g, struct incore_error *e)
{
	struct sweep s = {.why = w, .chip = why_chip_of(w->trace), .gather = g};
	bool ok;

	s.n_simds = w->busy->group[unit[1] - 1] - w->busy->group[unit[0]] + 1;
	s.last_vmem = UINT64_MAX;
	s.ports = mem_zalloc((size_t)s.n_simds * PORT_COUNT, sizeof(*s.ports));
	s.first_run = mem_zalloc((size_t)w->trace->n_code + 1, sizeof(*s.first_run));
	s.matrix_until = mem_zalloc(s.n_simds, sizeof(*s.matrix_until));
	ok = (s.ports && s.first_run && s.matrix_until) || err_nomem(e);
	if (ok) {
		memset(s.first_run, 0xff, w->trace->n_code * sizeof(*s.first_run));
		ok = sweep_tracks(&s, selection, unit, e) && (!g->has_failed || err_nomem(e));
	}
	for (size_t i = 0; s.ports && i < (size_t)s.n_simds * PORT_COUNT; i++)
		VEC_FREE(&s.ports[i].list);
	for (size_t i = 0; i < s.alive.n; i++)
		lane_free(s.alive.v[i]);
	for (size_t i = 0; i < s.unused.n; i++)
		lane_free(s.unused.v[i]);
	VEC_FREE(&s.alive);
	VEC_FREE(&s.unused);
	mem_free(s.ports);
	mem_free(s.matrix_until);
	mem_free(s.first_run);
	return ok;
}
