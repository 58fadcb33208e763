/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.c: how often did each loop iterate, and what did an iteration cost? One pass over a wave
 * with a stack of the loops it is in; running sums of the accounting are remembered at each header.
 */
#include "analysis/code/loops.h"
#include "base/search.h"

#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "trace/account.h"

/* All cycles of a wave so far, by bucket and class. */
struct loops_running {
	uint64_t cyc;
	uint64_t cause[BUCKET_COUNT][CLASS_COUNT];
};

struct loop_gather {
	struct loop_stats s;
	uint64_t cause[BUCKET_COUNT][CLASS_COUNT];
	struct u64_map cycles; /* cycles of an iteration -> count */
	struct u64_map trips;  /* header executions -> waves */
	/* of the current wave */
	uint64_t executions, first_cyc, left_cyc;
};

struct open_loop {
	uint32_t loop;
	bool is_whole; /* the current pass began inside the window */
	struct loops_running at_header;
	uint64_t n;		   /* iterations of this visit */
	struct loop_split pending; /* latest iteration except the first: becomes `last` if no
				      other follows */
	VEC(uint64_t) cycles;
};

struct loops_worker {
	struct loop_gather **of;    /* by loop; made at its first execution */
	VEC(struct open_loop) open; /* entries beyond n are kept for their memory */
	VEC(uint32_t) touched;	    /* loops of the current wave */
	struct loops_running now;
	uint32_t block; /* latest block of the current wave: all open loops contain it */
	uint64_t n_waves;
};

static void gather_free(struct loop_gather *g)
{
	if (!g)
		return;
	u64_map_deinit(&g->cycles);
	u64_map_deinit(&g->trips);
	mem_free(g);
}

static bool loops_worker_init(void *self, void *mine)
{
	const struct loops *l = self;
	struct loops_worker *w = mine;

	w->of = mem_zalloc(l->n + 1u, sizeof(struct loop_gather *));
	return w->of != NULL;
}

static void loops_worker_deinit(void *self, void *mine)
{
	const struct loops *l = self;
	struct loops_worker *w = mine;

	for (uint32_t i = 0; w->of && i < l->n; i++)
		gather_free(w->of[i]);
	for (size_t i = 0; i < w->open.cap; i++)
		VEC_FREE(&w->open.v[i].cycles);
	VEC_FREE(&w->open);
	VEC_FREE(&w->touched);
	mem_free(w->of);
}

static void split_add(struct loop_split *to, const struct loop_split *from)
{
	to->n += from->n;
	to->cyc += from->cyc;
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		to->bucket[b] += from->bucket[b];
}

static bool loops_count(struct u64_map *m, uint64_t key, uint64_t n)
{
	uint64_t *slot = u64_map_at(m, key);

	if (!slot)
		return false;
	*slot += n;
	return true;
}

static struct loop_gather *gather_of(struct loops_worker *w, uint32_t loop)
{
	if (!w->of[loop])
		w->of[loop] = mem_zalloc(1, sizeof(struct loop_gather));
	return w->of[loop];
}

/* The next slot of the stack; its list keeps the memory of earlier visits. */
static struct open_loop *loops_push(struct loops_worker *w, uint32_t loop)
{
	size_t old = w->open.cap;
	struct open_loop *o;

	if (!VEC_RESERVE(&w->open, w->open.n + 1))
		return NULL;
	if (w->open.cap > old)
		memset(&w->open.v[old], 0, (w->open.cap - old) * sizeof(*o));
	o = &w->open.v[w->open.n++];
	o->loop = loop;
	o->n = 0;
	o->pending = (struct loop_split){0};
	o->cycles.n = 0;
	return o;
}

/* The wave left the loop (or ended): settles the last pass and the drift of the iterations. */
static void close_top(struct loops_worker *w)
{
	struct open_loop *o = &w->open.v[--w->open.n];
	struct loop_gather *g = w->of[o->loop];
	size_t half = o->cycles.n / 2;

	if (o->is_whole) {
		g->s.exit_n++;
		g->s.exit_cyc += w->now.cyc - o->at_header.cyc;
	}
	split_add(&g->s.last, &o->pending);
	for (size_t i = 0; i < half; i++) {
		g->s.early_cyc += o->cycles.v[i];
		g->s.late_cyc += o->cycles.v[o->cycles.n - 1 - i];
	}
	g->s.early_n += half;
	g->s.late_n += half;
	g->left_cyc = w->now.cyc;
}

