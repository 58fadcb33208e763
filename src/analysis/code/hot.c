/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c: where the cycles go, by instruction: one pass over the waves. */
#include "analysis/code/hot.h"

#include <stdlib.h>

#include "analysis/code/hot_internal.h"
#include "analysis/code/samples.h"
#include "analysis/pipes/pipe_sweep.h"
#include "trace/account.h"
#include "trace/kind.h"

struct hot *hot_new(const struct trace *t)
{
	struct hot *h = mem_zalloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->trace = t;
	h->rows = mem_zalloc((size_t)t->n_code + 1, sizeof(*h->rows));
	if (!h->rows) {
		mem_free(h);
		return NULL;
	}
	return h;
}

void hot_free(struct hot *h)
{
	if (h)
		mem_free(h->rows);
	mem_free(h);
}

/* Difference of the accounting's pieces from the recorded figures, modulo 2^64: zero for nearly all
 * records. */
struct more {
	uint64_t stall, issue, idle;
};

/*
 * Counts of one worker, by code row, in separate arrays: the hot loop touches only the first two.
 * Records with the class of their row (all, unless a file contradicts itself) are converted to
 * buckets once, at the end; others are counted in `odd`.
 */
struct worker {
	struct code_totals *totals;
	uint8_t *classes; /* classes by the rows' texts */
	struct more *more;
	struct hot *odd;
	uint64_t n_waves, n_instructions, duration_cyc;
	int64_t residue_cyc;
};

static void worker_deinit(void *self, void *mine)
{
	struct worker *m = mine;

	(void)self;
	mem_free(m->totals);
	mem_free(m->classes);
	mem_free(m->more);
	hot_free(m->odd);
}

static enum inst_class class_of_row(const struct trace *t, code_idx i)
{
	return i < t->n_code ? (enum inst_class)t->code[i].inst_class : CLASS_OTHER;
}

static bool worker_init(void *self, void *mine)
{
	const struct trace *t = ((struct hot *)self)->trace;
	struct worker *m = mine;

	m->totals = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->totals));
	m->classes = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->classes));
	m->more = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->more));
	m->odd = hot_new(t);
	if (!m->totals || !m->classes || !m->more || !m->odd)
		return false;
	for (code_idx i = 0; i <= t->n_code; i++)
		m->classes[i] = (uint8_t)class_of_row(t, i);
	return true;
}

void hot_add(struct hot_sums *to, const struct hot_sums *from)
{
	to->totals.hit += from->totals.hit;
	to->totals.latency += from->totals.latency;
	to->totals.stall += from->totals.stall;
	to->totals.idle += from->totals.idle;
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		to->bucket[b] += from->bucket[b];
	to->samples += from->samples;
	to->stalled_samples += from->stalled_samples;
	to->exposed_samples += from->exposed_samples;
	to->hidden_cyc += from->hidden_cyc;
	to->exposed_cyc += from->exposed_cyc;
}

void hot_take_exposed(struct hot *h, const struct causes *c)
{
	h->has_exposed = true;
	for (uint32_t i = 0; i < c->n_cells; i++) {
		const struct cause_cell *x = &c->cells[i];
		struct hot_sums s = {
			.hidden_cyc = x->hidden_cyc, .exposed_cyc = x->cyc - x->hidden_cyc};

		if (c->v[x->cause].kind == CAUSE_ISSUE)
			continue;
		hot_add(&h->rows[x->code < h->trace->n_code ? x->code : h->trace->n_code], &s);
		hot_add(&h->all, &s);
	}
}

static inline void add_record(
	struct code_totals *to, const struct track_data *d, uint32_t i, uint64_t idle)
{
	to->hit++;
	to->latency += d->dur_cyc[i];
	to->stall += d->stall_cyc[i];
	to->idle += idle;
}

static void to_buckets(
	struct hot_sums *s, const struct code_totals *t, const struct more *more, enum inst_class c)
{
	s->totals = *t;
	s->bucket[class_stall_bucket(c)] += t->stall + more->stall;
	s->bucket[class_issue_bucket(c)] += t->latency - t->stall + more->issue;
	s->bucket[BUCKET_IDLE] += t->idle + more->idle;
}

/* Adds a record with any pieces of the accounting. */
static void count_pieces(
	struct code_totals *to, struct more *more, const struct account *a, uint64_t idle)
{
	uint64_t stall = a->d->stall_cyc[a->i];

	more->stall += a->stall_cyc;
	more->issue += a->issue_cyc;
	more->idle += a->gap_cyc + a->tail_cyc;
	if (!a->is_hit)
		return;
	add_record(to, a->d, a->i, idle);
	more->stall -= stall;
	more->issue -= a->d->dur_cyc[a->i] - stall;
	more->idle -= idle;
}

/* A record whose class is not that of its row. */
static void count_odd(struct hot *h, const struct account *a, code_idx row, uint64_t idle)
{
	enum inst_class c = (enum inst_class)a->d->inst_class[a->i];
	struct code_totals totals = {0};
	struct more more = {0};
	struct hot_sums s = {0};

	count_pieces(&totals, &more, a, idle);
	to_buckets(&s, &totals, &more, c);
	hot_add(&h->rows[row], &s);
	hot_add(&h->classes[c], &s);
}

/*
 * Counts one record of any kind: unknown code, a class that contradicts its row, an overlap, the
 * window's edge, the last. The producer's idle ignores records of unknown code, also for the end of
 * earlier records: `known_end`. Returns that end after this record.
 */
