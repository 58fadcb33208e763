/* SPDX-License-Identifier: Apache-2.0 */
/* Busy, depth, gaps, accounting, overlap, waits and critical path of hand-made pipes, and of random
 * ones against a count cycle by cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/code/hot.h"
#include "analysis/pipes/pipes.h"
#include "mem_pipes.h"

static struct pipes *ask(const struct trace *t, const struct selection *sel, struct pool *pool)
{
	struct walk_options o = {.selection = sel, .pool = pool};
	struct walk_result r = {0};
	struct incore_error e = {0};
	struct pipes *p = pipes_new(t, &e);

	assert_non_null(p);
	assert_true(pipes_collect(p, &o, &r, &e));
	walk_result_deinit(&r);
	assert_int_equal(p->residue_cyc, 0);
	return p;
}

static void assert_buckets(const uint64_t *got, uint64_t issue, uint64_t wait, uint64_t stall,
	uint64_t idle, uint64_t drain)
{
	assert_int_equal(got[BUCKET_ISSUE], issue);
	assert_int_equal(got[BUCKET_WAIT], wait);
	assert_int_equal(got[BUCKET_STALL], stall);
	assert_int_equal(got[BUCKET_IDLE], idle);
	assert_int_equal(got[BUCKET_DRAIN], drain);
}

/* MTE2 loads twice in flight, sets a flag; the cube waits for it, then works. */
static const struct mem_slice cube[] = {
	{10, 51, 0, "WAIT_FLAG PIPE:MTE2,TRIGGERPIPE:M,FLAGID:0,", NULL},
	{61, 30, 0, "MMAD", "k.cpp:9"},
	{100, 10, 4, "MMAD", "k.cpp:9"},
};
static const struct mem_slice mte2[] = {
	{0, 40, 0, "MOV_OUT_TO_L1 a", "k.cpp:5"},
	{10, 50, 0, "MOV_OUT_TO_L1 b", "k.cpp:6"},
	{59, 1, 0, "SET_FLAG PIPE:MTE2,TRIGGERPIPE:M,FLAGID:0,", NULL},
	{70, 5, 0, "MOV_SPR_XN", NULL},
};
static const struct mem_pipe two[] = {
	{"core0.cubecore0/CUBE", MEM_SLICES(cube)},
	{"core0.cubecore0/MTE2", MEM_SLICES(mte2)},
};
static const struct link flags[] = {{1, 0, 2, 0, LINK_FLAG}};

static struct trace *two_pipes(void)
{
	return mem_pipes_new(&(struct mem_pipes){MEM_PIPES(two), MEM_LINKS(flags)});
}

static void test_pipes_accounting(void **state)
{
	struct trace *t = two_pipes();
	struct pipes *p = ask(t, NULL, NULL);
	const struct pipe_row *c = &p->rows[0], *m = &p->rows[1];

	(void)state;
	assert_buckets(c->bucket, 36, 51, 4, 19, 0); /* idle: 0..10 and 91..100 */
	assert_buckets(m->bucket, 65, 0, 0, 10, 35);
	assert_int_equal(c->busy_cyc, 36);
	assert_int_equal(m->busy_cyc, 65);
	assert_int_equal(m->config_cyc, 5);
	assert_int_equal(m->latency_cyc, 95);
	assert_int_equal(m->depth_max, 2);
	assert_int_equal(m->depth_cyc[0], 35);
	assert_int_equal(m->depth_cyc[1], 30);
	assert_int_equal(m->gaps.n, 1);
	assert_int_equal(m->gaps.p50, 10);
	assert_int_equal(c->gaps.max, 13);
	assert_int_equal(c->gaps.ended_by[GAP_STALL], 1);
	assert_int_equal(c->first_cyc, 61);
	assert_int_equal(c->last_cyc, 110);
	assert_int_equal(c->n_sync, 1);
	pipes_free(p);
	trace_free(t);
}

static void test_pipes_waits(void **state)
{
	struct trace *t = two_pipes();
	struct pipes *p = ask(t, NULL, NULL);
	const struct pipe_row *c = &p->rows[0];

	(void)state;
	assert_int_equal(c->waits.n, 1);
	assert_string_equal(pipes_producer_name(p, c->waits.v[0].producer), "MTE2");
	assert_int_equal(c->waits.v[0].cyc, 51);
	assert_int_equal(c->waits.v[0].count, 1);
	assert_int_equal(p->pairs.n, 1);
	assert_string_equal(p->pairs.v[0].producer, "MTE2");
	assert_string_equal(p->pairs.v[0].consumer, "CUBE");
	/* the flag stands for the load begun last before it was set */
	assert_int_equal(p->edges.n, 1);
	assert_string_equal(t->code[p->edges.v[0].producer].text, "MOV_OUT_TO_L1 b");
	assert_int_equal(p->edges.v[0].stall_cyc, 51);
	assert_int_equal(p->edges.v[0].latency.max, 51);
	pipes_free(p);
	trace_free(t);
}

