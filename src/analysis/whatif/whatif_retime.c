/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_retime.c: the waves of a unit run again, in the order of their new times. Who issues next
 * is taken from a heap; what others issued before is then known. Of two that could issue at once the
 * one that did so first in the capture goes first.
 */
#include "analysis/whatif/whatif_unit.h"

#include "base/search.h"

struct runner {		      /* a wave on its way */
	uint32_t wave, next;  /* record that issues next */
	uint64_t ready, base; /* of that record: free to go; held by nothing of its own */
	uint64_t at;	      /* when it issues, as far as is known */
};

struct meeting {
	uint32_t n_here;
	uint64_t latest;
	uint32_t last; /* record that came last */
	VEC(struct runner) waiting;
};

struct start {
	uint32_t wave, after;
	uint64_t at;
};

struct machine {
	struct retime *r;
	const struct unit *u;
	const struct whatif_plan *p;
	enum retime_bound bound;
	struct port_list *ports; /* n_simds x UNIT_PORTS */
	struct meeting *meetings;
	VEC(struct runner) heap;
	VEC(struct start) starts; /* waves whose slot is free */
	uint32_t *next_wave;	  /* by wave: who begins when it ends; NO_RECORD: none */
	uint32_t *queue; /* with another number of waves: who begins next, by SIMD and time */
	uint32_t *queue_at, *queue_end; /* by SIMD */
};

uint64_t plan_cycles(const struct whatif_plan *p, code_idx code, uint64_t cyc)
{
	uint32_t k = plan_row(p, code)->faster_milli, q = p->trace->meta.clock_quantum;

	if (k == WHATIF_PLAIN)
		return cyc;
	if (k == WHATIF_AT_ONCE)
		return 0;
	q = q ? q : 1;
	return (cyc * 1000 / k + q - 1) / q * q;
}

/* --- the heap ------------------------------------------------------------------------------- */

static bool goes_before(const struct machine *m, const struct runner *a, const struct runner *b)
{
	uint64_t x, y;

	if (a->at != b->at)
		return a->at < b->at;
	x = m->u->records.v[a->next].issue;
	y = m->u->records.v[b->next].issue;
	return x != y ? x < y : a->wave < b->wave;
}

static void sink(struct machine *m, size_t i)
{
	struct runner *v = m->heap.v;

	for (;;) {
		size_t least = i;
		struct runner x;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < m->heap.n; k++)
			if (goes_before(m, &v[k], &v[least]))
				least = k;
		if (least == i)
			return;
		x = v[i];
		v[i] = v[least];
		v[least] = x;
		i = least;
	}
}

static bool push(struct machine *m, const struct runner *x)
{
	size_t i = m->heap.n;

	if (!VEC_PUSH(&m->heap, *x))
		return false;
	for (; i > 0 && goes_before(m, &m->heap.v[i], &m->heap.v[(i - 1) / 2]); i = (i - 1) / 2) {
		struct runner y = m->heap.v[i];

		m->heap.v[i] = m->heap.v[(i - 1) / 2];
		m->heap.v[(i - 1) / 2] = y;
	}
	return true;
}

/* --- when can a record issue? --------------------------------------------------------------- */

static uint64_t place(const struct machine *m, const struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	const struct port_list *simd = m->ports + (size_t)m->u->waves.v[x->wave].simd * UNIT_PORTS;
	const struct port_list *ports[2] = {
		simd + (r->port < UNIT_PORTS ? r->port : 0), simd + UNIT_MATRIX};
	uint64_t rest = (uint64_t)r->rest_cyc;

	if (r->inst_class == CLASS_NOP || r->port == UNIT_VMEM || r->port == UNIT_LDS)
		rest = plan_cycles(m->p, r->code, rest);
	return r->port < UNIT_PORTS ? ports_place(ports, r->matrix_cyc ? 2 : 1, x->base, rest)
				    : x->base + rest;
}

/* The record at which a result is asked for: its own, or an earlier one of its row. */
static uint32_t asked_at(const struct machine *m, const struct unit_record *wait, uint32_t producer)
{
	uint32_t n = plan_row(m->p, m->u->records.v[producer].code)->ahead;
	uint32_t of_wait = plan_row(m->p, wait->code)->ahead;

	for (n = n > of_wait ? n : of_wait; n && m->u->same.v[producer] != NO_RECORD; n--)
		producer = m->u->same.v[producer];
	return producer;
}

