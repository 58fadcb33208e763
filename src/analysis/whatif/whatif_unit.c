/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_unit.c: reads the waves of a compute unit and adds edges from their waits to the
 * producers. Divisions: edges; a unit.
 */
#include "analysis/whatif/whatif_unit.h"

#include "analysis/waves/barriers.h"
#include "analysis/waves/busy.h"
#include "base/search.h"
#include "trace/account.h"

/* --- edges ------------------------------------------------------------------------------------ */

/*
 * Explains stalls by the wave's own instructions, by a pipe that another wave
 * occupied, or by the other waves at a barrier; the rest stays with the record.
 */

#define SLOT_DELAY_CYC 1024u /* a wave that started later than that did not wait for its slot */
#define LOOK_BACK 8u /* own records that can still hold one: further back than any rule reaches */

/* --- ports ---------------------------------------------------------------------------------- */

/* The first stretch that ends after `at`. */
static size_t port_from(const struct port_list *l, uint64_t at)
{
	size_t lo = l->v.n, hi = lo, step = 1;

	/* it is nearly always one of the last */
	for (; lo && l->v.v[lo - 1].end > at; step *= 2) {
		hi = lo - 1;
		lo = hi > step ? hi - step : 0;
	}
	BISECT(lo, hi, i, l->v.v[i].end <= at);
	return lo;
}

uint64_t ports_place(const struct port_list *const *ports, unsigned n, uint64_t at, uint64_t need)
{
	size_t next[2] = {0};

	for (unsigned i = 0; i < n; i++)
		next[i] = port_from(ports[i], at);
	for (;;) {
		const struct port_span *s = NULL;

		for (unsigned i = 0; i < n; i++) {
			const struct port_span *k;

			while (next[i] < ports[i]->v.n && ports[i]->v.v[next[i]].end <= at)
				next[i]++;
			k = next[i] < ports[i]->v.n ? &ports[i]->v.v[next[i]] : NULL;
			if (k && (!s || k->start < s->start))
				s = k;
		}
		if (!s || at + need < s->start)
			return at + need;
		if (s->start > at) {
			need -= s->start - at;
		}
		at = s->end;
	}
}

/* --- own instructions ----------------------------------------------------------------------- */

/* Finds the own record that held this one longest by the rules, limited to the measured time. */
static void find_hold(struct unit *u, const struct unit_tables *x, uint32_t i)
{
	struct unit_record *r = &u->records.v[i];
	uint32_t first = u->waves.v[r->wave].first, n_code = x->trace->n_code;
	struct why_inst then = {
		&x->code[r->code < n_code ? r->code : n_code], (enum inst_class)r->inst_class};
	uint64_t until = 0;

	if (r->kind != RECORD_PLAIN || r->inst_class >= 32)
		return;
	for (uint32_t back = 1; back <= LOOK_BACK && i - first >= back; back++) {
		const struct unit_record *p = &u->records.v[i - back];
		uint64_t hold;
		bool reads;

		if (p->kind != RECORD_PLAIN || p->inst_class >= 32)
			continue;
		hold = why_hold_cyc(x->chip,
			(struct why_inst){&x->code[p->code < n_code ? p->code : n_code],
				(enum inst_class)p->inst_class},
			then, &reads);
		hold = hold < r->issue - p->issue ? hold : r->issue - p->issue;
		if (hold && p->issue + hold > until) {
			until = p->issue + hold;
			r->back = (uint8_t)back;
			r->hold_cyc = (uint16_t)hold;
		}
	}
}

/* --- the order of time ---------------------------------------------------------------------- */

struct whatif_unit_moment {
	uint64_t issue;
	uint32_t record;
};

ORDER(by_issue, struct whatif_unit_moment, UP(issue) UP(record))

/* Occupies a port until its instruction is done, or until the next one was seen on it. */
static bool take_port(
	struct port_list *l, uint32_t *last, struct unit *u, uint32_t i, bool is_matrix)
{
	struct unit_record *r = &u->records.v[i];
	uint32_t cyc = is_matrix ? r->matrix_cyc : r->taken_cyc;