static void test_pipes_overlap(void **state)
{
	struct trace *t = two_pipes();
	struct pipes *p = ask(t, NULL, NULL);
	const struct pipe_core *c = &p->cores[0];

	(void)state;
	assert_int_equal(p->n_cores, 1);
	assert_int_equal(c->overlap[0], 36);
	assert_int_equal(c->overlap[3], 65);
	assert_int_equal(c->overlap[1], 5); /* the configuration */
	assert_int_equal(c->overlap[2], 5);
	assert_int_equal(p->rows[0].exposed_cyc, 31);
	assert_int_equal(p->rows[1].exposed_cyc, 60);
	assert_int_equal(c->busy_cyc, 96);
	assert_int_equal(c->compute_cyc, 36);
	pipes_free(p);
	trace_free(t);
}

static uint64_t path_sum(const struct pipes *p)
{
	uint64_t sum = p->path.lead_cyc + p->path.tail_cyc;

	for (unsigned k = 0; k < PATH_PARTS; k++)
		sum += p->path.part[k];
	return sum;
}

static void test_pipes_path(void **state)
{
	struct trace *t = two_pipes();
	struct pipes *p = ask(t, NULL, NULL);
	const struct pipe_path *x = &p->path;

	(void)state;
	assert_true(x->is_known);
	assert_int_equal(path_sum(p), 110);
	assert_int_equal(x->n_hops, 1);
	assert_int_equal(x->of_track[0][PATH_WORK], 36);
	assert_int_equal(x->of_track[0][PATH_STALL], 4);
	assert_int_equal(x->of_track[0][PATH_GAP], 9);
	assert_int_equal(x->of_track[0][PATH_WAIT], 1); /* from the end of the set */
	assert_int_equal(x->of_track[1][PATH_WORK], 59);
	assert_int_equal(x->of_track[1][PATH_WAIT], 1); /* the set itself */
	assert_string_equal(p->bound.kind, "latency");
	assert_int_equal(p->bound.track, 1);
	assert_non_null(strstr(p->bound.sentence, "most waiting: CUBE for MTE2, 51 cycles"));
	pipes_free(p);
	trace_free(t);
}

static void test_pipes_window(void **state)
{
	struct trace *t = two_pipes();
	struct selection s = {.has_from = true, .has_to = true, .from_cyc = 50, .to_cyc = 72};
	struct pipes *p = ask(t, &s, NULL);

	(void)state;
	assert_buckets(p->rows[0].bucket, 11, 11, 0, 0, 0);
	assert_buckets(p->rows[1].bucket, 12, 0, 0, 10, 0);
	assert_false(p->path.is_known);
	pipes_free(p);
	trace_free(t);
}

/* Waits that overlap: the one that ends last owns the cycle. A barrier of one cycle is idle. */
static void test_pipes_wait_owner(void **state)
{
	static const struct mem_slice v[] = {
		{0, 1, 0, "BAR PIPE:ALL", NULL},
		{5, 20, 0, "WAIT_FLAG a", NULL},
		{10, 5, 0, "WAIT_FLAG b", NULL},
		{15, 20, 0, "WAIT_FLAG c", NULL},
		{50, 8, 0, "BAR PIPE:V", NULL},
		{60, 10, 0, "GET_BUF", NULL},
		{70, 10, 0, "VADD.f32", NULL},
	};
	static const struct mem_pipe pipes[] = {{"core1.veccore0/VECTOR", MEM_SLICES(v)}};
	struct trace *t = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(pipes)});
	struct pipes *p = ask(t, NULL, NULL);
	struct hot *h = hot_new(t);
	struct collector one = hot_collector(h);
	const struct collector *list[] = {&one};
	struct walk_options o = {0};
	struct walk_result r;
	struct incore_error e = {0};

	(void)state;
	assert_buckets(p->rows[0].bucket, 10, 48, 0, 22, 0);
	assert_int_equal(p->n_unmatched, 3);
	assert_true(walk_tracks(t, &o, list, 1, &r, &e));
	walk_result_deinit(&r);
	assert_int_equal(h->residue_cyc, 0);
	assert_int_equal(h->rows[1].bucket[BUCKET_WAIT], 10);
	assert_int_equal(h->rows[2].bucket[BUCKET_WAIT], 0);
	assert_int_equal(h->rows[3].bucket[BUCKET_WAIT], 20);
	assert_int_equal(h->rows[4].bucket[BUCKET_WAIT], 8);
	assert_int_equal(h->rows[6].totals.latency, 10);
	hot_free(h);
	pipes_free(p);
	trace_free(t);
}