static uint64_t arrival_of(const struct machine *m, const struct unit_record *wait,
	const struct unit_dep *d, uint32_t asked)
{
	code_idx code = m->u->records.v[d->producer].code;
	uint64_t cyc = m->bound == RETIME_MOST	  ? d->least_cyc
		       : m->bound == RETIME_LEAST ? d->most_cyc
						  : d->latency_cyc;
	uint64_t at;

	if (plan_row(m->p, wait->code)->faster_milli != WHATIF_PLAIN)
		cyc = plan_cycles(m->p, wait->code, cyc);
	at = m->r->issue[asked] + plan_cycles(m->p, code, cyc);
	if (m->bound == RETIME_LEAST && d->is_shared) {
		uint64_t then = m->u->records.v[d->producer].issue + d->latency_cyc;

		at = at > then ? at : then;
	}
	return at;
}

/* Results that the record waits for; *by is whose came last, if it came after `at`. */
static uint64_t latest_arrival(
	const struct machine *m, const struct unit_record *r, uint64_t at, uint32_t *by)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct unit_dep *d = &m->u->deps.v[r->first + i];
		uint32_t asked = asked_at(m, r, d->producer);
		uint64_t k;

		if (plan_row(m->p, m->u->records.v[d->producer].code)->is_removed)
			continue;
		k = arrival_of(m, r, d, asked);
		if (k > at) {
			at = k;
			*by = asked;
		}
	}
	return at;
}

/* The record that the wave stands on: when it may go, without looking at others. */
static void prepare(const struct machine *m, struct runner *x, uint64_t end)
{
	const struct unit_record *r = &m->u->records.v[x->next];

	x->ready = x->base = x->at = end + r->gap_cyc;
	if (r->kind == RECORD_PLAIN && r->back) {
		uint32_t holder = x->next - r->back;
		uint64_t until = m->r->issue[holder] +
				 plan_cycles(m->p, m->u->records.v[holder].code, r->hold_cyc);

		if (!plan_row(m->p, m->u->records.v[holder].code)->is_removed && until > x->base)
			x->base = x->at = until;
	}
	if (r->kind == RECORD_PLAIN)
		x->at = place(m, x);
}

/* --- waves begin, meet and end -------------------------------------------------------------- */

static bool end_wave(struct machine *m, uint32_t wave, uint64_t end)
{
	const struct unit_wave *w = &m->u->waves.v[wave], *next;
	uint32_t k = m->next_wave[wave];

	end = w->tail_cyc < 0 && end < (uint64_t)-w->tail_cyc ? 0 : end + (uint64_t)w->tail_cyc;
	m->r->wave_end[wave] = end;
	if (m->queue) {
		k = m->queue_at[w->simd] < m->queue_end[w->simd] ? m->queue[m->queue_at[w->simd]++]
								 : NO_RECORD;
	}
	if (k == NO_RECORD)
		return true;
	next = &m->u->waves.v[k];
	if (next->before != NO_RECORD)
		end += next->begin - m->u->waves.v[next->before].end;
	return VEC_PUSH(&m->starts, (struct start){k, wave, end});
}

/* Past what is removed, to the next record, or to the end of the wave. */
static bool go_on(struct machine *m, struct runner *x, uint64_t end)
{
	const struct unit_wave *w = &m->u->waves.v[x->wave];

	for (; x->next < w->first + w->n; x->next++) {
		const struct unit_record *r = &m->u->records.v[x->next];
		const struct whatif_row *row = plan_row(m->p, r->code);

		m->r->n_executed +=
			row->is_removed || row->ahead || row->faster_milli != WHATIF_PLAIN;
		if (!row->is_removed) {
			prepare(m, x, end);
			return push(m, x);
		}
		m->r->issue[x->next] = m->r->end[x->next] = end;
	}
	return end_wave(m, x->wave, end);
}

static bool begin_wave(struct machine *m, struct start s)
{
	struct runner x = {.wave = s.wave, .next = m->u->waves.v[s.wave].first};

	m->r->begin[s.wave] = s.at;
	m->r->after[s.wave] = s.after;
	return go_on(m, &x, s.at);
}

static bool leave(struct machine *m, struct runner *x, uint64_t issue)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	uint64_t end = issue + plan_cycles(m->p, r->code, r->cost_cyc);

	m->r->issue[x->next] = issue;
	m->r->end[x->next] = end;
	x->next++;
	return go_on(m, x, end);
}

static bool open_meeting(struct machine *m, struct meeting *k)
{
	bool ok = true;

	EACH (struct runner, x, k->waiting.v, k->waiting.n) {
		const struct unit_record *r = &m->u->records.v[x->next];

		m->r->by[x->next] = k->last;
		ok = ok && leave(m, x, k->latest + (uint64_t)r->rest_cyc);
	}
	VEC_FREE(&k->waiting);
	return ok;
}

