/* SPDX-License-Identifier: Apache-2.0 */
/*
 * producers.c: wait cycles by what was waited for, summed over all selected tracks, and the edges
 * from producer row to wait row.
 */
#include "analysis/waves/producers.h"

#include "base/search.h"
#include "trace/account.h"

/* Below this many clock quanta, latencies of an edge are exact, above rounded to 1 part in 2048:
 * limits the memory for captures with thousands of edges. */
#define EXACT_QUANTA 4096u

struct group_table {
	struct u64_map index; /* key -> position + 1 */
	VEC(struct producer_group) groups;
	uint64_t barrier_cyc, sleep_cyc;
};

struct producers_worker {
	struct waits waits;
	const struct waits *of_track; /* `waits`, or those resolved by another collector */
	struct group_table blocking, class_set;
	uint64_t n_free, n_blocked;
	uint64_t by_resolution[4];
	struct u64_map edge_index; /* producer << 32 | wait -> position + 1 */
	VEC(struct producer_edge) edges;
	struct histograms latency; /* by edge position */
};

static bool group_add(struct group_table *t, const struct producer_group *add)
{
	uint64_t *at = u64_map_at(&t->index, add->key);
	struct producer_group *g;

	if (!at)
		return false;
	if (*at == 0) {
		if (!VEC_PUSH(&t->groups, (struct producer_group){.key = add->key}))
			return false;
		*at = t->groups.n;
	}
	g = &t->groups.v[*at - 1];
	g->wait_cyc += add->wait_cyc;
	g->n_waits += add->n_waits;
	g->n_blocked += add->n_blocked;
	return true;
}

static struct producer_edge *edge_at(
	struct producers_worker *m, code_idx producer, code_idx wait, uint32_t *pos)
{
	uint64_t *at = u64_map_at(&m->edge_index, (uint64_t)producer << 32 | wait);

	if (!at)
		return NULL;
	if (*at == 0) {
		if (!VEC_PUSH(
			    &m->edges, (struct producer_edge){.producer = producer, .wait = wait}))
			return NULL;
		*at = m->edges.n;
	}
	*pos = (uint32_t)(*at - 1);
	return &m->edges.v[*pos];
}

static bool add_edges(struct producers *p, struct producers_worker *m, const struct walk_track *w,
	const struct wait_event *ev, uint64_t stall_cyc)
{
	const struct track_data *d = w->data;
	uint64_t release = d->start_cyc[ev->slice] + d->dur_cyc[ev->slice];
	unsigned quantum = p->trace->meta.clock_quantum;
	uint64_t exact = (uint64_t)EXACT_QUANTA * (quantum ? quantum : 1);

	for (unsigned s = 0; s < ev->n_sides; s++) {
		const struct wait_side *side = &m->of_track->sides.v[ev->first_side + s];
		uint32_t y = side->youngest, pos;
		uint64_t issue = d->start_cyc[y] + d->stall_cyc[y];
		uint64_t latency = release > issue ? release - issue : 0;
		struct producer_edge *edge = edge_at(m, d->code[y], d->code[ev->slice], &pos);

		if (!edge)
			return false;
		edge->count++;
		edge->n_blocked += ev->is_blocked;
		edge->n_inexact += side->resolution != WAIT_EXACT;
		*(ev->n_sides == 1 ? &edge->stall_cyc : &edge->shared_cyc) += stall_cyc;
		if (!(p->want & PRODUCERS_EDGES_ALONE) &&
			!histograms_add(&m->latency, pos, histogram_round(latency, exact), 1))
			return false;
	}
	return true;
}

/* Adds one wait with the cycles that the accounting gives it inside the window. */
static bool producers_add_wait(struct producers *p, struct producers_worker *m,
	const struct account *a, const struct walk_track *w, const struct wait_event *ev)
{
	struct producer_group g = {.key = ev->key,
		.wait_cyc = a->stall_cyc,
		.n_waits = a->is_hit,
		.n_blocked = a->is_hit && ev->is_blocked};

	if (!(p->want & PRODUCERS_EDGES_ALONE) && !group_add(&m->blocking, &g))
		return false;
	if (!a->is_hit)
		return true;
	*(ev->is_blocked ? &m->n_blocked : &m->n_free) += 1;
	m->by_resolution[ev->resolution]++;
	if (p->want & PRODUCERS_CLASS_SET) {
		g.key = ev->viewer_mask;
		g.wait_cyc = a->d->stall_cyc[ev->slice];
		if (!group_add(&m->class_set, &g))
			return false;
	}
	return !(p->want & (PRODUCERS_EDGES | PRODUCERS_EDGES_ALONE)) ||
	       add_edges(p, m, w, ev, a->stall_cyc);
}

