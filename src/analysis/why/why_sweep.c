/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_sweep.c: sweeps the waves of a compute unit together in the order of time. A wave is read
 * when it begins and freed when it ends, so memory is needed only for waves alive at the same time.
 * The wave that issues next is taken from a heap; at that point everything issued earlier is known.
 * Time is linear in the records, times the logarithm of the waves alive.
 */
#include "analysis/why/why_internal.h"
#include "base/search.h"
#include "isa/amd.h"

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

enum why_port why_port_of(enum inst_class c)
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
static bool step(struct sweep *s, struct incore_error *e)
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

struct starter {
	uint64_t begin;
	track_idx track;
};

ORDER(by_begin, struct starter, UP(begin) UP(track))

static bool sweep_tracks(struct sweep *s, const struct selection *selection,
	const track_idx unit[2], struct incore_error *e)
{
	size_t n = unit[1] - unit[0], next = 0;
	struct starter *v = mem_zalloc(n + 1, sizeof(*v));
	bool ok = v != NULL || err_nomem(e);

	for (size_t i = 0; ok && i < n; i++) {
		track_idx k = unit[0] + (track_idx)i;

		v[i] = (struct starter){s->why->trace->tracks[k].begin_cyc, k};
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
			ok = step(s, e);
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