static bool meet(struct machine *m, const struct runner *x)
{
	uint32_t i = m->u->records.v[x->next].first;
	struct meeting *k = &m->meetings[i];

	if (!VEC_PUSH(&k->waiting, *x))
		return false;
	if (!k->n_here || x->ready >= k->latest) {
		k->latest = x->ready;
		k->last = x->next;
	}
	return ++k->n_here < m->u->meetings.v[i] || open_meeting(m, k);
}

/* Meetings that can never be: who met whom is inferred, and a change may show it to be wrong. */
static bool open_stuck(struct machine *m, bool *is_any)
{
	*is_any = false;
	for (size_t i = 0; i < m->u->meetings.n; i++)
		if (m->meetings[i].waiting.n) {
			*is_any = true;
			return open_meeting(m, &m->meetings[i]);
		}
	return true;
}

/* --- issue ---------------------------------------------------------------------------------- */

static bool take(struct port_list *l, uint64_t at, uint64_t cyc)
{
	if (l->v.n && l->v.v[l->v.n - 1].end > at)
		at = l->v.v[l->v.n - 1]
			     .end; /* kept in order; a hole can be left in a damaged wave */
	return !cyc || VEC_PUSH(&l->v, (struct port_span){at, at + cyc});
}

static bool issue_plain(struct machine *m, struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	struct port_list *simd = m->ports + (size_t)m->u->waves.v[x->wave].simd * UNIT_PORTS;

	if (r->port < UNIT_PORTS &&
		!take(simd + r->port, x->at, plan_cycles(m->p, r->code, r->taken_cyc)))
		return false;
	if (r->matrix_cyc &&
		!take(simd + UNIT_MATRIX, x->at, plan_cycles(m->p, r->code, r->matrix_cyc)))
		return false;
	return leave(m, x, x->at);
}

static bool issue_wait(struct machine *m, struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	uint64_t rest =
		r->n ? (uint64_t)r->rest_cyc : plan_cycles(m->p, r->code, (uint64_t)r->rest_cyc);

	return leave(m, x, latest_arrival(m, r, x->ready + rest, &m->r->by[x->next]));
}

static bool issue_drain(struct machine *m, struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	uint64_t cost = r->n && r->cost_cyc > DRAIN_FLOOR_CYC ? DRAIN_FLOOR_CYC : r->cost_cyc, end;

	m->r->issue[x->next] = x->ready + (uint64_t)r->rest_cyc;
	end = latest_arrival(
		m, r, m->r->issue[x->next] + plan_cycles(m->p, r->code, cost), &m->r->by[x->next]);
	m->r->end[x->next++] = end;
	return go_on(m, x, end);
}

static bool step(struct machine *m)
{
	struct runner x = m->heap.v[0];
	uint8_t kind = m->u->records.v[x.next].kind;

	if (kind == RECORD_PLAIN) {
		uint64_t at = place(m, &x);

		if (at > x.at) { /* others went before */
			m->heap.v[0].at = at;
			sink(m, 0);
			return true;
		}
	}
	m->heap.v[0] = m->heap.v[--m->heap.n];
	sink(m, 0);
	return kind == RECORD_PLAIN	? issue_plain(m, &x)
	       : kind == RECORD_WAIT	? issue_wait(m, &x)
	       : kind == RECORD_BARRIER ? meet(m, &x)
					: issue_drain(m, &x);
}

/* --- all of it ------------------------------------------------------------------------------ */

struct starter {
	uint64_t begin;
	uint32_t simd, wave;
};

ORDER(by_simd, struct starter, UP(simd) UP(begin) UP(wave))

/* Another number of waves: of each SIMD so many begin at first, the others as slots come free. */
static bool begin_queued(struct machine *m)
{
	size_t n = m->u->waves.n;
	struct starter *v = mem_zalloc(n + 1, sizeof(*v));
	bool ok = v != NULL;

	for (uint32_t i = 0; ok && i < n; i++)
		v[i] = (struct starter){m->u->waves.v[i].begin, m->u->waves.v[i].simd, i};
	if (ok)
		SORT(v, n, by_simd);
	for (size_t i = 0, end; ok && i < n; i = end) {
		int64_t n_first = m->p->waves;
		uint64_t latest = v[i].begin;

		for (end = i; end < n && v[end].simd == v[i].simd; end++) {
			const struct unit_wave *w = &m->u->waves.v[v[end].wave];

			m->queue[end] = v[end].wave;
			n_first += w->before == NO_RECORD;
			if (w->before == NO_RECORD && w->begin > latest)
				latest = w->begin;
		}
		m->queue_at[v[i].simd] = (uint32_t)i;
		m->queue_end[v[i].simd] = (uint32_t)end;
		for (n_first = n_first > 0 ? n_first : 1;
			ok && n_first > 0 && m->queue_at[v[i].simd] < end; n_first--) {
			uint32_t wave = m->queue[m->queue_at[v[i].simd]++];
			uint64_t begin = m->u->waves.v[wave].begin;

			ok = VEC_PUSH(&m->starts,
				(struct start){wave, NO_RECORD, begin < latest ? begin : latest});
		}
	}
	mem_free(v);
	return ok;
}