	if (l->v.n && l->v.v[l->v.n - 1].end > r->issue) {
		struct unit_record *p = &u->records.v[*last];
		struct port_span *s = &l->v.v[l->v.n - 1];

		s->end = r->issue;
		if (is_matrix)
			p->matrix_cyc = (uint32_t)(r->issue - p->issue);
		else
			p->taken_cyc = (uint32_t)(r->issue - p->issue);
	}
	*last = i;
	return !cyc || VEC_PUSH(&l->v, (struct port_span){r->issue, r->issue + cyc});
}

/* Finds what remains of a stall without the hold of own instructions and without other waves. */
static void find_rest(const struct unit *u, struct unit_record *r, const struct port_list *ports)
{
	const struct port_list *mine[2] = {ports + r->port, ports + UNIT_MATRIX};
	const struct unit_record *p = r - r->back;
	uint64_t at = r->issue - r->stall_cyc, need;

	(void)u;
	if (r->back && p->issue + r->hold_cyc > at)
		at = p->issue + r->hold_cyc;
	need = r->issue - at;
	for (unsigned k = 0; r->port < UNIT_PORTS && k < (r->matrix_cyc ? 2u : 1u); k++)
		for (size_t i = port_from(mine[k], at); i < mine[k]->v.n; i++) {
			const struct port_span *s = &mine[k]->v.v[i];
			uint64_t from = s->start > at ? s->start : at;
			uint64_t to = s->end < r->issue ? s->end : r->issue;

			if (to > from)
				need -= need < to - from ? need : to - from;
		}
	r->rest_cyc = (int32_t)need;
}

static bool one_moment(struct unit *u, uint32_t i, struct port_list *ports, uint32_t *last)
{
	struct unit_record *r = &u->records.v[i];
	size_t simd = (size_t)u->waves.v[r->wave].simd * UNIT_PORTS;
	bool ok = true;

	if (r->kind != RECORD_PLAIN || r->port >= UNIT_PORTS) {
		if (r->kind == RECORD_PLAIN)
			find_rest(u, r, ports + simd);
		return true;
	}
	/* the previous one ends where this one is seen; must precede find_rest() */
	ok = take_port(ports + simd + r->port, last + simd + r->port, u, i, false);
	if (r->matrix_cyc)
		ok = ok &&
		     take_port(ports + simd + UNIT_MATRIX, last + simd + UNIT_MATRIX, u, i, true);
	find_rest(u, r, ports + simd);
	return ok;
}

static bool sweep_ports(struct unit *u, const struct unit_tables *x)
{
	size_t n = u->records.n, n_ports = (size_t)u->n_simds * UNIT_PORTS;
	struct whatif_unit_moment *v = mem_zalloc(n + 1, sizeof(*v));
	struct port_list *ports = mem_zalloc(n_ports + 1, sizeof(*ports));
	uint32_t *last = mem_zalloc(n_ports + 1, sizeof(*last));
	bool ok = v && ports && last;

	for (uint32_t i = 0; ok && i < n; i++) {
		struct unit_record *r = &u->records.v[i];

		v[i] = (struct whatif_unit_moment){r->issue, i};
		r->taken_cyc = r->cost_cyc;
		if (r->inst_class == CLASS_MATRIX) {
			uint32_t passes =
				r->code < x->trace->n_code ? x->code[r->code].passes_cyc : 0;

			r->matrix_cyc = passes > r->cost_cyc ? passes : r->cost_cyc;
		}
	}
	if (ok)
		SORT(v, n, by_issue);
	for (size_t i = 0; ok && i < n; i++)
		ok = one_moment(u, v[i].record, ports, last);
	for (size_t i = 0; ports && i < n_ports; i++)
		VEC_FREE(&ports[i].v);
	mem_free(v);
	mem_free(ports);
	mem_free(last);
	return ok;
}

