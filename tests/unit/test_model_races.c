/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_model_races.c: the race detector against the definition: small random kernels, their order
 * as a graph with all paths, every pair of accesses looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw.h"
#include "model_streams.h"

#define MAX_NODES 40
#define TILES 3
#define TILE_BYTES 256

struct node {
	enum { N_OP, N_SET, N_WAIT, N_BAR, N_ALL } kind;
	enum op_pipe pipe; /* whose queue */
	int reads, writes; /* tile, or -1 */
	enum op_pipe src, dst;
	int id;
};

static struct profile prof;

static int load(void **state)
{
	(void)state;
	return !profile_load(&prof, "910b1", ARCH_A2A3, NULL);
}

static int unload(void **state)
{
	(void)state;
	profile_deinit(&prof);
	return 0;
}

static enum op_pipe pick_pipe(void)
{
	static const enum op_pipe pipes[] = {OPP_MTE2, OPP_V, OPP_MTE3, OPP_S};

	return pipes[draw(4)];
}

/* --- a kernel --- */

static struct node random_op(void)
{
	struct node n = {.kind = N_OP, .pipe = pick_pipe(), .reads = -1, .writes = -1};

	if (n.pipe == OPP_MTE2 || n.pipe == OPP_V || (n.pipe == OPP_S && draw(2)))
		n.writes = (int)draw(TILES);
	if (n.pipe == OPP_MTE3 || n.pipe == OPP_V || n.writes < 0)
		n.reads = (int)draw(TILES);
	return n;
}

static unsigned insert(struct node *v, unsigned n, unsigned at, struct node x)
{
	for (unsigned i = n; i > at; i--)
		v[i] = v[i - 1];
	v[at] = x;
	return n + 1;
}

/* Ops, then flag pairs (the set before the wait, one id each) and barriers put between. */
static unsigned random_kernel(struct node *v)
{
	unsigned n = 0, n_ops = 3 + draw(6), n_flags = draw(6);

	for (; n < n_ops; n++)
		v[n] = random_op();
	for (unsigned i = 0; i < n_flags; i++) {
		struct node set = {.kind = N_SET,
			.src = pick_pipe(),
			.dst = pick_pipe(),
			.id = (int)i,
			.reads = -1,
			.writes = -1};
		struct node wait = set;
		unsigned at = draw(n + 1);

		if (set.src == set.dst)
			continue;
		set.pipe = set.src;
		wait.kind = N_WAIT;
		wait.pipe = wait.dst;
		n = insert(v, n, at, set);
		n = insert(v, n, at + 1 + draw(n - at), wait);
	}
	if (draw(4) == 0)
		n = insert(v, n, draw(n + 1),
			(struct node){.kind = N_ALL, .pipe = OPP_ALL, .reads = -1, .writes = -1});
	if (draw(4) == 0)
		n = insert(v, n, draw(n + 1),
			(struct node){.kind = N_BAR, .pipe = OPP_V, .reads = -1, .writes = -1});
	return n;
}

static void push_scalar(struct opstream *s, const struct node *x, uint32_t line)
{
	struct op_desc d = op_desc_of(x->writes >= 0 ? OPK_SETV : OPK_GETV, OPP_S,
		x->writes >= 0 ? "SetValue" : "GetValue", line);

	op_desc_tile(&d, x->writes >= 0 ? ROLE_DST : ROLE_SRC, DT_F16, 1, 128,
		(uint64_t)(x->writes >= 0 ? x->writes : x->reads) * TILE_BYTES);
	ms_push(s, &d);
}

