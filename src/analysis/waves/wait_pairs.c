/* SPDX-License-Identifier: Apache-2.0 */
/* wait_pairs.c: every pair of a wait row and a row that it consumed. */
#include "analysis/waves/wait_pairs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

#define EXACT_QUANTA 4096u /* slack is kept exactly below this many clock quanta */

enum pair_series {
	SERIES_TOGETHER,
	SERIES_IN_FLIGHT,
	SERIES_SLACK,
	SERIES_ITERATIONS,
	SERIES_COUNT
};

struct header_list {
	VEC(uint32_t) slices; /* records of the current track that begin a pass */
	size_t at;	      /* number of them up to the current wait, inclusive */
};

struct pair_runs {
	struct histogram_run of[SERIES_COUNT];
};

struct wait_pairs_worker {
	struct u64_map index; /* producer << 32 | wait -> position + 1 */
	VEC(struct wait_pair) pairs;
	VEC(struct pair_runs) runs;  /* by the same positions */
	struct histograms hist;	     /* position * SERIES_COUNT + series */
	struct header_list *headers; /* by loop */
	uint32_t n_loops;
	uint64_t known[AMD_COUNTERS]; /* latest release known to be a return, in the current
					 track */
};

struct wait_pairs_worker *wait_pairs_worker_new(const struct wait_pairs *p)
{
	struct wait_pairs_worker *m = mem_zalloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->n_loops = p->cfg->n_loops;
	m->headers = mem_zalloc(m->n_loops + 1u, sizeof(*m->headers));
	if (m->headers)
		return m;
	mem_free(m);
	return NULL;
}

void wait_pairs_worker_free(struct wait_pairs_worker *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n_loops; i++)
		VEC_FREE(&m->headers[i].slices);
	mem_free(m->headers);
	u64_map_deinit(&m->index);
	VEC_FREE(&m->pairs);
	VEC_FREE(&m->runs);
	histograms_deinit(&m->hist);
	mem_free(m);
}

struct wait_pairs *wait_pairs_new(const struct cfg *g, struct incore_error *e)
{
	struct wait_pairs *p = mem_zalloc(1, sizeof(*p));

	if (p) {
		p->cfg = g;
		p->sum = wait_pairs_worker_new(p);
		if (p->sum)
			return p;
	}
	wait_pairs_free(p);
	return err_nomem_null(e);
}

void wait_pairs_free(struct wait_pairs *p)
{
	if (!p)
		return;
	wait_pairs_worker_free(p->sum);
	VEC_FREE(&p->v);
	mem_free(p);
}

static uint32_t common_loop(const struct cfg *g, code_idx a, code_idx b)
{
	uint32_t in = g->block_of[a] == NO_BLOCK ? NO_LOOP : g->blocks[g->block_of[a]].loop;

	while (in != NO_LOOP && !cfg_loop_has(g, in, g->block_of[b]))
		in = g->loops[in].parent;
	return in;
}

static struct wait_pair *pair_at(const struct wait_pairs *p, struct wait_pairs_worker *m,
	code_idx producer, code_idx wait, uint32_t *pos)
{
	uint64_t *at = u64_map_at(&m->index, (uint64_t)producer << 32 | wait);

	if (!at)
		return NULL;
	if (*at == 0) {
		struct wait_pair x = {.producer = producer,
			.wait = wait,
			.loop = common_loop(p->cfg, producer, wait)};

		if (!VEC_PUSH(&m->runs, (struct pair_runs){0}) || !VEC_PUSH(&m->pairs, x))
			return NULL;
		*at = m->pairs.n;
	}
	*pos = (uint32_t)(*at - 1);
	return &m->pairs.v[*pos];
}

static bool wait_pairs_list_headers(
	const struct wait_pairs *p, struct wait_pairs_worker *m, const struct track_data *d)
{
	for (uint32_t i = 0; i < m->n_loops; i++)
		m->headers[i].slices.n = m->headers[i].at = 0;
	for (uint32_t i = 0; i < d->n && m->n_loops > 0; i++) {
		code_idx code = d->code[i];
		uint32_t loop = code < p->cfg->trace->n_code ? p->cfg->loop_at[code] : NO_LOOP;

		if (loop != NO_LOOP && !VEC_PUSH(&m->headers[loop].slices, i))
			return false;
	}
	return true;
}