/* --- barriers ------------------------------------------------------------------------------- */

struct arrival {
	code_idx code;
	uint32_t ordinal, record;
	int64_t workgroup;
	uint64_t arrival, release;
};

struct arrivals {
	VEC(struct arrival) list;
};

ORDER(by_meeting, struct arrival, UP(code) UP(workgroup) UP(ordinal) UP(release) UP(record))

static bool list_arrivals(const struct unit *u, struct arrivals *out)
{
	struct times {
		uint32_t wave, n;
	} *times = mem_zalloc((size_t)u->trace->n_code + 1, sizeof(*times));
	bool ok = times != NULL;

	for (uint32_t i = 0; ok && i < u->records.n; i++) {
		const struct unit_record *r = &u->records.v[i];
		code_idx code = r->code < u->trace->n_code ? r->code : u->trace->n_code;
		int64_t workgroup = u->trace->tracks[u->waves.v[r->wave].track].workgroup;

		if (r->kind != RECORD_BARRIER)
			continue;
		if (times[code].wave != r->wave + 1)
			times[code] = (struct times){r->wave + 1, 0};
		ok = VEC_PUSH(&out->list, (struct arrival){code, times[code].n++, i, workgroup,
						  r->issue - r->stall_cyc, r->issue});
	}
	mem_free(times);
	return ok;
}

/* Waves released together have met, as in barriers.h, if nobody arrived after the first left. */
static bool is_met(const struct arrival *first, const struct arrival *last, const struct arrival *x)
{
	return x->code == first->code && x->workgroup == first->workgroup &&
	       x->ordinal == first->ordinal &&
	       x->release - last->release <= BARRIER_TOLERANCE_CYC && x->arrival <= first->release;
}

static bool find_meetings(struct unit *u)
{
	struct arrivals a = {0};
	bool ok = list_arrivals(u, &a);

	if (ok)
		SORT(a.list.v, a.list.n, by_meeting);
	for (size_t i = 0, end; ok && i < a.list.n; i = end) {
		uint64_t latest = a.list.v[i].arrival;

		for (end = i + 1;
			end < a.list.n && is_met(&a.list.v[i], &a.list.v[end - 1], &a.list.v[end]);
			end++)
			latest = a.list.v[end].arrival > latest ? a.list.v[end].arrival : latest;
		for (size_t k = i; k < end; k++) {
			struct unit_record *r = &u->records.v[a.list.v[k].record];

			r->first = (uint32_t)u->meetings.n;
			r->rest_cyc = (int32_t)(r->issue - latest);
		}
		ok = VEC_PUSH(&u->meetings, (uint32_t)(end - i));
	}
	VEC_FREE(&a.list);
	return ok;
}

/* --- slots ---------------------------------------------------------------------------------- */

struct tenant {
	uint64_t begin;
	uint32_t simd, slot, wave;
};

ORDER(by_slot, struct tenant, UP(simd) UP(slot) UP(begin) UP(wave))

static bool find_slots(struct unit *u, const struct unit_tables *x)
{
	struct tenant *v = mem_zalloc(u->waves.n + 1, sizeof(*v));
	uint32_t simd = 0;

	if (!v)
		return false;
	for (uint32_t i = 0; i < u->waves.n; i++) {
		struct unit_wave *w = &u->waves.v[i];
		const uint32_t *coord = x->trace->tracks[w->track].coord;

		simd += i > 0 &&
			coord[x->simd_level] !=
				x->trace->tracks[u->waves.v[i - 1].track].coord[x->simd_level];
		w->simd = simd;
		v[i] = (struct tenant){w->begin, simd, coord[x->slot_level], i};
	}
	u->n_simds = simd + 1;
	SORT(v, u->waves.n, by_slot);
	for (size_t i = 1; i < u->waves.n; i++) {
		struct unit_wave *w = &u->waves.v[v[i].wave];

		if (v[i - 1].simd == v[i].simd && v[i - 1].slot == v[i].slot &&
			u->waves.v[v[i - 1].wave].end <= w->begin &&
			w->begin - u->waves.v[v[i - 1].wave].end <= SLOT_DELAY_CYC)
			w->before = v[i - 1].wave;
	}
	mem_free(v);
	return true;
}