static void push(struct opstream *s, const struct node *x, uint32_t line)
{
	uint64_t w = (uint64_t)(x->writes < 0 ? 0 : x->writes) * TILE_BYTES;
	uint64_t r = (uint64_t)(x->reads < 0 ? 0 : x->reads) * TILE_BYTES;

	if (x->kind == N_SET)
		ms_set(s, line, x->src, x->dst, x->id);
	else if (x->kind == N_WAIT)
		ms_wait(s, line, x->src, x->dst, x->id);
	else if (x->kind == N_BAR || x->kind == N_ALL)
		ms_barrier(s, line, x->pipe);
	else if (x->pipe == OPP_MTE2)
		ms_load(s, line, 1, 128, w, 0);
	else if (x->pipe == OPP_MTE3)
		ms_store(s, line, 1, 128, r, 1);
	else if (x->pipe == OPP_V)
		ms_vec(s, line, "TABS", 1, 128, (uint64_t[]){w, r, UINT64_MAX});
	else
		push_scalar(s, x, line);
}

/* --- the definition --- */

/* Is there an edge from a to b, a before b in program order? */
static bool is_edge(const struct node *a, const struct node *b)
{
	if (a->kind == N_ALL || b->kind == N_ALL)
		return true;
	if (a->kind == N_SET && b->kind == N_WAIT && a->src == b->src && a->dst == b->dst &&
		a->id == b->id)
		return true;
	if (a->pipe == OPP_S && (a->kind == N_OP || a->kind == N_WAIT))
		return true; /* issue; a wait of the scalar holds up everything behind it */
	return a->pipe == b->pipe;
}

static void all_paths(const struct node *v, unsigned n, bool path[MAX_NODES][MAX_NODES])
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++)
			path[i][k] = i < k && is_edge(&v[i], &v[k]);
	for (unsigned m = 0; m < n; m++)
		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < n; k++)
				path[i][k] = path[i][k] || (path[i][m] && path[m][k]);
}

static bool is_race(const struct node *a, const struct node *b)
{
	if (a->kind != N_OP || b->kind != N_OP || a->pipe == b->pipe)
		return false;
	return (a->writes >= 0 && (a->writes == b->writes || a->writes == b->reads)) ||
	       (b->writes >= 0 && b->writes == a->reads);
}

static unsigned count_races(const struct node *v, unsigned n, bool path[MAX_NODES][MAX_NODES])
{
	unsigned races = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++)
			races += is_race(&v[i], &v[k]) && !path[i][k];
	return races;
}

/* --- both --- */

static void compare(const struct node *v, unsigned n, unsigned round, unsigned *n_racy)
{
	struct engine_options o = {.profile = &prof, .find_races = true};
	static bool path[MAX_NODES][MAX_NODES];
	struct opstream_set set;
	struct opstream *s;
	struct timed t;
	unsigned want, got = 0;

	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	for (unsigned i = 0; i < n; i++)
		push(s, &v[i], i + 1);
	ms_seal(&set);
	assert_true(engine_run(&set, &o, &t, NULL));
	assert_true(t.is_complete);
	all_paths(v, n, path);
	want = count_races(v, n, path);
	for (size_t i = 0; i < t.findings.n; i++) {
		const struct model_finding *f = &t.findings.v[i];

		if (f->kind != FIND_RACE)
			continue;
		got++;
		/* each one reported is one */
		if (!is_race(&v[f->a.op], &v[f->b.op]) || path[f->a.op][f->b.op])
			fail_msg("round %u: not a race: %s", round, f->note.message);
	}
	if ((want != 0) != (got != 0))
		fail_msg("round %u: %u races by definition, %u found", round, want, got);
	*n_racy += want != 0;
	timed_deinit(&t);
	opstream_set_deinit(&set);
}

static void test_races_against_definition(void **state)
{
	struct node v[MAX_NODES];
	unsigned n_racy = 0, rounds = 4000;

	(void)state;
	draw_seed = 1;
	for (unsigned i = 0; i < rounds; i++)
		compare(v, random_kernel(v), i, &n_racy);
	/* both kinds were there */
	assert_in_range(n_racy, rounds / 10, rounds * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_races_against_definition)};

	return cmocka_run_group_tests(tests, load, unload);
}
