/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c: where the cycles go, by instruction: one pass over the waves. */
#include "analysis/code/hot.h"

#include <stdlib.h>

#include "analysis/code/hot_internal.h"
#include "analysis/pipes/pipe_sweep.h"
#include "trace/account.h"

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

/*
 * What one worker counts: a cache line per code row. Records whose class is their row's (all,
 * unless a file contradicts itself) are turned into buckets once, at the end; others go to `odd` by
 * themselves.
 */
struct cell {
	struct code_totals totals;
	uint64_t stall_cyc, issue_cyc, idle_cyc; /* pieces of the accounting */
	uint64_t inst_class;			 /* of the row's text */
};

struct worker {
	struct cell *cells;
	struct hot *odd;
	uint64_t n_waves, n_instructions, duration_cyc;
	int64_t residue_cyc;
};

static void worker_deinit(void *self, void *mine)
{
	struct worker *m = mine;

	(void)self;
	mem_free(m->cells);
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

	m->cells = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->cells));
	m->odd = hot_new(t);
	if (!m->cells || !m->odd)
		return false;
	for (code_idx i = 0; i <= t->n_code; i++)
		m->cells[i].inst_class = class_of_row(t, i);
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
	for (unsigned r = 0; r < STALL_REASONS; r++)
		to->reason[r] += from->reason[r];
}

static inline void add_record(
	struct code_totals *to, const struct track_data *d, uint32_t i, uint64_t idle)
{
	to->hit++;
	to->latency += d->dur_cyc[i];
	to->stall += d->stall_cyc[i];
	to->idle += idle;
}

static void to_buckets(struct hot_sums *s, const struct cell *x, enum inst_class c)
{
	s->totals = x->totals;
	s->bucket[class_stall_bucket(c)] += x->stall_cyc;
	s->bucket[class_issue_bucket(c)] += x->issue_cyc;
	s->bucket[BUCKET_IDLE] += x->idle_cyc;
}

static inline void count_piece(
	struct cell *x, const struct account *a, const struct track_data *d, uint64_t idle)
{
	x->stall_cyc += a->stall_cyc;
	x->issue_cyc += a->issue_cyc;
	x->idle_cyc += a->gap_cyc + a->tail_cyc;
	if (a->is_hit)
		add_record(&x->totals, d, a->i, idle);
}

/* A record whose class is not that of its row. */
static void count_odd(struct hot *h, const struct cell *x, code_idx row, enum inst_class c)
{
	struct hot_sums s = {0};

	to_buckets(&s, x, c);
	hot_add(&h->rows[row], &s);
	hot_add(&h->classes[c], &s);
}

static void close_account(struct worker *m, const struct account *a)
{
	if (a->d->n == 0) /* a wave that ran nothing: idle, and no row's */
		m->odd->all.bucket[BUCKET_IDLE] += a->tail_cyc;
	m->duration_cyc += account_duration(a);
	m->residue_cyc += account_residue(a);
}

/* The slow way, record by record: code nobody knows, classes that contradict their rows. The
 * producer's idle skips records of unknown code, also for the end of what came before. */
__attribute__((noinline)) static void count_irregular(struct worker *m, const struct walk_track *w)
{
	const struct track_data *d = w->data;
	uint32_t n_code = w->trace->n_code;
	uint64_t known_end = d->begin_cyc;
	struct account a;

	for (account_begin(&a, w->data, w->from_cyc, w->to_cyc); account_next(&a);) {
		bool is_known = d->code[a.i] < n_code;
		code_idx row = is_known ? d->code[a.i] : n_code;
		struct cell lone = {0};
		uint64_t start = d->start_cyc[a.i], end = start + d->dur_cyc[a.i];
		uint64_t idle = is_known && start > known_end ? start - known_end : 0;

		if (d->inst_class[a.i] == m->cells[row].inst_class) {
			count_piece(&m->cells[row], &a, d, idle);
		} else {
			count_piece(&lone, &a, d, idle);
			count_odd(m->odd, &lone, row, d->inst_class[a.i]);
		}
		m->n_instructions += a.is_hit;
		if (is_known && end > known_end)
			known_end = end;
	}
	close_account(m, &a);
}

/* Every record names a known row and has that row's class. */
static bool is_regular(const struct worker *m, const struct walk_track *w)
{
	const struct track_data *d = w->data;
	uint32_t n_code = w->trace->n_code;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->code[i] >= n_code || d->inst_class[i] != m->cells[d->code[i]].inst_class)
			return false;
	return true;
}

/* Kept apart from the slow way: the loop that matters gets the registers. */
__attribute__((noinline)) static void count_regular(struct worker *m, const struct walk_track *w)
{
	const struct track_data *d = w->data;
	struct cell *cells = m->cells;
	uint64_t n = 0;
	struct account a;

	for (account_begin(&a, w->data, w->from_cyc, w->to_cyc); account_next(&a); n += a.is_hit)
		count_piece(&cells[d->code[a.i]], &a, d, a.raw.stall - a.raw.gap);
	m->n_instructions += n;
	close_account(m, &a);
}

static bool hot_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct worker *m = mine;

	(void)self;
	(void)e;
	m->n_waves++;
	if (is_regular(m, w))
		count_regular(m, w);
	else
		count_irregular(m, w);
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

		to_buckets(&s, &m->cells[i], class_of_row(h->trace, i));
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
	if (trace_has_pipes(h->trace))
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
			memcpy(s.reason, t->samples[i].reason, sizeof(s.reason));
		}
		h->rows[i] = s;
		hot_add(&h->all, &s);
		hot_add(&h->classes[t->code[i].inst_class], &s);
	}
	h->n_instructions = h->all.totals.hit;
}

const char *stall_reason_name(unsigned reason)
{
	static const char *const names[STALL_REASONS] = {"none", "fetch", "alu-dependency",
		"waitcnt", "internal", "barrier", "arbiter", "pipe", "other-wait", "sleep"};

	return reason < STALL_REASONS ? names[reason] : "unknown";
}

const char *hot_stall_reason(const struct hot_sums *s)
{
	unsigned best = 0;

	for (unsigned r = 1; r < STALL_REASONS; r++)
		if (s->reason[r] > s->reason[best])
			best = r;
	return stall_reason_name(best);
}

uint32_t hot_static_rows(const struct trace *t)
{
	uint32_t n = 0;

	for (code_idx i = 0; i < t->n_code; i++)
		n += !t->code[i].is_label;
	return n;
}
