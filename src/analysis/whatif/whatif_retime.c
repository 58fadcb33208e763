/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_retime.c: replays the waves of a unit in the order of their new times. The wave that
 * issues next is taken from a heap, so everything issued before is known. Of two waves that could
 * issue at the same time, the one that came first in the capture goes first.
 */
#include "analysis/whatif/whatif_unit.h"

#include "base/search.h"

struct runner {		      /* a running wave */
	uint32_t next;	      /* record that issues next */
	uint64_t ready, base; /* of that record: when ready; when not held by own records */
	uint64_t at;	      /* when it issues, as far as known */
	size_t n_seen;	      /* stretches on its ports when `at` was computed */
};

struct turn {		    /* a wave in the heap */
	uint64_t at, issue; /* as currently known; as measured */
	uint32_t wave;
};

struct meeting {
	uint32_t n_here;
	uint64_t latest;
	uint64_t sum; /* of arrivals, since `first` */
	uint64_t first;
	uint32_t last; /* record that arrived last */
	VEC(uint32_t) waiting;
};

struct whatif_retime_start {
	uint32_t wave, after;
	uint64_t at;
};

/* Made for a unit and reused for all its runs. */
struct machine {
	struct retime *r;
	const struct unit *u;
	const struct whatif_plan *p;
	enum retime_bound bound;
	struct port_list *ports; /* n_simds x UNIT_PORTS */
	struct meeting *meetings;
	struct runner *runners; /* by wave */
	VEC(struct turn) heap;
	bool is_top_free; /* the top wave has issued: the next push replaces it */
	VEC(struct whatif_retime_start) starts; /* waves whose slot is free */
	uint32_t *next_wave; /* by wave: the wave that begins when it ends, or NO_RECORD */
	uint32_t *queue;     /* with another number of waves: waves to begin, by SIMD and time */
	uint32_t *queue_at, *queue_end; /* by SIMD */
};

uint64_t plan_scaled(const struct whatif_plan *p, uint32_t faster_milli, uint64_t cyc)
{
	uint32_t q = p->trace->meta.clock_quantum;

	if (faster_milli == WHATIF_AT_ONCE)
		return 0;
	q = q ? q : 1;
	return (cyc * 1000 / faster_milli + q - 1) / q * q;
}

/* --- the heap ------------------------------------------------------------------------------- */

static bool goes_before(const struct turn *a, const struct turn *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->issue != b->issue ? a->issue < b->issue : a->wave < b->wave;
}

/* Sifts the turn down from the top. */
static void sink(struct machine *m, struct turn x)
{
	struct turn *v = m->heap.v;
	size_t n = m->heap.n, i = 0;

	for (;;) {
		size_t k = 2 * i + 1;

		if (k + 1 < n && goes_before(&v[k + 1], &v[k]))
			k++;
		if (k >= n || !goes_before(&v[k], &x))
			break;
		v[i] = v[k];
		i = k;
	}
	v[i] = x;
}

static bool whatif_retime_push(struct machine *m, uint32_t wave)
{
	const struct runner *r = &m->runners[wave];
	struct turn x = {r->at, m->u->records.v[r->next].issue, wave}, *v;
	size_t i = m->heap.n;

	if (m->is_top_free) {
		m->is_top_free = false;
		sink(m, x);
		return true;
	}
	if (!VEC_PUSH(&m->heap, x))
		return false;
	for (v = m->heap.v; i > 0 && goes_before(&x, &v[(i - 1) / 2]); i = (i - 1) / 2)
		v[i] = v[(i - 1) / 2];
	v[i] = x;
	return true;
}

static void drop_top(struct machine *m)
{
	m->is_top_free = false;
	if (--m->heap.n)
		sink(m, m->heap.v[m->heap.n]);
}

/* --- when can a record issue? --------------------------------------------------------------- */