/* --- how full the memory queues were -------------------------------------------------------- */

struct times {
	VEC(uint64_t) issued, back;
};

/* Lists vector memory instructions of a wave: sent at their issue, back when a wait for them
 * ends. */
static bool list_flights(const struct unit *u, const struct unit_wave *w, struct times *out)
{
	uint32_t open = w->first;

	for (uint32_t i = w->first; i < w->first + w->n; i++) {
		const struct unit_record *r = &u->records.v[i];
		uint32_t to = open;

		if (r->port == UNIT_VMEM && !VEC_PUSH(&out->issued, r->issue))
			return false;
		for (uint32_t k = 0; r->kind == RECORD_WAIT && k < r->n; k++)
			if (u->deps.v[r->first + k].is_shared)
				to = u->deps.v[r->first + k].producer + 1;
		if (i + 1 == w->first + w->n)
			to = i + 1;
		for (; open < to; open++)
			if (u->records.v[open].port == UNIT_VMEM && !VEC_PUSH(&out->back, r->end))
				return false;
	}
	return true;
}

/* Share of the latency of shared memory in excess of the smallest latency seen. */
static double queued_share(const struct unit *u)
{
	uint64_t sum = 0, n = 0;
	uint32_t least = UINT32_MAX;

	EACH (const struct unit_dep, d, u->deps.v, u->deps.n) {
		if (!d->is_shared || d->least_cyc != d->most_cyc)
			continue;
		least = d->most_cyc < least ? d->most_cyc : least;
		sum += d->most_cyc;
		n++;
	}
	return sum ? 1.0 - (double)least * (double)n / (double)sum : 0;
}

static bool find_coupling(struct unit *u)
{
	struct times t = {0};
	uint64_t n_many = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < u->waves.n; i++)
		ok = list_flights(u, &u->waves.v[i], &t);
	if (ok) {
		SORT(t.issued.v, t.issued.n, compare_u64);
		SORT(t.back.v, t.back.n, compare_u64);
	}
	for (size_t i = 0, k = 0; ok && i < t.issued.n; i++) {
		while (k < t.back.n && t.back.v[k] <= t.issued.v[i])
			k++;
		n_many += i - k >= WHY_MANY;
	}
	u->coupling = t.issued.n ? (double)n_many / (double)t.issued.n * queued_share(u) : 0;
	VEC_FREE(&t.issued);
	VEC_FREE(&t.back);
	return ok;
}

/* Of the waves' time stands before the memory's queue: from here on it may be full, and is. */
#define HALF_QUEUE .15
#define FULL_QUEUE .30

/* Waves that stand before the queue of memory show that it takes no request sooner. */
static void find_fullness(struct unit *u)
{
	double before = 0, all = 0;

	EACH (const struct unit_record, r, u->records.v, u->records.n)
		before += r->port == UNIT_VMEM ? r->stall_cyc : 0;
	EACH (const struct unit_wave, w, u->waves.v, u->waves.n)
		all += (double)(w->end - w->begin);
	if (all > 0 && before > HALF_QUEUE * all)
		u->fullness = (before / all - HALF_QUEUE) / (FULL_QUEUE - HALF_QUEUE);
	u->fullness = u->fullness < 1 ? u->fullness : 1;
}

/* Fills ports, holds and rests of the records, meetings and slots. */
static bool unit_link(struct unit *u, const struct unit_tables *x, struct incore_error *e)
{
	if (!find_slots(u, x))
		return err_nomem(e);
	for (uint32_t i = 0; i < u->records.n; i++) {
		struct unit_record *r = &u->records.v[i];

		find_hold(u, x, i);
		r->rest_cyc = (int32_t)r->stall_cyc;
		if (r->kind == RECORD_WAIT && r->n && r->stall_cyc > WAIT_FLOOR_CYC)
			r->rest_cyc = WAIT_FLOOR_CYC;
	}
	find_fullness(u);
	return (sweep_ports(u, x) && find_meetings(u) && find_coupling(u)) || err_nomem(e);
}