static void add_sync(struct producers_worker *m, const struct account *a, bool is_barrier)
{
	uint64_t recorded = a->is_hit ? a->d->stall_cyc[a->i] : 0;

	*(is_barrier ? &m->blocking.barrier_cyc : &m->blocking.sleep_cyc) += a->stall_cyc;
	*(is_barrier ? &m->class_set.barrier_cyc : &m->class_set.sleep_cyc) += recorded;
}

static bool producers_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct producers *p = self;
	struct producers_worker *m = mine;
	const uint8_t *inst_class = w->data->inst_class;
	struct account a;
	size_t next = 0;

	m->of_track = waits_of(
		&m->waits, p->tables, w, p->want & PRODUCERS_CLASS_SET ? WAITS_VIEWER : 0, e);
	if (!m->of_track)
		return false;
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	while (account_next_of(&a, UINT64_C(1) << CLASS_WAIT | UINT64_C(1) << CLASS_BARRIER |
					   UINT64_C(1) << CLASS_SLEEP)) {
		struct wait_event unknown = {
			.slice = a.i, .is_blocked = w->data->stall_cyc[a.i] > WAIT_FLOOR_CYC};
		const struct wait_event *ev = &unknown;

		if (inst_class[a.i] != CLASS_WAIT) {
			add_sync(m, &a, inst_class[a.i] == CLASS_BARRIER);
			continue;
		}
		while (next < m->of_track->events.n && m->of_track->events.v[next].slice < a.i)
			next++;
		if (next < m->of_track->events.n && m->of_track->events.v[next].slice == a.i)
			ev = &m->of_track->events.v[next];
		if (!producers_add_wait(p, m, &a, w, ev))
			return err_nomem(e);
	}
	return true;
}

static bool merge_groups(struct group_table *to, const struct group_table *from)
{
	to->barrier_cyc += from->barrier_cyc;
	to->sleep_cyc += from->sleep_cyc;
	for (size_t i = 0; i < from->groups.n; i++)
		if (!group_add(to, &from->groups.v[i]))
			return false;
	return true;
}

static bool merge_edges(struct producers_worker *to, const struct producers_worker *from)
{
	uint32_t *moved = mem_zalloc(from->edges.n + 1, sizeof(*moved));
	uint64_t key, count;
	size_t pos = 0;
	bool ok = moved != NULL;

	for (size_t i = 0; ok && i < from->edges.n; i++) {
		const struct producer_edge *s = &from->edges.v[i];
		struct producer_edge *d = edge_at(to, s->producer, s->wait, &moved[i]);

		ok = d != NULL;
		if (!ok)
			break;
		d->count += s->count;
		d->n_blocked += s->n_blocked;
		d->n_inexact += s->n_inexact;
		d->stall_cyc += s->stall_cyc;
		d->shared_cyc += s->shared_cyc;
	}
	while (ok && u64_map_next(&from->latency.counts, &pos, &key, &count))
		ok = histograms_add(
			&to->latency, moved[key >> 40], key & HISTOGRAM_MAX_VALUE, count);
	mem_free(moved);
	return ok;
}

static bool producers_merge(void *self, void *mine, struct incore_error *e)
{
	struct producers *p = self;
	struct producers_worker *m = mine, *to = p->sum;

	to->n_free += m->n_free;
	to->n_blocked += m->n_blocked;
	for (unsigned r = 0; r < 4; r++)
		to->by_resolution[r] += m->by_resolution[r];
	if (merge_groups(&to->blocking, &m->blocking) &&
		merge_groups(&to->class_set, &m->class_set) && merge_edges(to, m))
		return true;
	return err_nomem(e);
}

static void group_table_deinit(struct group_table *t)
{
	u64_map_deinit(&t->index);
	VEC_FREE(&t->groups);
}

