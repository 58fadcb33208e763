/* SPDX-License-Identifier: Apache-2.0 */
/* latency.c: load-to-wait latency per dynamic instance, by opcode and counter. */
#include "analysis/waves/latency.h"
#include "base/search.h"

enum latency_series {
	SERIES_ALL,
	SERIES_EXACT,
	SERIES_GROUP_HIGH,
	SERIES_DISTANCE,
	SERIES_DISTANCE_CYC,
	SERIES_IN_FLIGHT,
	SERIES_COUNT
};

struct latency_worker {
	struct waits waits;
	struct u64_map index; /* opcode, form and counter -> position + 1 */
	VEC(struct latency_row) rows;
	struct histograms hist; /* position * SERIES_COUNT + series */
	struct wait_pairs_worker *pairs;
};

static struct latency_row *latency_row_at(
	struct latency_worker *m, const struct latency_row *like, uint32_t *pos)
{
	uint64_t key = (uint64_t)like->opcode << 8 | (uint64_t)like->is_to_lds << 7 | like->counter;
	uint64_t *at = u64_map_at(&m->index, key);

	if (!at)
		return NULL;
	if (*at == 0) {
		struct latency_row row = {.opcode = like->opcode,
			.is_to_lds = like->is_to_lds,
			.counter = like->counter};

		if (!VEC_PUSH(&m->rows, row))
			return NULL;
		*at = m->rows.n;
	}
	*pos = (uint32_t)(*at - 1);
	return &m->rows.v[*pos];
}

static struct latency_row *latency_row_of(
	struct latency *l, struct latency_worker *m, code_idx code, uint8_t counter, uint32_t *pos)
{
	struct latency_row like = {.opcode = l->trace->code[code].opcode,
		.is_to_lds = l->tables->amd.row[code].producer == AMD_PRODUCER_VMEM_TO_LDS,
		.counter = counter};

	return latency_row_at(m, &like, pos);
}

static uint64_t since_issue(const struct track_data *d, uint32_t slice, uint64_t time)
{
	uint64_t issue = d->start_cyc[slice] + d->stall_cyc[slice];

	return time > issue ? time - issue : 0;
}

static bool add_older(struct latency *l, struct latency_worker *m, const struct track_data *d,
	const struct wait_side *side)
{
	uint32_t pos;

	for (uint32_t i = 0; i + 1 < side->n; i++) {
		uint32_t slice = m->waits.producers.v[side->first + i].slice;
		struct latency_row *row = latency_row_of(l, m, d->code[slice], side->counter, &pos);

		if (!row)
			return false;
		row->n_older++;
	}
	return true;
}

static bool add_side(struct latency *l, struct latency_worker *m, const struct track_data *d,
	const struct wait_event *ev, const struct wait_side *side)
{
	uint64_t start = d->start_cyc[ev->slice], release = start + d->dur_cyc[ev->slice];
	uint32_t y = side->youngest, oldest = m->waits.producers.v[side->first].slice, pos;
	struct latency_row *row = latency_row_of(l, m, d->code[y], side->counter, &pos);
	uint64_t latency = since_issue(d, y, release);
	bool is_exact = side->resolution == WAIT_EXACT && ev->is_blocked && ev->n_sides == 1;
	bool ok;

	if (!row)
		return false;
	pos *= SERIES_COUNT;
	ok = histograms_add(&m->hist, pos + SERIES_ALL, latency, 1) &&
	     histograms_add(&m->hist, pos + SERIES_DISTANCE, ev->slice - y, 1) &&
	     histograms_add(&m->hist, pos + SERIES_DISTANCE_CYC, since_issue(d, y, start), 1) &&
	     histograms_add(&m->hist, pos + SERIES_IN_FLIGHT, side->in_flight, 1);
	if (side->resolution == WAIT_UNRESOLVED) {
		row->n_unresolved++;
		return ok;
	}
	if (side->resolution == WAIT_GROUP) {
		row->n_group++;
		ok = ok && histograms_add(&m->hist, pos + SERIES_GROUP_HIGH,
				   since_issue(d, oldest, release), 1);
	} else if (is_exact) {
		row->n_exact++;
		ok = ok && histograms_add(&m->hist, pos + SERIES_EXACT, latency, 1);
	} else {
		row->n_bound++;
	}
	return ok && add_older(l, m, d, side);
}

static bool latency_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct latency *l = self;
	struct latency_worker *m = mine;

	if (!waits_resolve(&m->waits, l->tables, w, 0, e))
		return false;
	for (size_t i = 0; i < m->waits.events.n && !l->is_pairs_only; i++) {
		const struct wait_event *ev = &m->waits.events.v[i];
		uint64_t start = w->data->start_cyc[ev->slice];

		if (start < w->from_cyc || start >= w->to_cyc)
			continue;
		for (unsigned s = 0; s < ev->n_sides; s++)
			if (!add_side(l, m, w->data, ev, &m->waits.sides.v[ev->first_side + s]))
				return err_nomem(e);
	}
	return !l->pairs || wait_pairs_track(l->pairs, m->pairs, w, &m->waits) || err_nomem(e);
}