/* --- a unit ----------------------------------------------------------------------------------- */

void unit_deinit(struct unit *u)
{
	VEC_FREE(&u->waves);
	VEC_FREE(&u->records);
	VEC_FREE(&u->deps);
	VEC_FREE(&u->meetings);
	VEC_FREE(&u->same);
}

static enum unit_port port_of(enum inst_class c)
{
	static const uint8_t ports[SIMD_UNITS] = {[SIMD_VALU] = UNIT_VECTOR,
		[SIMD_MATRIX] = UNIT_VECTOR,
		[SIMD_LDS] = UNIT_LDS,
		[SIMD_VMEM] = UNIT_VMEM,
		[SIMD_SALU] = UNIT_SALU,
		[SIMD_SMEM] = UNIT_SMEM,
		[SIMD_BRANCH] = UNIT_BRANCH,
		[SIMD_OTHER] = UNIT_PORTS,
		[SIMD_NONE] = UNIT_PORTS};

	return (enum unit_port)ports[class_unit(c)];
}

static uint8_t whatif_unit_kind_of(const struct unit_tables *x, code_idx code, enum inst_class c)
{
	if (c == CLASS_BARRIER)
		return RECORD_BARRIER;
	if (c == CLASS_DRAIN)
		return RECORD_DRAIN;
	return c == CLASS_WAIT && code < x->trace->n_code ? RECORD_WAIT : RECORD_PLAIN;
}

static bool is_shared(enum inst_class c)
{
	return c >= CLASS_VMEM_LOAD && c <= CLASS_VMEM_TO_LDS;
}

/* --- records -------------------------------------------------------------------------------- */

static bool add_records(struct unit *u, const struct unit_tables *x, const struct track_data *d)
{
	uint32_t wave = (uint32_t)u->waves.n - 1;
	struct unit_wave *w = &u->waves.v[wave];
	struct account a;

	w->first = (uint32_t)u->records.n;
	w->n = d->n;
	w->begin = w->end = d->begin_cyc;
	if (u->records.n + d->n >= NO_RECORD || !VEC_RESERVE(&u->records, u->records.n + d->n))
		return false;
	for (account_begin(&a, d, 0, UINT64_MAX); account_next(&a);) {
		code_idx code = d->code[a.i];
		enum inst_class c = (enum inst_class)d->inst_class[a.i];

		u->records.v[u->records.n++] = (struct unit_record){.code = code,
			.inst_class = (uint8_t)c,
			.kind = whatif_unit_kind_of(x, code, c),
			.port = (uint8_t)port_of(c),
			.wave = wave,
			.gap_cyc = (uint32_t)(a.raw.stall - a.raw.gap),
			.stall_cyc = (uint32_t)(a.raw.issue - a.raw.stall),
			.cost_cyc = (uint32_t)(a.raw.end - a.raw.issue),
			.issue = a.raw.issue,
			.end = a.raw.end};
		w->end = a.raw.end;
	}
	w->tail_cyc = (int64_t)(d->end_cyc - w->end);
	w->end = d->end_cyc > w->begin ? d->end_cyc : w->begin;
	return true;
}

/* --- what waits are for --------------------------------------------------------------------- */

static uint32_t since(const struct unit_record *producer, uint64_t time)
{
	return time > producer->issue ? (uint32_t)(time - producer->issue) : 0;
}

/* Distance of a class, to guess which of several producers of a wait returns last. */
static unsigned distance_of(enum inst_class c)
{
	return is_shared(c) ? 3 : c == CLASS_SMEM ? 2 : 1;
}