/* Places the wave's next record on the ports as they are now. */
static void whatif_retime_place(const struct machine *m, uint32_t wave, struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	const struct port_list *simd = m->ports + (size_t)m->u->waves.v[wave].simd * UNIT_PORTS;
	const struct port_list *ports[2] = {
		simd + (r->port < UNIT_PORTS ? r->port : 0), simd + UNIT_MATRIX};
	uint64_t rest = (uint64_t)r->rest_cyc;

	if (r->inst_class == CLASS_NOP || r->port == UNIT_VMEM || r->port == UNIT_LDS)
		rest = plan_cycles(m->p, r->code, rest);
	x->n_seen = 0;
	x->at = x->base + rest;
	if (r->port >= UNIT_PORTS)
		return;
	x->n_seen = ports[0]->v.n + (r->matrix_cyc ? ports[1]->v.n : 0);
	x->at = ports_place(ports, r->matrix_cyc ? 2 : 1, x->base, rest);
}

/* Is the placement still valid: nothing issued on its ports since? */
static bool is_placed(const struct machine *m, uint32_t wave, const struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	const struct port_list *simd = m->ports + (size_t)m->u->waves.v[wave].simd * UNIT_PORTS;

	return r->port >= UNIT_PORTS ||
	       x->n_seen == simd[r->port].v.n + (r->matrix_cyc ? simd[UNIT_MATRIX].v.n : 0);
}

/* The record at which a result is requested: the wait's own, or an earlier one of its row. */
static uint32_t asked_at(const struct machine *m, const struct unit_record *wait, uint32_t producer)
{
	uint32_t n = plan_row(m->p, m->u->records.v[producer].code)->ahead;
	uint32_t of_wait = plan_row(m->p, wait->code)->ahead;

	for (n = n > of_wait ? n : of_wait; n && m->u->same.v[producer] != NO_RECORD; n--)
		producer = m->u->same.v[producer];
	return producer;
}

/* When a result is requested; what asks sooner does so within the life of its wave. */
static uint64_t asked_cyc(const struct machine *m, uint32_t asked)
{
	const struct unit_record *r = &m->u->records.v[asked];
	uint64_t issue = m->r->issue[asked], begin = m->r->begin[r->wave];
	uint64_t sooner = plan_row(m->p, r->code)->sooner_cyc;
	uint64_t room = issue > begin ? issue - begin : 0;

	return issue - (sooner < room ? sooner : room);
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
	at = asked_cyc(m, asked) + plan_cycles(m->p, code, cyc);
	if (m->bound == RETIME_LEAST && d->is_shared) {
		uint64_t then = m->u->records.v[d->producer].issue + d->latency_cyc;

		at = at > then ? at : then;
	}
	return at;
}

/* Latest arrival of the results the record waits for; *by: the last producer, if later than
 * `at`. */
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

/* When the wave's next record is ready, without regard to other waves. */
static void whatif_retime_prepare(
	const struct machine *m, uint32_t wave, struct runner *x, uint64_t end)
{
	const struct unit_record *r = &m->u->records.v[x->next];

	x->ready = x->base = x->at = end + r->gap_cyc;
	if (r->kind != RECORD_PLAIN)
		return;
	if (r->back) {
		uint32_t holder = x->next - r->back;
		code_idx code = m->u->records.v[holder].code;
		uint64_t until = m->r->issue[holder] + plan_cycles(m->p, code, r->hold_cyc);

		if (until > x->base && !plan_row(m->p, code)->is_removed)
			x->base = until;
	}
	whatif_retime_place(m, wave, x);
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
	return VEC_PUSH(&m->starts, (struct whatif_retime_start){k, wave, end});
}

/* Skips removed records and goes to the next record, or to the end of the wave. */
static bool go_on(struct machine *m, uint32_t wave, uint64_t end)
{
	const struct unit_wave *w = &m->u->waves.v[wave];
	struct runner *x = &m->runners[wave];

	for (; x->next < w->first + w->n; x->next++) {
		const struct unit_record *r = &m->u->records.v[x->next];
		const struct whatif_row *row = plan_row(m->p, r->code);

		m->r->n_executed += row->is_removed || row->is_even || row->ahead ||
				    row->sooner_cyc || row->faster_milli != WHATIF_PLAIN;
		if (!row->is_removed) {
			whatif_retime_prepare(m, wave, x, end);
			return whatif_retime_push(m, wave);
		}
		m->r->issue[x->next] = m->r->end[x->next] = end;
	}
	return end_wave(m, wave, end);
}

static bool begin_wave(struct machine *m, struct whatif_retime_start s)
{
	m->runners[s.wave].next = m->u->waves.v[s.wave].first;
	m->r->begin[s.wave] = s.at;
	m->r->after[s.wave] = s.after;
	return go_on(m, s.wave, s.at);
}