static bool begin_all(struct machine *m)
{
	bool ok = true;

	for (uint32_t i = 0; i < m->u->waves.n; i++)
		if (m->u->waves.v[i].before != NO_RECORD)
			m->next_wave[m->u->waves.v[i].before] = i;
	if (m->queue)
		return begin_queued(m);
	for (uint32_t i = 0; ok && i < m->u->waves.n; i++)
		if (m->u->waves.v[i].before == NO_RECORD)
			ok = VEC_PUSH(
				&m->starts, (struct start){i, NO_RECORD, m->u->waves.v[i].begin});
	return ok;
}

static bool run(struct machine *m)
{
	bool is_any = true, ok = begin_all(m);

	while (ok && is_any) {
		while (ok && (m->starts.n || m->heap.n))
			ok = m->starts.n ? begin_wave(m, m->starts.v[--m->starts.n]) : step(m);
		ok = ok && open_stuck(m, &is_any);
	}
	m->r->first_cyc = UINT64_MAX;
	for (size_t i = 0; ok && i < m->u->waves.n; i++) {
		if (m->r->begin[i] < m->r->first_cyc)
			m->r->first_cyc = m->r->begin[i];
		if (m->r->wave_end[i] > m->r->last_cyc)
			m->r->last_cyc = m->r->wave_end[i];
	}
	if (!m->u->waves.n)
		m->r->first_cyc = 0;
	return ok;
}

static bool retime_init(struct retime *r, const struct unit *u)
{
	*r = (struct retime){.issue = mem_zalloc(u->records.n + 1, sizeof(*r->issue)),
		.end = mem_zalloc(u->records.n + 1, sizeof(*r->end)),
		.by = mem_zalloc(u->records.n + 1, sizeof(*r->by)),
		.begin = mem_zalloc(u->waves.n + 1, sizeof(*r->begin)),
		.wave_end = mem_zalloc(u->waves.n + 1, sizeof(*r->wave_end)),
		.after = mem_zalloc(u->waves.n + 1, sizeof(*r->after))};
	if (r->by)
		memset(r->by, 0xff, (u->records.n + 1) * sizeof(*r->by));
	return r->issue && r->end && r->by && r->begin && r->wave_end && r->after;
}

void retime_deinit(struct retime *r)
{
	mem_free(r->issue);
	mem_free(r->end);
	mem_free(r->by);
	mem_free(r->begin);
	mem_free(r->wave_end);
	mem_free(r->after);
	*r = (struct retime){0};
}

bool retime_run(struct retime *r, const struct unit *u, const struct whatif_plan *p,
	enum retime_bound bound, struct incore_error *e)
{
	struct machine m = {.r = r, .u = u, .p = p, .bound = bound};
	size_t n_ports = (size_t)u->n_simds * UNIT_PORTS;
	bool ok = retime_init(r, u);

	m.ports = mem_zalloc(n_ports + 1, sizeof(*m.ports));
	m.meetings = mem_zalloc(u->meetings.n + 1, sizeof(*m.meetings));
	m.next_wave = mem_zalloc(u->waves.n + 1, sizeof(*m.next_wave));
	ok = ok && m.ports && m.meetings && m.next_wave;
	if (ok)
		memset(m.next_wave, 0xff, (u->waves.n + 1) * sizeof(*m.next_wave));
	if (ok && p->waves) {
		m.queue = mem_zalloc(u->waves.n + 1, sizeof(*m.queue));
		m.queue_at = mem_zalloc(u->n_simds, sizeof(*m.queue_at));
		m.queue_end = mem_zalloc(u->n_simds, sizeof(*m.queue_end));
		ok = m.queue && m.queue_at && m.queue_end;
	}
	ok = ok && run(&m);
	for (size_t i = 0; m.ports && i < n_ports; i++)
		VEC_FREE(&m.ports[i].v);
	for (size_t i = 0; m.meetings && i < u->meetings.n; i++)
		VEC_FREE(&m.meetings[i].waiting);
	VEC_FREE(&m.heap);
	VEC_FREE(&m.starts);
	mem_free(m.ports);
	mem_free(m.meetings);
	mem_free(m.next_wave);
	mem_free(m.queue);
	mem_free(m.queue_at);
	mem_free(m.queue_end);
	return ok || err_nomem(e);
}