/* Number of passes that began after record `slice`, up to and including record `wait`; waits come
 * in order. */
static uint32_t passes_between(struct header_list *h, uint32_t slice, uint32_t wait)
{
	size_t low = 0, high;

	while (h->at < h->slices.n && h->slices.v[h->at] <= wait)
		h->at++;
	high = h->at;
	for (unsigned near = 0; near < 4 && high > 0; near++, high--)
		if (h->slices.v[high - 1] <= slice)
			return (uint32_t)(h->at - high);
	BISECT(low, high, i, h->slices.v[i] <= slice);
	return (uint32_t)(h->at - low);
}

struct wait_pairs_look { /* one counter of one wait */
	const struct wait_pairs *p;
	struct wait_pairs_worker *m;
	const struct track_data *d;
	const struct wait_side *side;
	uint32_t wait;	      /* record */
	uint64_t last_cyc;    /* the last one returned then or earlier */
	uint64_t known_cyc;   /* no in-order instance returned before this */
	uint64_t exact_below; /* below this slack is exact */
};

static bool wait_pairs_count(
	struct wait_pairs_worker *m, uint32_t pos, enum pair_series series, uint64_t value)
{
	return histogram_run_add(
		&m->hist, &m->runs.v[pos].of[series], pos * SERIES_COUNT + series, value);
}

/* Adds one instance; *pos: position of its pair. */
static bool add_instance(const struct wait_pairs_look *l, uint32_t slice, uint32_t *pos)
{
	const struct track_data *d = l->d;
	struct wait_pairs_worker *m = l->m;
	uint64_t from = d->start_cyc[slice] + d->stall_cyc[slice];
	bool is_group = l->side->resolution == WAIT_GROUP;
	bool is_last = !is_group && slice == l->side->youngest;
	struct wait_pair *x = pair_at(l->p, m, d->code[slice], d->code[l->wait], pos);

	if (!x)
		return false;
	if (l->side->resolution == WAIT_UNRESOLVED) {
		x->n_candidates++;
		return true;
	}
	x->n++;
	x->n_last += is_last;
	x->n_group += is_group;
	if (x->loop != NO_LOOP && !wait_pairs_count(m, *pos, SERIES_ITERATIONS,
					  passes_between(&m->headers[x->loop], slice, l->wait)))
		return false;
	if (is_last)
		return true;
	if (!is_group && from < l->known_cyc)
		from = l->known_cyc;
	from = l->last_cyc > from ? l->last_cyc - from : 0;
	return wait_pairs_count(m, *pos, SERIES_SLACK, histogram_round(from, l->exact_below));
}

static bool wait_pairs_add_side(
	const struct wait_pairs_look *l, const struct wait_producer *producers)
{
	const struct wait_side *side = l->side;
	uint32_t pos = 0, youngest = 0;

	for (uint32_t i = 0; i < side->n; i++) {
		uint32_t slice = producers[side->first + i].slice;

		if (!add_instance(l, slice, &pos))
			return false;
		youngest = slice == side->youngest ? pos : youngest;
	}
	return side->n == 0 ||
	       (wait_pairs_count(l->m, youngest, SERIES_TOGETHER, side->n) &&
		       wait_pairs_count(l->m, youngest, SERIES_IN_FLIGHT, side->in_flight));
}

static bool wait_pairs_add_event(const struct wait_pairs *p, struct wait_pairs_worker *m,
	const struct track_data *d, const struct waits *waits, const struct wait_event *ev)
{
	unsigned quantum = p->cfg->trace->meta.clock_quantum;
	uint64_t start = d->start_cyc[ev->slice], release = start + d->dur_cyc[ev->slice];

	for (unsigned s = 0; s < ev->n_sides; s++) {
		const struct wait_side *side = &waits->sides.v[ev->first_side + s];
		struct wait_pairs_look l = {.p = p,
			.m = m,
			.d = d,
			.side = side,
			.wait = ev->slice,
			.last_cyc = ev->is_blocked ? release : start,
			.known_cyc = m->known[side->counter],
			.exact_below = (uint64_t)EXACT_QUANTA * (quantum ? quantum : 1)};

		if (!wait_pairs_add_side(&l, waits->producers.v))
			return false;
		/* with two counters either may have released it */
		if (ev->is_blocked && ev->n_sides == 1 && side->resolution == WAIT_EXACT)
			m->known[side->counter] = release;
	}
	return true;
}