static void producers_worker_deinit(void *self, void *mine)
{
	struct producers_worker *m = mine;

	(void)self;
	waits_deinit(&m->waits);
	group_table_deinit(&m->blocking);
	group_table_deinit(&m->class_set);
	u64_map_deinit(&m->edge_index);
	VEC_FREE(&m->edges);
	histograms_deinit(&m->latency);
}

static int by_cycles(const void *a, const void *b)
{
	const struct producer_group *x = a, *y = b;

	RETURN_UNLESS_EQUAL(y->wait_cyc, x->wait_cyc);
	return wait_key_cmp(x->key, y->key);
}

static int edge_by_cycles(const void *a, const void *b)
{
	const struct producer_edge *x = a, *y = b;
	uint64_t xc = x->stall_cyc + x->shared_cyc, yc = y->stall_cyc + y->shared_cyc;

	RETURN_UNLESS_EQUAL(yc, xc);
	RETURN_UNLESS_EQUAL(x->producer, y->producer);
	return COMPARE(x->wait, y->wait);
}

static bool finish_groups(struct producer_groups *out, const struct group_table *t)
{
	out->groups.n = 0;
	out->wait_cyc = 0;
	out->barrier_cyc = t->barrier_cyc;
	out->sleep_cyc = t->sleep_cyc;
	for (size_t i = 0; i < t->groups.n; i++) {
		if (!VEC_PUSH(&out->groups, t->groups.v[i]))
			return false;
		out->wait_cyc += t->groups.v[i].wait_cyc;
	}
	SORT(out->groups.v, out->groups.n, by_cycles);
	return true;
}

const char *attribution_name(enum attribution a)
{
	return a == ATTRIBUTION_BLOCKING ? "blocking" : "class-set";
}

struct producers *producers_new(const struct trace *t, unsigned want, struct incore_error *e)
{
	struct producers *p = mem_zalloc(1, sizeof(*p));

	if (!p)
		return err_nomem_null(e);
	p->trace = t;
	p->want = want;
	p->sum = mem_zalloc(1, sizeof(*p->sum));
	p->tables = p->sum ? wait_tables_new(t, e) : NULL;
	if (p->tables)
		return p;
	if (!p->sum)
		err_nomem(e);
	producers_free(p);
	return NULL;
}

void producers_free(struct producers *p)
{
	if (!p)
		return;
	if (p->sum)
		producers_worker_deinit(p, p->sum);
	mem_free(p->sum);
	wait_tables_free(p->tables);
	VEC_FREE(&p->blocking.groups);
	VEC_FREE(&p->class_set.groups);
	VEC_FREE(&p->edges);
	mem_free(p);
}

struct collector producers_collector(struct producers *p)
{
	return (struct collector){p, sizeof(struct producers_worker), NULL, producers_track,
		producers_merge, producers_worker_deinit};
}

void producers_sort(struct producers *p)
{
	SORT(p->blocking.groups.v, p->blocking.groups.n, by_cycles);
	SORT(p->edges.v, p->edges.n, edge_by_cycles);
}

bool producers_finish(struct producers *p, struct incore_error *e)
{
	struct producers_worker *m = p->sum;

	p->n_free = m->n_free;
	p->n_blocked = m->n_blocked;
	p->n_waits = m->n_free + m->n_blocked;
	p->n_drained = m->by_resolution[WAIT_DRAINED];
	p->n_exact = m->by_resolution[WAIT_EXACT];
	p->n_group = m->by_resolution[WAIT_GROUP];
	p->n_unresolved = m->by_resolution[WAIT_UNRESOLVED];
	if (!finish_groups(&p->blocking, &m->blocking) ||
		!finish_groups(&p->class_set, &m->class_set))
		return err_nomem(e);
	if (!histograms_seal(&m->latency, (uint32_t)m->edges.n, e))
		return false;
	for (size_t i = 0; i < m->edges.n; i++) {
		m->edges.v[i].latency = histograms_get(&m->latency, (uint32_t)i);
		if (!VEC_PUSH(&p->edges, m->edges.v[i]))
			return err_nomem(e);
	}
	SORT(p->edges.v, p->edges.n, edge_by_cycles);
	return true;
}