static bool latency_merge(void *self, void *mine, struct incore_error *e)
{
	struct latency *l = self;
	struct latency_worker *m = mine, *to = l->sum;
	uint32_t *moved = mem_zalloc(m->rows.n + 1, sizeof(*moved));
	uint64_t key, count;
	size_t pos = 0;
	bool ok = moved != NULL;

	for (size_t i = 0; ok && i < m->rows.n; i++) {
		const struct latency_row *s = &m->rows.v[i];
		struct latency_row *d = latency_row_at(to, s, &moved[i]);

		ok = d != NULL;
		if (!ok)
			break;
		d->n_exact += s->n_exact;
		d->n_bound += s->n_bound;
		d->n_group += s->n_group;
		d->n_unresolved += s->n_unresolved;
		d->n_older += s->n_older;
	}
	while (ok && u64_map_next(&m->hist.counts, &pos, &key, &count)) {
		uint32_t series = (uint32_t)(key >> 40);

		ok = histograms_add(&to->hist,
			moved[series / SERIES_COUNT] * SERIES_COUNT + series % SERIES_COUNT,
			key & HISTOGRAM_MAX_VALUE, count);
	}
	mem_free(moved);
	ok = ok && (!l->pairs || wait_pairs_merge(l->pairs, m->pairs));
	return ok || err_nomem(e);
}

static bool latency_worker_init(void *self, void *mine)
{
	const struct latency *l = self;
	struct latency_worker *m = mine;

	m->pairs = l->pairs ? wait_pairs_worker_new(l->pairs) : NULL;
	return m->pairs || !l->pairs;
}

static void latency_worker_deinit(void *self, void *mine)
{
	struct latency_worker *m = mine;

	(void)self;
	waits_deinit(&m->waits);
	u64_map_deinit(&m->index);
	VEC_FREE(&m->rows);
	histograms_deinit(&m->hist);
	wait_pairs_worker_free(m->pairs);
}

struct named_row {
	const char *opcode;
	struct latency_row row;
};

static int by_count(const void *a, const void *b)
{
	const struct named_row *x = a, *y = b;
	int by_name;

	if (x->row.all.n != y->row.all.n)
		return x->row.all.n < y->row.all.n ? 1 : -1;
	by_name = strcmp(x->opcode, y->opcode);
	if (by_name)
		return by_name;
	if (x->row.is_to_lds != y->row.is_to_lds)
		return x->row.is_to_lds ? 1 : -1;
	return (int)x->row.counter - (int)y->row.counter;
}

static void take_distributions(struct latency_row *r, const struct histograms *h, uint32_t pos)
{
	pos *= SERIES_COUNT;
	r->all = histograms_get(h, pos + SERIES_ALL);
	r->exact = histograms_get(h, pos + SERIES_EXACT);
	r->group_high = histograms_get(h, pos + SERIES_GROUP_HIGH);
	r->distance = histograms_get(h, pos + SERIES_DISTANCE);
	r->distance_cyc = histograms_get(h, pos + SERIES_DISTANCE_CYC);
	r->in_flight = histograms_get(h, pos + SERIES_IN_FLIGHT);
}

struct latency *latency_new(const struct trace *t, struct incore_error *e)
{
	struct latency *l = mem_zalloc(1, sizeof(*l));

	if (!l)
		return err_nomem_null(e);
	l->trace = t;
	l->sum = mem_zalloc(1, sizeof(*l->sum));
	l->tables = l->sum ? wait_tables_new(t, e) : NULL;
	if (l->tables)
		return l;
	if (!l->sum)
		err_nomem(e);
	latency_free(l);
	return NULL;
}

bool latency_with_pairs(struct latency *l, const struct cfg *g, struct incore_error *e)
{
	l->pairs = wait_pairs_new(g, e);
	return l->pairs != NULL;
}

void latency_free(struct latency *l)
{
	if (!l)
		return;
	wait_pairs_free(l->pairs);
	if (l->sum)
		latency_worker_deinit(l, l->sum);
	mem_free(l->sum);
	wait_tables_free(l->tables);
	VEC_FREE(&l->rows);
	mem_free(l);
}

struct collector latency_collector(struct latency *l)
{
	return (struct collector){l, sizeof(struct latency_worker), latency_worker_init,
		latency_track, latency_merge, latency_worker_deinit};
}

bool latency_finish(struct latency *l, struct incore_error *e)
{
	struct latency_worker *m = l->sum;
	struct named_row *named = mem_zalloc(m->rows.n + 1, sizeof(*named));
	bool ok = named != NULL;

	if (!named)
		return err_nomem(e);
	if (!histograms_seal(&m->hist, (uint32_t)m->rows.n * SERIES_COUNT, e)) {
		mem_free(named);
		return false;
	}
	for (size_t i = 0; i < m->rows.n; i++) {
		named[i].row = m->rows.v[i];
		named[i].opcode = named[i].row.opcode < l->trace->n_opcodes
					  ? l->trace->opcodes[named[i].row.opcode]
					  : "";
		take_distributions(&named[i].row, &m->hist, (uint32_t)i);
	}
	SORT(named, m->rows.n, by_count);
	for (size_t i = 0; ok && i < m->rows.n; i++)
		ok = VEC_PUSH(&l->rows, named[i].row);
	mem_free(named);
	if (!ok)
		return err_nomem(e);
	return !l->pairs || wait_pairs_finish(l->pairs, e);
}
