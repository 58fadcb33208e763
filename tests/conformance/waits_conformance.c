/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits_conformance.c: on every real capture: the stored wait arrays equal ours in every wave, the
 * class-set sums equal the golden facts, the blocking sums split the bucket wait, and both the
 * blocking and the latency reference tables come out. Skipped where the captures are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "analysis/code/hot.h"
#include "analysis/waves/latency.h"
#include "analysis/waves/producers.h"
#include "base/file.h"
#include "import/capture_cache.h"

/* key, cycles; by agent and dispatch of the capture */
struct blocking_case {
	int64_t agent, dispatch;
	const char *key;
	uint64_t cycles;
};

static const struct blocking_case blocking_cases[] = {
	{23939, 37, "VMEM-load", 7208},
	{23939, 37, "LDS-xlane", 33908},
	{23939, 37, "SMEM", 23548},
	{38430, 44, "VMEM-load", 54092},
	{38430, 44, "VMEM-to-LDS", 431364},
	{38430, 44, "LDS", 231380},
	{38430, 44, "SMEM", 42588},
	{38430, 44, "(drained)", 5124},
	{14705, 25, "VMEM-load", 1728428},
	{14705, 25, "SMEM", 69736},
	{19276, 18, "VMEM-load", 98432},
	{19276, 18, "LDS", 5108},
	{19276, 18, "LDS-xlane", 10248},
	{19276, 18, "SMEM", 32248},
	{19276, 18, "LDS+SMEM", 540},
	{63371, 15, "VMEM-load", 132560},
	{63371, 15, "LDS", 558212},
	{63371, 15, "SMEM", 9408},
	{63371, 15, "LDS & VMEM-load", 322912},
	{63371, 15, "(drained)", 6048},
	{4716, 319, "VMEM-to-LDS", 30800},
	{4716, 319, "LDS", 1088},
	{4716, 319, "SMEM", 6552},
	{4716, 319, "VMEM-atomic", 1356},
	{4716, 319, "LDS & VMEM-load", 352},
	{4716, 319, "(drained)", 64},
	{41578, 58, "VMEM-load", 5852},
	{41578, 58, "SMEM", 36088},
};

struct free_case {
	int64_t agent, dispatch;
	uint64_t n_free, n_blocked;
};

static const struct free_case free_cases[] = {
	{23939, 37, 407, 1065},
	{38430, 44, 12408, 5832},
	{14705, 25, 17, 1247},
	{19276, 18, 416, 1008},
	{63371, 15, 3016, 15416},
	{4716, 319, 89, 53},
	{41578, 58, 0, 64},
};

struct latency_case {
	int64_t agent, dispatch;
	const char *opcode;
	bool is_to_lds;
	enum amd_counter counter;
	struct distribution want; /* n, min, median, p95, max; p99 has no reference */
};