static bool leave(struct machine *m, uint32_t wave, uint64_t issue)
{
	struct runner *x = &m->runners[wave];
	const struct unit_record *r = &m->u->records.v[x->next];
	uint64_t end = issue + plan_cycles(m->p, r->code, r->cost_cyc);

	m->r->issue[x->next] = issue;
	m->r->end[x->next] = end;
	x->next++;
	return go_on(m, wave, end);
}

/* With equal work all arrive when they do on average now; what cannot be divided further keeps the
 * last one half as late as it is. */
static uint64_t opens_at(const struct machine *m, const struct meeting *k)
{
	uint64_t mean = k->first + k->sum / k->n_here;

	if (!plan_row(m->p, m->u->records.v[k->last].code)->is_even)
		return k->latest;
	return m->bound == RETIME_LEAST ? mean + (k->latest - mean) / 2 : mean;
}

/* The record whose arrival opens it: the last one that is there by then. */
static uint32_t opener_of(const struct machine *m, const struct meeting *k, uint64_t at)
{
	uint32_t by = k->last;
	uint64_t latest = 0;

	EACH (const uint32_t, wave, k->waiting.v, k->waiting.n) {
		const struct runner *x = &m->runners[*wave];

		if (at < k->latest && x->ready <= at && x->ready >= latest) {
			latest = x->ready;
			by = x->next;
		}
	}
	return by;
}

#define HELD_BY 8u /* earlier records of its own that can hold one (whatif_unit.c) */

/* A wave that is to arrive earlier has done its work earlier: what it did last moves with it. */
static void move_back(struct machine *m, uint32_t wave, uint64_t by, uint64_t at)
{
	const struct unit_wave *w = &m->u->waves.v[wave];
	struct port_list *simd = m->ports + (size_t)w->simd * UNIT_PORTS;
	uint32_t next = m->runners[wave].next;

	for (uint32_t i = next; i > w->first && next - i < HELD_BY; i--) {
		m->r->issue[i - 1] -= by < m->r->issue[i - 1] ? by : m->r->issue[i - 1];
		m->r->end[i - 1] -= by < m->r->end[i - 1] ? by : m->r->end[i - 1];
	}
	for (unsigned p = 0; p < UNIT_PORTS; p++)
		for (size_t i = simd[p].v.n; i-- > 0 && simd[p].v.v[i].end > at;) {
			struct port_span *x = &simd[p].v.v[i];

			x->end = at;
			x->start = x->start < at ? x->start : at;
		}
}

static bool open_meeting(struct machine *m, struct meeting *k)
{
	const uint64_t at = opens_at(m, k);
	const uint32_t by = opener_of(m, k, at);
	bool ok = true;

	EACH (const uint32_t, wave, k->waiting.v, k->waiting.n) {
		uint32_t i = m->runners[*wave].next;

		m->r->by[i] = by;
		if (m->runners[*wave].ready > at)
			move_back(m, *wave, m->runners[*wave].ready - at, at);
		ok = ok && leave(m, *wave, at + (uint64_t)m->u->records.v[i].rest_cyc);
	}
	k->waiting.n = 0;
	return ok;
}

static bool meet(struct machine *m, uint32_t wave)
{
	const struct runner *x = &m->runners[wave];
	uint32_t i = m->u->records.v[x->next].first;
	struct meeting *k = &m->meetings[i];

	if (!VEC_PUSH(&k->waiting, wave))
		return false;
	if (!k->n_here) {
		k->first = x->ready;
		k->sum = 0;
	}
	/* waves come in the order of time, but for those that a change moved back */
	k->sum += x->ready > k->first ? x->ready - k->first : 0;
	if (!k->n_here || x->ready >= k->latest) {
		k->latest = x->ready;
		k->last = x->next;
	}
	return ++k->n_here < m->u->meetings.v[i] || open_meeting(m, k);
}

/* Opens meetings that can never complete: who met whom is inferred, and a change may prove it
 * wrong. */
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