/* A flag that another core sets. */
static void test_pipes_cross_core(void **state)
{
	static const struct mem_slice c[] = {
		{0, 90, 0, "FIXPIPE", NULL}, {90, 2, 0, "SET_INTRA_BLOCK PIPE:FIX", NULL}};
	static const struct mem_slice v[] = {
		{5, 90, 0, "WAIT_INTRA_BLOCK PIPE:V", NULL}, {95, 5, 0, "VADD", NULL}};
	static const struct mem_pipe pipes[] = {
		{"core0.cubecore0/FIXP", MEM_SLICES(c)}, {"core0.veccore0/VECTOR", MEM_SLICES(v)}};
	static const struct link links[] = {{0, 1, 1, 0, LINK_CROSS_CORE}};
	struct trace *t = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(pipes), MEM_LINKS(links)});
	struct pipes *p = ask(t, NULL, NULL);

	(void)state;
	assert_int_equal(p->n_cores, 2);
	assert_true(p->pairs.v[0].is_cross_core);
	assert_int_equal(p->pairs.v[0].cyc, 90);
	assert_int_equal(path_sum(p), 100);
	assert_int_equal(p->path.of_track[0][PATH_WORK], 90);
	assert_string_equal(p->bound.kind, "pipe");
	/* longer than the wait for it, and what the kernel is bound by */
	assert_string_equal(t->code[p->bound.where].text, "FIXPIPE");
	assert_true(p->bound.where_share > 0.89 && p->bound.where_share < 0.91);
	assert_non_null(strstr(p->bound.sentence, "its costliest row on the path: row "));
	assert_non_null(strstr(p->bound.sentence, ", 90.0 %: `FIXPIPE`"));
	pipes_free(p);
	trace_free(t);
}

static void test_pipes_causes(void **state)
{
	struct trace *t = two_pipes();
	struct pipes *p = ask(t, NULL, NULL);
	struct incore_error e = {0};
	struct causes *c = causes_new(t, NULL, 0, &e);

	(void)state;
	assert_non_null(c);
	assert_true(pipes_fill_causes(p, c, &e));
	assert_int_equal(c->residue_cyc, 0);
	assert_string_equal(c->v[0].name, "issue:MTE2");
	assert_string_equal(c->v[1].name, "wait:MTE2");
	assert_int_equal(c->v[1].cyc, 51);
	causes_free(c);
	pipes_free(p);
	trace_free(t);
}

/* --- random pipes against a count of each cycle ---------------------------------------------- */

#define R_TRACKS 4
#define R_SLICES 24
#define R_SPAN 200

static const char *const r_names[R_TRACKS] = {"core0.cubecore0/SCALAR", "core0.cubecore0/MTE1",
	"core0.cubecore0/CUBE", "core0.cubecore0/MTE2"};
static const char *const r_texts[] = {"WORK a", "WORK b", "WAIT_FLAG x", "WAIT_FLAG y", "SET_FLAG",
	"BAR", "GET_BUF", "MOV_SPR_XN"};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

static int compare_slices(const void *pa, const void *pb)
{
	const struct mem_slice *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->dur > b->dur) - (a->dur < b->dur);
}

static bool is_kind(const struct mem_slice *s, const char *words)
{
	return strstr(words, s->text) != NULL;
}

static bool covers(const struct mem_slice *s, uint64_t cycle)
{
	return cycle >= s->start + s->stall && cycle < s->start + s->dur;
}

/* Which bucket has this cycle, the slow way. */
static enum bucket bucket_at(const struct mem_slice *v, uint32_t n, uint64_t cycle, uint64_t last)
{
	static const char work[] = "WORK a|WORK b|MOV_SPR_XN";
	static const char wait[] = "WAIT_FLAG x|WAIT_FLAG y|GET_BUF";
	enum bucket best = cycle < last ? BUCKET_IDLE : BUCKET_DRAIN;

	for (uint32_t i = 0; i < n; i++)
		if (is_kind(&v[i], work) && covers(&v[i], cycle))
			return BUCKET_ISSUE;
	for (uint32_t i = 0; i < n; i++) {
		bool is_bar = is_kind(&v[i], "BAR") && v[i].dur - v[i].stall > 2;

		if ((is_kind(&v[i], wait) || is_bar) && covers(&v[i], cycle))
			return BUCKET_WAIT;
	}
	for (uint32_t i = 0; i < n; i++)
		if (cycle >= v[i].start && cycle < v[i].start + v[i].stall)
			best = BUCKET_STALL;
	return best;
}