bool wait_pairs_track(const struct wait_pairs *p, struct wait_pairs_worker *m,
	const struct walk_track *w, const struct waits *waits)
{
	memset(m->known, 0, sizeof(m->known));
	if (!wait_pairs_list_headers(p, m, w->data))
		return false;
	EACH (const struct wait_event, ev, waits->events.v, waits->events.n) {
		uint64_t start = w->data->start_cyc[ev->slice];

		if (start >= w->from_cyc && start < w->to_cyc &&
			!wait_pairs_add_event(p, m, w->data, waits, ev))
			return false;
	}
	return true;
}

static bool end_runs(struct wait_pairs_worker *m)
{
	for (uint32_t i = 0; i < m->runs.n; i++)
		for (unsigned k = 0; k < SERIES_COUNT; k++)
			if (!histogram_run_end(&m->hist, &m->runs.v[i].of[k], i * SERIES_COUNT + k))
				return false;
	return true;
}

bool wait_pairs_merge(struct wait_pairs *p, struct wait_pairs_worker *from)
{
	uint32_t *moved = mem_zalloc(from->pairs.n + 1, sizeof(*moved));
	uint64_t key, n;
	size_t pos = 0;
	bool ok = moved && end_runs(from);

	for (size_t i = 0; ok && i < from->pairs.n; i++) {
		const struct wait_pair *s = &from->pairs.v[i];
		struct wait_pair *d = pair_at(p, p->sum, s->producer, s->wait, &moved[i]);

		ok = d != NULL;
		if (!ok)
			break;
		d->n += s->n;
		d->n_last += s->n_last;
		d->n_group += s->n_group;
		d->n_candidates += s->n_candidates;
	}
	while (ok && u64_map_next(&from->hist.counts, &pos, &key, &n)) {
		uint32_t series = (uint32_t)(key >> 40);

		ok = histograms_add(&p->sum->hist,
			moved[series / SERIES_COUNT] * SERIES_COUNT + series % SERIES_COUNT,
			key & HISTOGRAM_MAX_VALUE, n);
	}
	mem_free(moved);
	return ok;
}

ORDER(by_rows, struct wait_pair, UP(wait) UP(producer))

bool wait_pairs_finish(struct wait_pairs *p, struct incore_error *e)
{
	struct wait_pairs_worker *m = p->sum;

	if (!histograms_seal(&m->hist, (uint32_t)m->pairs.n * SERIES_COUNT, e))
		return false;
	if (!VEC_RESERVE(&p->v, m->pairs.n))
		return err_nomem(e);
	for (size_t i = 0; i < m->pairs.n; i++) {
		struct wait_pair x = m->pairs.v[i];
		uint32_t at = (uint32_t)i * SERIES_COUNT;

		x.together = histograms_get(&m->hist, at + SERIES_TOGETHER);
		x.in_flight = histograms_get(&m->hist, at + SERIES_IN_FLIGHT);
		x.slack_cyc = histograms_get(&m->hist, at + SERIES_SLACK);
		x.iterations = histograms_get(&m->hist, at + SERIES_ITERATIONS);
		p->v.v[p->v.n++] = x;
	}
	SORT(p->v.v, p->v.n, by_rows);
	return true;
}

const struct wait_pair *wait_pairs_find(
	const struct wait_pairs *p, code_idx producer, code_idx wait)
{
	const struct wait_pair key = {.producer = producer, .wait = wait};

	return p->v.n ? bsearch(&key, p->v.v, p->v.n, sizeof(key), by_rows) : NULL;
}