static uint64_t count_record(
	struct worker *m, const struct walk_track *w, const struct account *a, uint64_t known_end)
{
	const struct track_data *d = a->d;
	uint32_t i = a->i, n_code = w->trace->n_code;
	bool is_known = d->code[i] < n_code;
	code_idx row = is_known ? d->code[i] : n_code;
	uint64_t start = d->start_cyc[i];
	uint64_t idle = is_known && start > known_end ? start - known_end : 0;

	if (d->inst_class[i] == m->classes[row])
		count_pieces(&m->totals[row], &m->more[row], a, idle);
	else
		count_odd(m->odd, a, row, idle);
	m->n_instructions += a->is_hit;
	return is_known ? cover_after(known_end, start, d->dur_cyc[i]) : known_end;
}

/*
 * Fast path: takes records as long as they are ordinary: known, of their row's class, after the
 * previous one, inside the window and not the last. Their pieces equal the recorded figures, so
 * nothing has to be cut. Returns the end of all records so far.
 */
static uint64_t count_plain(struct worker *m, const struct walk_track *w, struct account *a)
{
	const struct track_data d = *w->data; /* a copy: the counting does not change it */
	struct code_totals *totals = m->totals;
	const uint8_t *classes = m->classes;
	uint32_t n_code = w->trace->n_code, i = a->next, first = i;
	uint64_t cover = a->raw.end, hi = a->hi;

	if (cover < a->lo)
		return cover;
	for (; i + 1 < d.n; i++) {
		uint64_t start = d.start_cyc[i], end = start + d.dur_cyc[i];
		code_idx code = d.code[i];

		if (start < cover || end >= hi || code >= n_code ||
			d.inst_class[i] != classes[code])
			break;
		add_record(&totals[code], &d, i, start - cover);
		cover = end;
	}
	m->n_instructions += i - first;
	a->sum_cyc += cover - a->raw.end;
	a->raw.end = cover;
	a->next = i;
	return cover;
}

static bool hot_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct worker *m = mine;
	uint64_t known_end = w->data->begin_cyc;
	struct account a;

	(void)self;
	(void)e;
	m->n_waves++;
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	for (;;) {
		if (known_end == a.raw.end)
			known_end = count_plain(m, w, &a);
		if (!account_next(&a))
			break;
		known_end = count_record(m, w, &a, known_end);
	}
	if (a.d->n == 0) /* a wave that ran nothing: idle, belongs to no row */
		m->odd->all.bucket[BUCKET_IDLE] += a.tail_cyc;
	m->duration_cyc += account_duration(&a);
	m->residue_cyc += account_residue(&a);
	return true;
}

static bool hot_merge(void *self, void *mine, struct incore_error *e)
{
	struct hot *h = self;
	const struct worker *m = mine;
	uint32_t n = h->trace->n_code;

	(void)e;
	for (code_idx i = 0; i <= n; i++) {
		struct hot_sums s = {0};

		to_buckets(&s, &m->totals[i], &m->more[i], class_of_row(h->trace, i));
		hot_add(&h->classes[class_of_row(h->trace, i)], &s);
		hot_add(&s, &m->odd->rows[i]);
		hot_add(&h->rows[i], &s);
		if (i == n) /* in the accounting, but not in the totals as its producer counts */
			s.totals = (struct code_totals){0};
		hot_add(&h->all, &s);
	}
	hot_add(&h->all, &m->odd->all);
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		hot_add(&h->classes[c], &m->odd->classes[c]);
	h->n_waves += m->n_waves;
	h->n_instructions += m->n_instructions;
	h->duration_cyc += m->duration_cyc;
	h->residue_cyc += m->residue_cyc;
	return true;
}

struct collector hot_collector(struct hot *h)
{
	if (trace_kind(h->trace) == KIND_PIPES)
		return hot_pipes_collector(h);
	return (struct collector){
		h, sizeof(struct worker), worker_init, hot_track, hot_merge, worker_deinit};
}

void hot_take_stated(struct hot *h)
{
	const struct trace *t = h->trace;

	h->is_stated = true;
	for (code_idx i = 0; i < t->n_code; i++) {
		struct hot_sums s = {.totals = t->code[i].stated};

		if (t->samples) {
			s.samples = t->samples[i].issued + t->samples[i].stalled;
			s.stalled_samples = t->samples[i].stalled;
		}
		if (trace_kind(t) == KIND_SAMPLES) {
			samples_add_buckets(t, i, s.bucket, &s.exposed_samples);
			s.totals.latency = hot_cycles(&s);
			s.totals.stall = s.totals.latency - s.bucket[BUCKET_ISSUE];
		}
		h->rows[i] = s;
		hot_add(&h->all, &s);
		hot_add(&h->classes[t->code[i].inst_class], &s);
	}
	h->n_instructions = h->all.totals.hit;
	h->duration_cyc = hot_cycles(&h->all);
}

const struct reason_count *hot_reasons(const struct hot *h, const struct hot_group *g)
{
	if (!h->trace->samples || g->reasons)
		return g->reasons;
	return g->code < h->trace->n_code ? trace_reasons_of(h->trace, g->code) : NULL;
}

const char *hot_stall_reason(const struct trace *t, const struct reason_count *reasons)
{
	uint32_t best = 0;

	/* AMD's first reason is "none": it only wins if no other does */
	for (uint32_t r = 1; r < t->n_reasons; r++)
		if (reasons[r].all > reasons[best].all)
			best = r;
	return t->reasons[best];
}

uint32_t hot_static_rows(const struct trace *t)
{
	uint32_t n = 0;

	for (code_idx i = 0; i < t->n_code; i++)
		n += !t->code[i].is_label;
	return n;
}
