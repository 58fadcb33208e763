/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waves_conformance.c: on every real capture: states, segments, durations, categories and path
 * clusters equal the facts; every wave's buckets add up to its duration; causes add up to the
 * buckets; hidden latency and utilization equal the published reference. Skipped where the captures
 * are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "analysis/waves/causes.h"
#include "analysis/waves/hidden.h"
#include "analysis/waves/utilization.h"
#include "analysis/waves/waves.h"
#include "base/file.h"
#include "import/import.h"

#define NOT_GIVEN UINT64_MAX

struct capture_case {
	const char *path, *facts;      /* below data/amd/ui_output and data/amd/golden/facts */
	uint64_t bucket[BUCKET_COUNT]; /* issue, stall, wait, idle, drain */
	uint64_t hidden_stall;	       /* of the recorded stall column */
};

static const struct capture_case cases[] = {
	{"topk_gating_softmax/ui_output_agent_23939_dispatch_37", "topk_gating_softmax.23939_37",
		{128088, 67644, 64664, 19888, 12288}, 73080},
	{"flash_attn_before/ui_output_agent_38430_dispatch_44", "flash_attn_func.38430_44",
		{1139676, 845064, 831492, 124108, 37832}, 428440},
	{"flash_attn_after29/ui_output_agent_50261_dispatch_44_after_loc_fix",
		"flash_attn_func.50261_44", {1276256, 951900, 879592, 138308, 37752}, NOT_GIVEN},
	{"flash_attn_unmapped/ui_output_agent_7267_dispatch_42", "flash_attn_func.7267_42",
		{70936, 53072, 39664, 11352, 9616}, 0},
	{"pa_mqa_double/ui_output_agent_64914_dispatch_234", "pa_mqa_logits_fp4.64914_234",
		{115752, 54816, 89956, 20580, 5864}, 51212},
	{"pa_mqa_double/ui_output_agent_64914_dispatch_236", "pa_mqa_logits_fp4.64914_236",
		{99048, 56388, 95292, 17608, 5092}, 34388},
	{"mla_decode_earlyexit/ui_output_agent_41578_dispatch_58", "mla_decode.41578_58",
		{1848, 1524, 41940, 1900, 616}, 976},
	{"vec_add/ui_output_agent_14705_dispatch_25", "vec_add.14705_25",
		{49616, 303028, 1798164, 46196, 1578008}, 174452},
	{"layernorm/ui_output_agent_22257_dispatch_23", "layernorm.22257_23",
		{24444, 5552, 40420, 4964, 5812}, 0},
	{"fused_rope_cache/ui_output_agent_4253_dispatch_8781", "fused_rope_cache.4253_8781",
		{3064, 208, 12200, 872, 2380}, 0},
	{"hgemm_splitk/ui_output_agent_4716_dispatch_319", "hgemm_splitk.4716_319",
		{14176, 9688, 48500, 4212, 9300}, 0},
	{"pa_decode/ui_output_agent_10886_dispatch_209", "pa.10886_209",
		{31908, 25836, 44200, 12536, 4636}, 17832},
	{"rmsnorm/ui_output_agent_19276_dispatch_18", "rmsnorm.19276_18",
		{68684, 60284, 179108, 14088, 23752}, 126524},
	{"preshuffle_gemm_v2/ui_output_agent_63371_dispatch_15", "preshuffle_gemm_v2.63371_15",
		{322028, 156808, 1240640, 36936, 3128}, 0},
	{"moe_blockscale/ui_output_agent_39345_dispatch_668", "moe_blockscale.39345_668",
		{93732, 200664, 256756, 14284, 1088}, 0},
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static char *data_path(const char *kind, const char *name, const char *suffix)
{
	const char *shared = getenv("INCORE_SHARED"), *root = getenv("INCORE_SOURCE_ROOT");
	struct strbuf sb = {0};

	if (shared)
		sb_printf(&sb, "%s/data/amd/%s/%s%s", shared, kind, name, suffix);
	else
		sb_printf(&sb, "%s/../shared/data/amd/%s/%s%s", root ? root : ".", kind, name,
			suffix);
	return sb.p;
}

/* NULL: not there, the test is skipped. */
static struct trace *open_capture(const struct capture_case *k)
{
	char *path = data_path("ui_output", k->path, "");
	struct capture_list list = {0};
	struct incore_error e = {0};
	struct trace *t = NULL;

	if (file_is_dir(path)) {
		assert_true(import_find(path, NULL, &list, &e));
		assert_true(import_read(&list.v[0], &(struct import_options){0}, &t, &e));
		capture_list_deinit(&list);
	}
	free(path);
	return t;
}

struct answers {
	struct trace *trace;
	struct waves *waves;
	struct busy *busy;
	struct hidden *hidden;
	struct causes *causes;
	struct utilization *utilization;
};

static void ask(struct answers *a, unsigned jobs)
{
	struct incore_error e = {0};
	struct pool *pool = pool_new(jobs, &e);
	struct walk_options o = {.pool = pool};
	struct collector made[7];
	const struct collector *list[7];
	struct walk_result r;

	a->waves = waves_new(a->trace, 0, &e);
	a->busy = busy_new(a->trace, &e);
	assert_true(a->waves && a->busy && busy_walk(a->busy, &o, &e));
	a->hidden = hidden_new(a->busy, &e);
	a->causes = causes_new(a->trace, a->busy, CAUSES_ROWS, &e);
	a->utilization = utilization_new(a->busy, &e);
	assert_true(a->hidden && a->causes && a->utilization);
	made[0] = waves_collector(a->waves);
	made[1] = states_collector(a->waves->states);
	made[2] = clusters_collector(a->waves->clusters);
	made[3] = barriers_collector(a->waves->barriers);
	made[4] = hidden_collector(a->hidden);
	made[5] = causes_collector(a->causes);
	made[6] = utilization_collector(a->utilization);
	for (size_t i = 0; i < COUNT_OF(made); i++)
		list[i] = &made[i];
	assert_true(walk_tracks(a->trace, &o, list, COUNT_OF(list), &r, &e));
	assert_int_equal(r.n_failed, 0);
	walk_result_deinit(&r);
	assert_true(waves_finish(a->waves, &e) && causes_finish(a->causes, &e) &&
		    utilization_finish(a->utilization, &e));
	pool_free(pool);
}

static void forget(struct answers *a)
{
	utilization_free(a->utilization);
	causes_free(a->causes);
	hidden_free(a->hidden);
	busy_free(a->busy);
	waves_free(a->waves);
	trace_free(a->trace);
}

static uint64_t fact(const json_t *o, const char *key)
{
	assert_non_null(json_object_get(o, key));
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

static void compare_clusters(const struct clusters *c, const json_t *want)
{
	assert_int_equal(c->n_collisions, 0);
	assert_int_equal(c->n, json_array_size(want));
	for (uint32_t i = 0; i < c->n; i++) {
		const json_t *k = json_array_get(want, i);

		assert_int_equal(c->v[i].n_waves, fact(k, "waves"));
		assert_int_equal(c->v[i].n_rows, fact(k, "unique_lines"));
		assert_int_equal(c->v[i].latency, fact(k, "latency"));
		assert_int_equal(c->v[i].stall, fact(k, "stall"));
	}
}

static void compare_categories(const struct waves *w, const json_t *want)
{
	for (unsigned i = 0; i < 256; i++) {
		const struct wave_category *c = &w->categories[i];
		char key[8];
		const json_t *k;

		snprintf(key, sizeof(key), "%u", i);
		k = json_object_get(want, key);
		assert_int_equal(c->n, json_integer_value(json_array_get(k, 0)));
		assert_int_equal(c->latency, json_integer_value(json_array_get(k, 1)));
		assert_int_equal(c->stall, json_integer_value(json_array_get(k, 2)));
	}
}

static void compare_facts(const struct answers *a, const struct capture_case *k)
{
	char *path = data_path("golden/facts", k->facts, ".json");
	json_t *f = json_load_file(path, 0, NULL);
	const struct waves *w = a->waves;
	const json_t *s, *d;

	assert_non_null(f);
	s = json_object_get(f, "states_cycles");
	for (unsigned i = STATE_IDLE; i < STATE_COUNT; i++)
		assert_int_equal(w->states->all.cyc[i], fact(s, state_name(i)));
	assert_int_equal(w->states->all.segments, fact(f, "timeline_segments"));
	assert_int_equal(w->n_waves, fact(f, "waves"));
	assert_int_equal(w->n_not_ended, fact(f, "waves_not_ending_in_s_endpgm"));
	d = json_object_get(f, "duration");
	assert_int_equal(w->duration.min, fact(d, "min"));
	assert_int_equal(w->duration.median, fact(d, "median"));
	assert_int_equal(w->duration.max, fact(d, "max"));
	assert_int_equal(w->duration.sum, fact(d, "sum"));
	compare_categories(w, json_object_get(f, "category_count_lat_stall"));
	compare_clusters(w->clusters, json_object_get(f, "path_clusters"));
	json_decref(f);
	free(path);
}

/* Every cycle once: wave by wave, cause by cause, row by row. */
static void check_sums(const struct answers *a, const struct capture_case *k)
{
	const struct causes *c = a->causes;
	uint64_t cells = 0, family = 0;

	for (uint32_t i = 0; i < a->trace->n_tracks; i++) {
		const struct wave_row *r = &a->waves->rows[i];
		uint64_t sum = 0;

		for (unsigned b = 0; b < BUCKET_COUNT; b++)
			sum += r->bucket[b];
		assert_int_equal(sum, r->duration_cyc);
		assert_int_equal(
			a->hidden->tracks[i].cyc, r->duration_cyc - r->bucket[BUCKET_ISSUE]);
	}
	for (unsigned b = 0; b < BUCKET_COUNT; b++) {
		assert_int_equal(a->waves->bucket[b], k->bucket[b]);
		assert_int_equal(c->bucket[b], k->bucket[b]);
		assert_int_equal(a->hidden->bucket[b].cyc, k->bucket[b]);
	}
	assert_int_equal(c->residue_cyc, 0);
	assert_int_equal(c->duration_cyc, a->waves->duration.sum);
	for (uint32_t i = 0; i < c->n_cells; i++)
		cells += c->cells[i].cyc;
	for (unsigned f = 0; f < FAMILY_COUNT; f++)
		family += c->family[f].cyc;
	assert_int_equal(cells, c->duration_cyc);
	assert_int_equal(family, c->duration_cyc);
}

static void check_hidden(const struct answers *a, const struct capture_case *k)
{
	uint64_t by_cause[BUCKET_COUNT] = {0};

	for (uint32_t i = 0; i < a->causes->n; i++)
		by_cause[a->causes->v[i].bucket] += a->causes->v[i].hidden_cyc;
	for (unsigned b = 0; b < BUCKET_COUNT; b++) {
		const struct hidden_sum *h = &a->hidden->bucket[b];

		assert_true(h->hidden_cyc <= h->cyc);
		assert_int_equal(by_cause[b], h->hidden_cyc);
		if (k->hidden_stall == 0) /* one wave per SIMD */
			assert_int_equal(h->hidden_cyc, 0);
	}
	if (k->hidden_stall != NOT_GIVEN)
		assert_int_equal(a->hidden->recorded.hidden_cyc, k->hidden_stall);
}

static void test_waves_conformance(void **state)
{
	unsigned seen = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct answers a = {.trace = open_capture(&cases[i])};

		if (!a.trace)
			continue;
		seen++;
		ask(&a, 1 + i % 2);
		compare_facts(&a, &cases[i]);
		check_sums(&a, &cases[i]);
		check_hidden(&a, &cases[i]);
		forget(&a);
	}
	if (!seen) {
		print_message("no captures (INCORE_SHARED)\n");
		skip();
	}
	assert_int_equal(seen, COUNT_OF(cases));
}

static const struct {
	unsigned index; /* in cases */
	uint64_t resident, valu, matrix, lds, scalar, vmem;
	uint64_t hidden[BUCKET_COUNT]; /* NOT_GIVEN where no reference is published */
} pipes[] = {
	{0, 156360, 96104, 0, 10744, 7688, 2604, {0, 52732, 20348, 8840, 3504}},
	{1, 2136816, 891964, 64004, 95416, 42452, 20224,
		{0, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN}},
	{7, 514416, 10260, 0, 0, 30660, 8520, {0, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, 115348}},
};

static void test_waves_conformance_pipes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(pipes); i++) {
		struct answers a = {.trace = open_capture(&cases[pipes[i].index])};

		if (!a.trace) {
			print_message("no captures (INCORE_SHARED)\n");
			skip();
		}
		ask(&a, 2);
		assert_int_equal(a.utilization->cyc[PIPE_RESIDENT], pipes[i].resident);
		assert_int_equal(a.utilization->cyc[PIPE_VALU], pipes[i].valu);
		assert_int_equal(a.utilization->cyc[PIPE_MATRIX], pipes[i].matrix);
		assert_int_equal(a.utilization->cyc[PIPE_LDS], pipes[i].lds);
		assert_int_equal(a.utilization->cyc[PIPE_SCALAR], pipes[i].scalar);
		assert_int_equal(a.utilization->cyc[PIPE_VMEM], pipes[i].vmem);
		for (unsigned b = 0; b < BUCKET_COUNT; b++)
			if (pipes[i].hidden[b] != NOT_GIVEN)
				assert_int_equal(
					a.hidden->bucket[b].hidden_cyc, pipes[i].hidden[b]);
		forget(&a);
	}
}

/* Barriers of whole workgroups: all 992 executions fall into 248 meetings of 4 waves. */
static void test_waves_conformance_barriers(void **state)
{
	struct answers a = {.trace = open_capture(&cases[1])};

	(void)state;
	if (!a.trace) {
		print_message("no captures (INCORE_SHARED)\n");
		skip();
	}
	ask(&a, 1);
	assert_int_equal(a.waves->barriers->wait_cyc, 66944);
	assert_int_equal(a.waves->barriers->n_met, 992);
	assert_int_equal(a.waves->barriers->meetings, 248);
	assert_int_equal(a.waves->barriers->last_wait_cyc.max, 8);
	forget(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waves_conformance),
		cmocka_unit_test(test_waves_conformance_pipes),
		cmocka_unit_test(test_waves_conformance_barriers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