/* One whole iteration ends at the header. */
static bool iterate(struct loops_worker *w, struct open_loop *o)
{
	struct loop_gather *g = w->of[o->loop];
	struct loop_split it = {.n = 1, .cyc = w->now.cyc - o->at_header.cyc};

	for (unsigned b = 0; b < BUCKET_COUNT; b++) {
		for (unsigned c = 0; c < CLASS_COUNT; c++) {
			uint64_t cyc = w->now.cause[b][c] - o->at_header.cause[b][c];

			it.bucket[b] += cyc;
			g->cause[b][c] += cyc;
		}
	}
	split_add(&g->s.all, &it);
	if (o->n++ == 0) {
		split_add(&g->s.first, &it);
	} else {
		split_add(&g->s.steady, &o->pending);
		o->pending = it;
	}
	return loops_count(&g->cycles, it.cyc, 1) && VEC_PUSH(&o->cycles, it.cyc);
}

static bool execute_header(struct loops_worker *w, uint32_t loop, bool is_hit)
{
	struct open_loop *o = w->open.n > 0 ? &w->open.v[w->open.n - 1] : NULL;
	struct loop_gather *g = gather_of(w, loop);

	if (!g)
		return false;
	if (is_hit) {
		if (g->executions++ == 0) {
			g->first_cyc = w->now.cyc;
			if (!VEC_PUSH(&w->touched, loop))
				return false;
		}
		g->s.executions++;
	}
	if (o && o->loop == loop) {
		if (o->is_whole && is_hit && !iterate(w, o))
			return false;
	} else {
		o = loops_push(w, loop);
		if (!o)
			return false;
		g->s.visits += is_hit;
	}
	o->is_whole = is_hit;
	o->at_header = w->now;
	return true;
}

static bool loops_follow(struct loops_worker *w, const struct cfg *g, code_idx code, bool is_hit)
{
	uint32_t block = code == NO_CODE ? NO_BLOCK : g->block_of[code];

	if (block == NO_BLOCK)
		return true; /* unknown place: assume that the loop is not left */
	if (block != w->block)
		while (w->open.n > 0 && !cfg_loop_has(g, w->open.v[w->open.n - 1].loop, block))
			close_top(w);
	w->block = block;
	return g->loop_at[code] == NO_LOOP || execute_header(w, g->loop_at[code], is_hit);
}

static void spend(struct loops_running *r, enum bucket b, enum inst_class c, uint64_t cyc)
{
	r->cyc += cyc;
	r->cause[b][c] += cyc;
}

static bool loops_end_wave(struct loops_worker *w)
{
	while (w->open.n > 0)
		close_top(w);
	for (size_t i = 0; i < w->touched.n; i++) {
		struct loop_gather *g = w->of[w->touched.v[i]];

		if (!loops_count(&g->trips, g->executions, 1))
			return false;
		g->s.waves++;
		g->s.prologue_cyc += g->first_cyc;
		g->s.epilogue_cyc += w->now.cyc - g->left_cyc;
		g->executions = g->first_cyc = g->left_cyc = 0;
	}
	return true;
}

static bool loops_track(void *self, void *mine, const struct walk_track *wt, struct incore_error *e)
{
	const struct loops *l = self;
	struct loops_worker *w = mine;
	struct account a;

	w->n_waves++;
	if (l->n == 0)
		return true;
	memset(&w->now, 0, sizeof(w->now));
	w->touched.n = 0;
	w->block = NO_BLOCK;
	for (account_begin(&a, wt->data, wt->from_cyc, wt->to_cyc); account_next(&a);) {
		enum inst_class c = wt->data->inst_class[a.i];

		spend(&w->now, BUCKET_IDLE, c, a.gap_cyc);
		if (!loops_follow(w, l->cfg, wt->data->code[a.i], a.is_hit))
			return err_nomem(e);
		spend(&w->now, class_stall_bucket(c), c, a.stall_cyc);
		spend(&w->now, class_issue_bucket(c), c, a.issue_cyc);
		spend(&w->now, BUCKET_IDLE, c, a.tail_cyc);
	}
	return loops_end_wave(w) || err_nomem(e);
}

static bool merge_map(struct u64_map *to, const struct u64_map *from)
{
	uint64_t key, n;

	for (size_t pos = 0; u64_map_next(from, &pos, &key, &n);)
		if (!loops_count(to, key, n))
			return false;
	return true;
}

static bool gather_merge(struct loop_gather *to, const struct loop_gather *from)
{
	to->s.executions += from->s.executions;
	to->s.waves += from->s.waves;
	to->s.visits += from->s.visits;
	split_add(&to->s.all, &from->s.all);
	split_add(&to->s.first, &from->s.first);
	split_add(&to->s.steady, &from->s.steady);
	split_add(&to->s.last, &from->s.last);
	to->s.exit_n += from->s.exit_n;
	to->s.exit_cyc += from->s.exit_cyc;
	to->s.prologue_cyc += from->s.prologue_cyc;
	to->s.epilogue_cyc += from->s.epilogue_cyc;
	to->s.early_n += from->s.early_n;
	to->s.early_cyc += from->s.early_cyc;
	to->s.late_n += from->s.late_n;
	to->s.late_cyc += from->s.late_cyc;
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		for (unsigned c = 0; c < CLASS_COUNT; c++)
			to->cause[b][c] += from->cause[b][c];
	return merge_map(&to->cycles, &from->cycles) && merge_map(&to->trips, &from->trips);
}