static bool whatif_retime_take(struct port_list *l, uint64_t at, uint64_t cyc)
{
	if (l->v.n && l->v.v[l->v.n - 1].end > at)
		at = l->v.v[l->v.n - 1].end; /* kept in order; a damaged wave may leave a hole */
	return !cyc || VEC_PUSH(&l->v, (struct port_span){at, at + cyc});
}

static bool issue_plain(struct machine *m, uint32_t wave, const struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	struct port_list *simd = m->ports + (size_t)m->u->waves.v[wave].simd * UNIT_PORTS;

	if (r->port < UNIT_PORTS && !whatif_retime_take(simd + r->port, x->at,
					    plan_cycles(m->p, r->code, r->taken_cyc)))
		return false;
	if (r->matrix_cyc && !whatif_retime_take(simd + UNIT_MATRIX, x->at,
				     plan_cycles(m->p, r->code, r->matrix_cyc)))
		return false;
	return leave(m, wave, x->at);
}

static bool issue_wait(struct machine *m, uint32_t wave, const struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	uint64_t rest =
		r->n ? (uint64_t)r->rest_cyc : plan_cycles(m->p, r->code, (uint64_t)r->rest_cyc);

	return leave(m, wave, latest_arrival(m, r, x->ready + rest, &m->r->by[x->next]));
}

static bool issue_drain(struct machine *m, uint32_t wave, struct runner *x)
{
	const struct unit_record *r = &m->u->records.v[x->next];
	uint64_t cost = r->n && r->cost_cyc > DRAIN_FLOOR_CYC ? DRAIN_FLOOR_CYC : r->cost_cyc, end;

	m->r->issue[x->next] = x->ready + (uint64_t)r->rest_cyc;
	end = latest_arrival(
		m, r, m->r->issue[x->next] + plan_cycles(m->p, r->code, cost), &m->r->by[x->next]);
	m->r->end[x->next++] = end;
	return go_on(m, wave, end);
}

static bool whatif_retime_step(struct machine *m)
{
	struct turn top = m->heap.v[0];
	struct runner *x = &m->runners[top.wave];
	uint8_t kind = m->u->records.v[x->next].kind;
	bool ok;

	if (kind == RECORD_PLAIN && !is_placed(m, top.wave, x)) {
		whatif_retime_place(m, top.wave, x);
		if (x->at > top.at) { /* others issue before it */
			top.at = x->at;
			sink(m, top);
			return true;
		}
		x->at = top.at;
	}
	m->is_top_free = true;
	ok = kind == RECORD_PLAIN     ? issue_plain(m, top.wave, x)
	     : kind == RECORD_WAIT    ? issue_wait(m, top.wave, x)
	     : kind == RECORD_BARRIER ? meet(m, top.wave)
				      : issue_drain(m, top.wave, x);
	if (m->is_top_free)
		drop_top(m);
	return ok;
}

/* --- all of it ------------------------------------------------------------------------------ */

struct whatif_retime_starter {
	uint64_t begin;
	uint32_t simd, wave;
};

ORDER(by_simd, struct whatif_retime_starter, UP(simd) UP(begin) UP(wave))

/* With another number of waves: that many begin on each SIMD, the others as slots become free. */
static bool begin_queued(struct machine *m)
{
	size_t n = m->u->waves.n;
	struct whatif_retime_starter *v = mem_zalloc(n + 1, sizeof(*v));
	bool ok = v != NULL;

	for (uint32_t i = 0; ok && i < n; i++)
		v[i] = (struct whatif_retime_starter){
			m->u->waves.v[i].begin, m->u->waves.v[i].simd, i};
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

			ok = VEC_PUSH(&m->starts, (struct whatif_retime_start){wave, NO_RECORD,
							  begin < latest ? begin : latest});
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
			ok = VEC_PUSH(&m->starts,
				(struct whatif_retime_start){i, NO_RECORD, m->u->waves.v[i].begin});
	return ok;
}

