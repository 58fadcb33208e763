/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_edges.c: explains stalls by the wave's own instructions, by a pipe that another wave
 * occupied, or by the other waves at a barrier; the rest stays with the record.
 */
#include "analysis/waves/barriers.h"
#include "analysis/whatif/whatif_unit.h"
#include "base/search.h"

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

struct moment {
	uint64_t issue;
	uint32_t record;
};

ORDER(by_issue, struct moment, UP(issue) UP(record))

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
	struct moment *v = mem_zalloc(n + 1, sizeof(*v));
	struct port_list *ports = mem_zalloc(n_ports + 1, sizeof(*ports));
	uint32_t *last = mem_zalloc(n_ports + 1, sizeof(*last));
	bool ok = v && ports && last;

	for (uint32_t i = 0; ok && i < n; i++) {
		struct unit_record *r = &u->records.v[i];

		v[i] = (struct moment){r->issue, i};
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

bool unit_link(struct unit *u, const struct unit_tables *x, struct incore_error *e)
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
	return (sweep_ports(u, x) && find_meetings(u) && find_coupling(u)) || err_nomem(e);
}
