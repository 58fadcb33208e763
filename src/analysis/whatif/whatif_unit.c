/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_unit.c: reads the waves of a compute unit and adds edges from their waits to the
 * producers. */
#include "analysis/whatif/whatif_unit.h"

#include "analysis/waves/busy.h"
#include "base/search.h"
#include "trace/account.h"

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

static uint8_t kind_of(const struct unit_tables *x, code_idx code, enum inst_class c)
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
			.kind = kind_of(x, code, c),
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
static uint32_t producer_of(const struct unit *u, const struct unit_wave *w,
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

static bool add_wait(struct unit *u, const struct unit_wave *w, const struct waits *waits,
	const struct wait_event *ev)
{
	struct unit_record *r = &u->records.v[w->first + ev->slice];
	uint32_t last = NO_RECORD;

	if (r->kind != RECORD_WAIT)
		return true;
	r->first = (uint32_t)u->deps.n;
	r->n = ev->n_sides;
	for (unsigned s = 0; s < ev->n_sides; s++) {
		uint32_t k = producer_of(u, w, waits, &waits->sides.v[ev->first_side + s]);
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

struct seen { /* measured latencies of a code row */
	uint64_t sum, n;
	uint32_t least;
};

static void see(struct seen *s, uint32_t cyc)
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
	struct seen *rows = mem_zalloc((size_t)n_code + 1 + CLASS_COUNT, sizeof(*rows));
	struct seen *classes;

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
		const struct seen *s = &rows[p->code < n_code ? p->code : n_code];

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
		ok = add_wait(u, &u->waves.v[u->waves.n - 1], waits, &waits->events.v[k]);
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