struct random_case {
	struct mem_slice slices[R_TRACKS][R_SLICES];
	struct mem_pipe pipes[R_TRACKS];
	struct link links[R_SLICES];
	uint32_t n_links;
};

static void make_case(struct random_case *c, uint32_t seed)
{
	for (uint32_t k = 0; k < R_TRACKS; k++) {
		uint32_t n = next_random(&seed) % R_SLICES + 1;

		for (uint32_t i = 0; i < n; i++) {
			struct mem_slice *s = &c->slices[k][i];

			s->start = next_random(&seed) % R_SPAN;
			s->dur = next_random(&seed) % 30;
			s->stall = next_random(&seed) % 4 ? 0 : next_random(&seed) % (s->dur + 1);
			s->text = r_texts[next_random(&seed) % MEM_COUNT(r_texts)];
		}
		qsort(c->slices[k], n, sizeof(c->slices[k][0]), compare_slices);
		c->pipes[k] = (struct mem_pipe){r_names[k], c->slices[k], n};
	}
	for (c->n_links = 0; c->n_links < R_SLICES; c->n_links++) {
		uint32_t a = next_random(&seed) % R_TRACKS, b = next_random(&seed) % R_TRACKS;

		c->links[c->n_links] = (struct link){a, b, next_random(&seed) % R_SLICES,
			next_random(&seed) % R_SLICES, LINK_FLAG};
	}
}

static void check_track(const struct random_case *c, const struct pipes *p, uint32_t k)
{
	const struct track *t = &p->trace->tracks[k];
	const struct mem_pipe *m = &c->pipes[k];
	uint64_t want[BUCKET_COUNT] = {0}, last = 0, deepest = 0, wait = 0;

	for (uint32_t i = 0; i < m->n_slices; i++)
		if (m->slices[i].start + m->slices[i].dur > last)
			last = m->slices[i].start + m->slices[i].dur;
	for (uint64_t cycle = t->begin_cyc; cycle < t->end_cyc; cycle++) {
		uint64_t depth = 0;

		want[bucket_at(m->slices, m->n_slices, cycle, last)]++;
		for (uint32_t i = 0; i < m->n_slices; i++)
			depth += is_kind(&m->slices[i], "WORK a|WORK b|MOV_SPR_XN") &&
				 covers(&m->slices[i], cycle);
		deepest = depth > deepest ? depth : deepest;
	}
	assert_memory_equal(p->rows[k].bucket, want, sizeof(want));
	assert_int_equal(p->rows[k].depth_max, deepest);
	for (size_t i = 0; i < p->rows[k].waits.n; i++)
		wait += p->rows[k].waits.v[i].cyc;
	assert_int_equal(wait, want[BUCKET_WAIT]);
}

static void test_pipes_random(void **state)
{
	struct incore_error e = {0};
	struct pool *pool = pool_new(3, &e);

	(void)state;
	for (uint32_t seed = 1; seed < 300; seed++) {
		struct random_case c = {0};
		struct trace *t;
		struct pipes *p, *q;

		make_case(&c, seed);
		t = mem_pipes_new(&(struct mem_pipes){.pipes = c.pipes,
			.n_pipes = R_TRACKS,
			.links = c.links,
			.n_links = c.n_links});
		p = ask(t, NULL, NULL);
		q = ask(t, NULL, pool);
		for (uint32_t k = 0; k < R_TRACKS; k++) {
			check_track(&c, p, k);
			assert_memory_equal(
				p->rows[k].bucket, q->rows[k].bucket, sizeof(p->rows[k].bucket));
		}
		if (p->path.is_known)
			assert_int_equal(path_sum(p), p->path.end_cyc - p->path.begin_cyc);
		assert_string_equal(p->bound.sentence, q->bound.sentence);
		pipes_free(p);
		pipes_free(q);
		trace_free(t);
	}
	pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes_accounting),
		cmocka_unit_test(test_pipes_waits),
		cmocka_unit_test(test_pipes_overlap),
		cmocka_unit_test(test_pipes_path),
		cmocka_unit_test(test_pipes_window),
		cmocka_unit_test(test_pipes_wait_owner),
		cmocka_unit_test(test_pipes_cross_core),
		cmocka_unit_test(test_pipes_causes),
		cmocka_unit_test(test_pipes_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