/* The producer of a side: the youngest; for a group the youngest of the most distant ones. */
static uint32_t whatif_unit_producer_of(const struct unit *u, const struct unit_wave *w,
	const struct waits *waits, const struct wait_side *s)
{
	uint32_t best = w->first + s->youngest;

	if (s->resolution == WAIT_EXACT)
		return best;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t k = w->first + waits->producers.v[s->first + i].slice;
		unsigned a = distance_of((enum inst_class)u->records.v[k].inst_class);
		unsigned b = distance_of((enum inst_class)u->records.v[best].inst_class);

		if (a > b || (a == b && u->records.v[k].issue > u->records.v[best].issue))
			best = k;
	}
	return best;
}

static bool whatif_unit_add_wait(struct unit *u, const struct unit_wave *w,
	const struct waits *waits, const struct wait_event *ev)
{
	struct unit_record *r = &u->records.v[w->first + ev->slice];
	uint32_t last = NO_RECORD;

	if (r->kind != RECORD_WAIT)
		return true;
	r->first = (uint32_t)u->deps.n;
	r->n = ev->n_sides;
	for (unsigned s = 0; s < ev->n_sides; s++) {
		uint32_t k =
			whatif_unit_producer_of(u, w, waits, &waits->sides.v[ev->first_side + s]);
		const struct unit_record *p = &u->records.v[k];
		struct unit_dep dep = {.producer = k,
			.most_cyc = since(p, r->issue),
			.is_shared = is_shared((enum inst_class)p->inst_class)};

		if (ev->is_blocked &&
			(last == NO_RECORD ||
				distance_of((enum inst_class)p->inst_class) >
					distance_of((enum inst_class)u->records
							    .v[u->deps.v[last].producer]
							    .inst_class)))
			last = (uint32_t)u->deps.n;
		if (!VEC_PUSH(&u->deps, dep))
			return false;
	}
	if (last != NO_RECORD) /* this one ended the wait, so its latency is measured */
		u->deps.v[last].latency_cyc = u->deps.v[last].least_cyc = u->deps.v[last].most_cyc;
	return true;
}

#define DRAIN_STORES 64u /* stores looked at: the last ones of a wave */

/* The end of a program waits until its stores have left; a long wait is attributed to the
 * youngest. */
static bool add_drain(struct unit *u, const struct unit_wave *w)
{
	struct unit_record *r = w->n ? &u->records.v[w->first + w->n - 1] : NULL;

	if (!r || r->kind != RECORD_DRAIN)
		return true;
	r->first = (uint32_t)u->deps.n;
	for (uint32_t i = w->n - 1; i-- > 0 && r->n < DRAIN_STORES;) {
		const struct unit_record *p = &u->records.v[w->first + i];
		struct unit_dep dep = {
			.producer = w->first + i, .most_cyc = since(p, r->end), .is_shared = true};

		if (p->inst_class != CLASS_VMEM_STORE && p->inst_class != CLASS_VMEM_ATOMIC)
			continue;
		if (r->n == 0 && r->cost_cyc > DRAIN_FLOOR_CYC)
			dep.latency_cyc = dep.least_cyc = dep.most_cyc;
		if (!VEC_PUSH(&u->deps, dep))
			return false;
		r->n++;
	}
	return true;
}

/* --- latencies that no wait shows ----------------------------------------------------------- */

struct whatif_unit_seen { /* measured latencies of a code row */
	uint64_t sum, n;
	uint32_t least;
};

static void see(struct whatif_unit_seen *s, uint32_t cyc)
{
	s->least = s->n && s->least < cyc ? s->least : cyc;
	s->sum += cyc;
	s->n++;
}

/* A wait that did not block gives only an upper bound of its producer's latency; the likely value
 * is taken from others of its row, or of its class. */