static bool loops_merge(void *self, void *mine, struct incore_error *e)
{
	struct loops *l = self;
	struct loops_worker *w = mine;

	l->n_waves += w->n_waves;
	for (uint32_t i = 0; i < l->n; i++) {
		if (!w->of[i])
			continue;
		if (!l->gather[i]) {
			l->gather[i] = w->of[i];
			w->of[i] = NULL;
		} else if (!gather_merge(l->gather[i], w->of[i])) {
			return err_nomem(e);
		}
	}
	return true;
}

struct loops *loops_new(const struct cfg *g)
{
	struct loops *l = mem_zalloc(1, sizeof(*l));

	if (!l)
		return NULL;
	arena_init(&l->arena);
	l->cfg = g;
	l->n = g->n_loops;
	l->v = arena_zalloc(&l->arena, l->n + 1u, sizeof(*l->v));
	l->gather = mem_zalloc(l->n + 1u, sizeof(struct loop_gather *));
	if (!l->v || !l->gather) {
		loops_free(l);
		return NULL;
	}
	for (uint32_t i = 0; i < l->n; i++)
		l->v[i].loop = i;
	return l;
}

void loops_free(struct loops *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; l->gather && i < l->n; i++)
		gather_free(l->gather[i]);
	mem_free(l->gather);
	arena_deinit(&l->arena);
	mem_free(l);
}

struct collector loops_collector(struct loops *l)
{
	return (struct collector){l, sizeof(struct loops_worker), loops_worker_init, loops_track,
		loops_merge, loops_worker_deinit};
}

ORDER(compare_trips, struct loop_trips, UP(executions))

/* Entries of m by key, as (key, count) pairs. */
static bool sorted_entries(
	struct arena *a, const struct u64_map *m, struct loop_trips **out, uint32_t *n)
{
	struct loop_trips *v = arena_zalloc(a, m->n + 1, sizeof(*v));
	uint64_t key, value;
	uint32_t k = 0;

	if (!v)
		return false;
	for (size_t pos = 0; u64_map_next(m, &pos, &key, &value);)
		v[k++] = (struct loop_trips){key, value};
	SORT(v, k, compare_trips);
	*out = v;
	*n = k;
	return true;
}

/* The value at index `at` of the sorted list that the entries stand for. */
static uint64_t loops_value_at(const struct loop_trips *v, uint32_t n, uint64_t at)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < n; i++) {
		seen += v[i].waves;
		if (at < seen)
			return v[i].executions;
	}
	return n > 0 ? v[n - 1].executions : 0;
}

bool loops_finish(struct loops *l, struct incore_error *e)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct loop_stats *s = &l->v[i];
		struct loop_gather *g = l->gather[i];
		struct loop_trips *cycles;
		uint32_t n;
		uint64_t total;

		if (!g)
			continue;
		*s = g->s;
		s->loop = i;
		s->iterations = total = s->all.n;
		if (total > 0)
			s->cause = g->cause;
		if (!sorted_entries(&l->arena, &g->trips, &s->trips, &s->n_trips) ||
			!sorted_entries(&l->arena, &g->cycles, &cycles, &n))
			return err_nomem(e);
		if (total == 0)
			continue;
		s->min_cyc = cycles[0].executions;
		s->max_cyc = cycles[n - 1].executions;
		s->median_cyc = loops_value_at(cycles, n, total / 2);
		s->p95_cyc = loops_value_at(cycles, n, total / 20 * 19 + total % 20 * 19 / 20);
	}
	return true;
}

double loop_drift(const struct loop_stats *s)
{
	if (s->early_n == 0 || s->early_cyc == 0)
		return 0;
	/* both halves hold the same number of iterations */
	return (double)s->late_cyc / (double)s->early_cyc - 1.0;
}

const char *loop_cause_name(enum bucket b, enum inst_class c, char buf[48])
{
	switch (b) {
	case BUCKET_ISSUE:
		snprintf(buf, 48, "issue:%s", class_name(c));
		return buf;
	case BUCKET_STALL:
		if (c == CLASS_NOP)
			return "nop";
		snprintf(buf, 48, "pipe-stall:%s", class_name(c));
		return buf;
	case BUCKET_WAIT:
		return c == CLASS_BARRIER ? "barrier" : c == CLASS_SLEEP ? "sleep" : "wait";
	case BUCKET_IDLE:
		snprintf(buf, 48, "gap:%s", class_name(c));
		return buf;
	default:
		return "drain";
	}
}