static const struct latency_case latency_cases[] = {
	{23939, 37, "ds_bpermute_b32", false, AMD_LGKMCNT, {1344, 56, 60, 76, 152}},
	{23939, 37, "buffer_load_dwordx4", false, AMD_VMCNT, {64, 208, 312, 436, 480}},
	{14705, 25, "buffer_load_dwordx4", false, AMD_VMCNT, {632, 796, 2732, 4168, 5192}},
	{38430, 44, "buffer_load_dwordx4", true, AMD_VMCNT, {960, 112, 552, 812, 1680}},
	{38430, 44, "ds_read_b128", false, AMD_LGKMCNT, {7936, 56, 60, 228, 844}},
	{41578, 58, "s_load_dwordx2", false, AMD_LGKMCNT, {32, 1052, 1220, 1240, 1244}},
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

struct captures {
	struct arena arena;
	char *facts_dir;
	VEC(struct capture_list) lists;
	unsigned n;
};

static void fail_error(struct incore_error *e, const char *what)
{
	struct strbuf text = {0};

	err_format(e, &text);
	fail_msg("%s: %s", what, text.p);
}

static bool find_in(void *ctx, const char *path, struct incore_error *e)
{
	struct captures *c = ctx;
	struct capture_list list = {0};

	if (!import_find(path, NULL, &list, e))
		return false;
	for (uint32_t i = 0; i < list.n; i++) /* agent and dispatch */
		capture_look(NULL, &list.arena, &list.v[i]);
	if (!VEC_PUSH(&c->lists, list))
		return false;
	c->n += list.n;
	return true;
}

struct find_ctx {
	struct captures *captures;
	const char *dir;
};

static bool find_named(void *ctx, const char *name, struct incore_error *e)
{
	struct find_ctx *f = ctx;
	char *path = path_join(f->dir, name);
	bool ok = path && find_in(f->captures, path, e);

	mem_free(path);
	return ok;
}

static const char *shared_dir(struct arena *a)
{
	const char *given = getenv("INCORE_SHARED"), *root = getenv("INCORE_SOURCE_ROOT");

	if (given && given[0])
		return given;
	return arena_printf(a, "%s/../shared", root ? root : ".");
}

static int find_captures(void **state)
{
	static struct captures c;
	struct incore_error e = {0};
	struct find_ctx f = {&c, NULL};

	arena_init(&c.arena);
	f.dir = arena_printf(&c.arena, "%s/data/amd/ui_output", shared_dir(&c.arena));
	c.facts_dir = arena_printf(&c.arena, "%s/data/amd/golden/facts", shared_dir(&c.arena));
	*state = &c;
	if (!file_is_dir(f.dir))
		return 0;
	if (!dir_each(f.dir, find_named, &f, &e))
		fail_error(&e, "finding captures");
	return 0;
}

static int free_captures(void **state)
{
	struct captures *c = *state;

	for (size_t i = 0; i < c->lists.n; i++)
		capture_list_deinit(&c->lists.v[i]);
	VEC_FREE(&c->lists);
	arena_deinit(&c->arena);
	return 0;
}

typedef void (*capture_test)(struct captures *all, const struct capture *c, struct trace *t);

static void each_capture(struct captures *all, capture_test test)
{
	struct import_options o = {0};
	struct incore_error e = {0};

	if (all->n == 0) {
		print_message("no captures (INCORE_SHARED)\n");
		skip();
	}
	for (size_t i = 0; i < all->lists.n; i++) {
		for (uint32_t k = 0; k < all->lists.v[i].n; k++) {
			struct capture c = all->lists.v[i].v[k];
			struct trace *t = NULL;

			if (!import_read(&c, &o, &t, &e))
				fail_error(&e, c.path);
			/* finding does not look into the name; reading does */
			c.agent = t->meta.launch.agent;
			c.dispatch = t->meta.launch.dispatch;
			test(all, &c, t);
			trace_free(t);
		}
	}
}

static unsigned n_waves, n_equal;

static void compare_stated(struct captures *all, const struct capture *c, struct trace *t)
{
	struct incore_error e = {0};
	struct wait_tables *tables = wait_tables_new(t, &e);
	struct waits waits = {0};
	struct track_data d = {0};

	(void)all;
	assert_non_null(tables);
	for (track_idx i = 0; i < t->n_tracks; i++) {
		struct walk_track w = {t, i, &t->tracks[i], &d, 0, UINT64_MAX};

		if (!trace_load_track(t, i, TRACK_STATED_WAITS, &d, &e) ||
			!waits_resolve(&waits, tables, &w, WAITS_VIEWER, &e))
			fail_error(&e, t->tracks[i].name);
		n_waves++;
		n_equal += waits_equal_stated(&waits, &d);
		if (!waits_equal_stated(&waits, &d))
			fail_msg("%s/%s: wait arrays differ", c->path, t->tracks[i].name);
	}
	track_data_deinit(&d);
	waits_deinit(&waits);
	wait_tables_free(tables);
}

static void test_waits_equal_stored_arrays(void **state)
{
	each_capture(*state, compare_stated);
	print_message("%u of %u waves equal\n", n_equal, n_waves);
	assert_int_equal(n_waves, 984);
}

static struct producers *walk_producers(struct trace *t, struct hot *hot, unsigned want)
{
	struct incore_error e = {0};
	struct producers *p = producers_new(t, want, &e);
	struct collector made[2];
	const struct collector *list[2] = {&made[0], &made[1]};
	struct walk_options o = {0};
	struct walk_result r;

	assert_non_null(p);
	made[0] = producers_collector(p);
	made[1] = hot_collector(hot);
	if (!walk_tracks(t, &o, list, 2, &r, &e) || !producers_finish(p, &e))
		fail_error(&e, "walk");
	walk_result_deinit(&r);
	return p;
}

static json_t *load_facts(struct captures *all, const struct capture *c)
{
	char *cmd = arena_printf(&all->arena, "_%lld.json", (long long)c->dispatch);
	char *agent = arena_printf(&all->arena, ".%lld", (long long)c->agent);
	char *want = arena_printf(&all->arena, "%s%s", agent, cmd);
	char *path = NULL;
	json_t *facts;

	static const char *const kernels[] = {"flash_attn_func", "fused_rope_cache", "hgemm_splitk",
		"layernorm", "mla_decode", "moe_blockscale", "pa", "pa_mqa_logits_fp4",
		"preshuffle_gemm_v2", "rmsnorm", "topk_gating_softmax", "vec_add"};
	for (size_t i = 0; i < COUNT_OF(kernels); i++) {
		path = arena_printf(&all->arena, "%s/%s%s", all->facts_dir, kernels[i], want);
		if (file_exists(path))
			break;
		path = NULL;
	}
	if (!path)
		fail_msg("no golden facts end in %s", want);
	facts = json_load_file(path, 0, NULL);
	assert_non_null(facts);
	return facts;
}

static void compare_class_set(struct captures *all, const struct capture *c, struct trace *t)
{
	struct hot *hot = hot_new(t);
	struct producers *p = walk_producers(t, hot, PRODUCERS_CLASS_SET);
	json_t *facts = load_facts(all, c);
	json_t *want = json_object_get(facts, "wait_stall_by_producer");
	char name[WAIT_KEY_LEN];

	assert_int_equal(json_object_size(want), p->class_set.groups.n);
	for (size_t i = 0; i < p->class_set.groups.n; i++) {
		const struct producer_group *g = &p->class_set.groups.v[i];
		json_t *cycles = json_object_get(want, wait_key_name(g->key, name));

		if (!cycles || (uint64_t)json_integer_value(cycles) != g->wait_cyc)
			fail_msg("%s: %s: got %llu, want %lld", c->path, name,
				(unsigned long long)g->wait_cyc,
				(long long)json_integer_value(cycles));
	}
	/* the two attributions split the same records; blocking splits the bucket exactly */
	assert_int_equal(p->blocking.wait_cyc + p->blocking.barrier_cyc + p->blocking.sleep_cyc,
		hot->all.bucket[BUCKET_WAIT]);
	json_decref(facts);
	producers_free(p);
	hot_free(hot);
}

static void test_waits_class_set_equals_facts(void **state)
{
	each_capture(*state, compare_class_set);
}

static uint64_t blocking_of(const struct producers *p, const char *key)
{
	char name[WAIT_KEY_LEN];

	for (size_t i = 0; i < p->blocking.groups.n; i++)
		if (!strcmp(wait_key_name(p->blocking.groups.v[i].key, name), key))
			return p->blocking.groups.v[i].wait_cyc;
	return 0;
}

static unsigned n_cases;

static void compare_blocking(struct captures *all, const struct capture *c, struct trace *t)
{
	struct hot *hot = hot_new(t);
	struct producers *p = walk_producers(t, hot, PRODUCERS_EDGES);
	uint64_t edges = 0, shared = 0;
	size_t n_keys = 0;

	(void)all;
	for (size_t i = 0; i < COUNT_OF(blocking_cases); i++) {
		const struct blocking_case *b = &blocking_cases[i];

		if (b->agent != c->agent || b->dispatch != c->dispatch)
			continue;
		n_cases++;
		n_keys++;
		if (blocking_of(p, b->key) != b->cycles)
			fail_msg("%s: %s: got %llu, want %llu", c->path, b->key,
				(unsigned long long)blocking_of(p, b->key),
				(unsigned long long)b->cycles);
	}
	assert_true(n_keys == 0 || n_keys == p->blocking.groups.n);
	for (size_t i = 0; i < COUNT_OF(free_cases); i++) {
		if (free_cases[i].agent != c->agent || free_cases[i].dispatch != c->dispatch)
			continue;
		assert_int_equal(p->n_free, free_cases[i].n_free);
		assert_int_equal(p->n_blocked, free_cases[i].n_blocked);
	}
	for (size_t i = 0; i < p->edges.n; i++) {
		edges += p->edges.v[i].stall_cyc;
		shared += p->edges.v[i].shared_cyc;
	}
	assert_int_equal(edges + shared / 2 + blocking_of(p, "(drained)"), p->blocking.wait_cyc);
	producers_free(p);
	hot_free(hot);
}

static void test_waits_blocking_reference(void **state)
{
	n_cases = 0;
	each_capture(*state, compare_blocking);
	assert_int_equal(n_cases, COUNT_OF(blocking_cases));
}

static void compare_latency_row(const struct latency *l, const struct latency_case *c)
{
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct latency_row *r = &l->rows.v[i];
		const struct distribution *got = &r->all;

		if (r->counter != c->counter || r->is_to_lds != c->is_to_lds ||
			strcmp(l->trace->opcodes[r->opcode], c->opcode) != 0)
			continue;
		n_cases++;
		if (memcmp(got, &c->want, offsetof(struct distribution, p99)) != 0)
			fail_msg("%s: n %llu min %llu median %llu p95 %llu max %llu", c->opcode,
				(unsigned long long)got->n, (unsigned long long)got->min,
				(unsigned long long)got->median, (unsigned long long)got->p95,
				(unsigned long long)got->max);
		assert_int_equal(r->n_exact + r->n_bound + r->n_group + r->n_unresolved, r->all.n);
	}
}