static bool whatif_retime_run(struct machine *m)
{
	bool is_any = true, ok = begin_all(m);

	while (ok && is_any) {
		while (ok && (m->starts.n || m->heap.n))
			ok = m->starts.n ? begin_wave(m, m->starts.v[--m->starts.n])
					 : whatif_retime_step(m);
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

static bool machine_new(struct retime *r, const struct unit *u)
{
	struct machine *m = r->machine = mem_zalloc(1, sizeof(*m));

	if (!m)
		return false;
	m->u = u;
	m->r = r;
	m->ports = mem_zalloc((size_t)u->n_simds * UNIT_PORTS + 1, sizeof(*m->ports));
	m->meetings = mem_zalloc(u->meetings.n + 1, sizeof(*m->meetings));
	m->runners = mem_zalloc(u->waves.n + 1, sizeof(*m->runners));
	m->next_wave = mem_zalloc(u->waves.n + 1, sizeof(*m->next_wave));
	m->queue_at = mem_zalloc((size_t)u->n_simds + 1, sizeof(*m->queue_at));
	m->queue_end = mem_zalloc((size_t)u->n_simds + 1, sizeof(*m->queue_end));
	return m->ports && m->meetings && m->runners && m->next_wave && m->queue_at && m->queue_end;
}

static void machine_free(struct machine *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->ports && i < (size_t)m->u->n_simds * UNIT_PORTS; i++)
		VEC_FREE(&m->ports[i].v);
	for (size_t i = 0; m->meetings && i < m->u->meetings.n; i++)
		VEC_FREE(&m->meetings[i].waiting);
	VEC_FREE(&m->heap);
	VEC_FREE(&m->starts);
	mem_free(m->ports);
	mem_free(m->meetings);
	mem_free(m->runners);
	mem_free(m->next_wave);
	mem_free(m->queue);
	mem_free(m->queue_at);
	mem_free(m->queue_end);
	mem_free(m);
}

static bool retime_init(struct retime *r, const struct unit *u)
{
	*r = (struct retime){.issue = mem_zalloc(u->records.n + 1, sizeof(*r->issue)),
		.end = mem_zalloc(u->records.n + 1, sizeof(*r->end)),
		.by = mem_zalloc(u->records.n + 1, sizeof(*r->by)),
		.begin = mem_zalloc(u->waves.n + 1, sizeof(*r->begin)),
		.wave_end = mem_zalloc(u->waves.n + 1, sizeof(*r->wave_end)),
		.after = mem_zalloc(u->waves.n + 1, sizeof(*r->after))};
	return r->issue && r->end && r->by && r->begin && r->wave_end && r->after &&
	       machine_new(r, u);
}

void retime_deinit(struct retime *r)
{
	machine_free(r->machine);
	mem_free(r->issue);
	mem_free(r->end);
	mem_free(r->by);
	mem_free(r->begin);
	mem_free(r->wave_end);
	mem_free(r->after);
	*r = (struct retime){0};
}

/* Resets to the state before a run. */
static bool reset(struct machine *m)
{
	const struct unit *u = m->u;
	struct retime *r = m->r;

	r->n_executed = r->first_cyc = r->last_cyc = 0;
	memset(r->issue, 0, u->records.n * sizeof(*r->issue));
	memset(r->end, 0, u->records.n * sizeof(*r->end));
	memset(r->by, 0xff, u->records.n * sizeof(*r->by));
	memset(r->begin, 0, u->waves.n * sizeof(*r->begin));
	memset(r->wave_end, 0, u->waves.n * sizeof(*r->wave_end));
	memset(r->after, 0, u->waves.n * sizeof(*r->after));
	memset(m->next_wave, 0xff, u->waves.n * sizeof(*m->next_wave));
	memset(m->queue_at, 0, u->n_simds * sizeof(*m->queue_at));
	memset(m->queue_end, 0, u->n_simds * sizeof(*m->queue_end));
	for (size_t i = 0; i < (size_t)u->n_simds * UNIT_PORTS; i++)
		m->ports[i].v.n = 0;
	EACH (struct meeting, k, m->meetings, u->meetings.n)
		k->n_here = 0;
	mem_free(m->queue);
	m->queue = m->p->waves ? mem_zalloc(u->waves.n + 1, sizeof(*m->queue)) : NULL;
	return m->queue || !m->p->waves;
}

bool retime_run(struct retime *r, const struct unit *u, const struct whatif_plan *p,
	enum retime_bound bound, struct incore_error *e)
{
	if (!r->machine && !retime_init(r, u))
		return err_nomem(e);
	r->machine->p = p;
	r->machine->bound = bound;
	return (reset(r->machine) && whatif_retime_run(r->machine)) || err_nomem(e);
}