static bool guess_latencies(struct unit *u)
{
	uint32_t n_code = u->trace->n_code;
	struct whatif_unit_seen *rows = mem_zalloc((size_t)n_code + 1 + CLASS_COUNT, sizeof(*rows));
	struct whatif_unit_seen *classes;

	if (!rows)
		return false;
	classes = rows + n_code + 1;
	EACH (const struct unit_dep, d, u->deps.v, u->deps.n) {
		const struct unit_record *p = &u->records.v[d->producer];

		if (!d->latency_cyc)
			continue;
		see(&rows[p->code < n_code ? p->code : n_code], d->latency_cyc);
		if (p->inst_class < CLASS_COUNT)
			see(&classes[p->inst_class], d->latency_cyc);
	}
	EACH (struct unit_dep, d, u->deps.v, u->deps.n) {
		const struct unit_record *p = &u->records.v[d->producer];
		const struct whatif_unit_seen *s = &rows[p->code < n_code ? p->code : n_code];

		if (d->latency_cyc || !d->most_cyc)
			continue;
		if (!s->n && p->inst_class < CLASS_COUNT)
			s = &classes[p->inst_class];
		d->latency_cyc = s->n ? (uint32_t)(s->sum / s->n) : d->most_cyc;
		d->least_cyc = s->n ? s->least : 0;
		d->latency_cyc = d->latency_cyc < d->most_cyc ? d->latency_cyc : d->most_cyc;
		d->least_cyc = d->least_cyc < d->latency_cyc ? d->least_cyc : d->latency_cyc;
	}
	mem_free(rows);
	return true;
}

/* --- executions of the same row ------------------------------------------------------------- */

static bool find_same(struct unit *u)
{
	uint32_t n_code = u->trace->n_code;
	uint32_t *last = mem_zalloc((size_t)n_code + 1, sizeof(*last)); /* last record of a row in
									   any wave, + 1 */

	if (!last || !VEC_RESERVE(&u->same, u->records.n)) {
		mem_free(last);
		return false;
	}
	for (uint32_t i = 0; i < u->records.n; i++) {
		uint32_t *at = &last[u->records.v[i].code < n_code ? u->records.v[i].code : n_code];
		bool is_same = *at && u->records.v[*at - 1].wave == u->records.v[i].wave;

		u->same.v[u->same.n++] = is_same ? *at - 1 : NO_RECORD;
		*at = i + 1;
	}
	mem_free(last);
	return true;
}

/* --- a unit --------------------------------------------------------------------------------- */

static bool add_wave(struct unit *u, const struct unit_tables *x, track_idx i,
	const struct track_data *d, struct waits *waits, struct incore_error *e)
{
	const struct track *t = &x->trace->tracks[i];
	struct walk_track walk = {x->trace, i, t, d, 0, UINT64_MAX};
	struct unit_wave w = {.track = i, .before = NO_RECORD};
	bool ok;

	w.simd = t->coord[x->simd_level];
	if (!VEC_PUSH(&u->waves, w) || !add_records(u, x, d))
		return err_nomem(e);
	if (!waits_resolve(waits, x->waits, &walk, 0, e))
		return false;
	ok = true;
	for (size_t k = 0; ok && k < waits->events.n; k++)
		ok = whatif_unit_add_wait(
			u, &u->waves.v[u->waves.n - 1], waits, &waits->events.v[k]);
	return (ok && add_drain(u, &u->waves.v[u->waves.n - 1])) || err_nomem(e);
}

bool unit_load(struct unit *u, const struct unit_tables *x, const track_idx at[2], struct waits *w,
	struct incore_error *e)
{
	struct track_data d = {0};
	bool ok = true;

	*u = (struct unit){.trace = x->trace};
	for (track_idx i = at[0]; ok && i < at[1]; i++) {
		struct incore_error why = {0};

		if (trace_load_track(x->trace, i, 0, &d, &why)) {
			ok = add_wave(u, x, i, &d, w, e);
		} else if (track_error_is_fatal(&why)) {
			ok = false;
			err_move(e, &why);
		} else {
			u->n_unread++;
		}
		incore_error_clear(&why);
	}
	track_data_deinit(&d);
	return ok && ((guess_latencies(u) && find_same(u)) || err_nomem(e)) && unit_link(u, x, e);
}