static void compare_latency(struct captures *all, const struct capture *c, struct trace *t)
{
	struct incore_error e = {0};
	struct latency *l = latency_new(t, &e);
	struct collector made = latency_collector(l);
	const struct collector *list = &made;
	struct walk_options o = {0};
	struct walk_result r;

	(void)all;
	if (!walk_tracks(t, &o, &list, 1, &r, &e) || !latency_finish(l, &e))
		fail_error(&e, c->path);
	for (size_t i = 0; i < COUNT_OF(latency_cases); i++)
		if (latency_cases[i].agent == c->agent && latency_cases[i].dispatch == c->dispatch)
			compare_latency_row(l, &latency_cases[i]);
	walk_result_deinit(&r);
	latency_free(l);
}

static void test_waits_latency_reference(void **state)
{
	n_cases = 0;
	each_capture(*state, compare_latency);
	assert_int_equal(n_cases, COUNT_OF(latency_cases));
}

/* Each producer row of each wait row, against the same waits by opcode and against the edges. */
static void compare_pairs(struct captures *all, const struct capture *c, struct trace *t)
{
	struct incore_error e = {0};
	struct latency *l = latency_new(t, &e);
	struct producers *p = producers_new(t, PRODUCERS_EDGES, &e);
	struct collector made[] = {latency_collector(l), producers_collector(p)};
	const struct collector *list[] = {&made[0], &made[1]};
	struct walk_options o = {0};
	struct walk_result r;
	struct cfg g;
	uint64_t consumed = 0, by_opcode = 0;

	(void)all;
	if (!cfg_build(&g, t, &e) || !latency_with_pairs(l, &g, &e) ||
		!walk_tracks(t, &o, list, 2, &r, &e) || !latency_finish(l, &e) ||
		!producers_finish(p, &e))
		fail_error(&e, c->path);
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct latency_row *x = &l->rows.v[i];

		by_opcode += x->n_exact + x->n_bound + x->n_group + x->n_older;
	}
	for (size_t i = 0; i < l->pairs->v.n; i++) {
		const struct wait_pair *x = &l->pairs->v.v[i];

		consumed += x->n;
		assert_true(x->n_last + x->n_group <= x->n);
		assert_int_equal(x->slack_cyc.n, x->n - x->n_last);
		assert_int_equal(x->iterations.n, x->loop == NO_LOOP ? 0 : x->n);
	}
	assert_int_equal(consumed, by_opcode);
	for (size_t i = 0; i < p->edges.n; i++) {
		const struct producer_edge *x = &p->edges.v[i];
		const struct wait_pair *y = wait_pairs_find(l->pairs, x->producer, x->wait);

		assert_non_null(y);
		assert_int_equal(y->together.n, x->count);
	}
	/* The matrix loop of preshuffle_gemm_v2 loads one iteration ahead. */
	if (c->agent == 63371 && c->dispatch == 15) {
		const struct wait_pair *y = wait_pairs_find(l->pairs, 193, 109);

		assert_non_null(y);
		assert_int_equal(y->n_last, 744);
		assert_int_equal(y->iterations.min, 1);
		assert_int_equal(y->iterations.max, 1);
		n_cases++;
	}
	walk_result_deinit(&r);
	producers_free(p);
	latency_free(l);
	cfg_deinit(&g);
}

static void test_waits_pairs(void **state)
{
	n_cases = 0;
	each_capture(*state, compare_pairs);
	assert_int_equal(n_cases, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_equal_stored_arrays),
		cmocka_unit_test(test_waits_class_set_equals_facts),
		cmocka_unit_test(test_waits_blocking_reference),
		cmocka_unit_test(test_waits_latency_reference),
		cmocka_unit_test(test_waits_pairs),
	};

	return cmocka_run_group_tests(tests, find_captures, free_captures);
}
