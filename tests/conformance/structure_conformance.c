/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structure_conformance.c: on every real capture: each record follows from the one before along an
 * edge of our graph, regions and source lines add up to the stated totals, and the facts about
 * source rows, granularity and occupancy come out. Skipped where the captures are not there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "analysis/code/loops.h"
#include "analysis/code/regions.h"
#include "analysis/code/source_lines.h"
#include "analysis/occupancy/occupancy.h"
#include "analysis/waves/matrix.h"
#include "base/file.h"
#include "import/import.h"

struct capture_case {
	const char *path, *facts; /* below data/amd/ui_output and data/amd/golden/facts */
	uint64_t transitions;	  /* records less waves */
	/* header, latch, iterations, min, median, max of its loop that iterates; 0: none does */
	int64_t header, latch;
	uint64_t iterations, min, median, max;
	uint64_t matrix_issue; /* 0: not in a reference table */
};

static const struct capture_case cases[] = {
	{"topk_gating_softmax/ui_output_agent_23939_dispatch_37", "topk_gating_softmax.23939_37",
		37184 - 32, 0, 0, 0, 0, 0, 0, 0},
	{"flash_attn_before/ui_output_agent_38430_dispatch_44", "flash_attn_func.38430_44",
		315400 - 32, 942, 941, 216, 8412, 10348, 14024, 64004},
	{"flash_attn_after29/ui_output_agent_50261_dispatch_44_after_loc_fix",
		"flash_attn_func.50261_44", 353256 - 32, 942, 941, 248, 8488, 10368, 14652, 0},
	{"flash_attn_unmapped/ui_output_agent_7267_dispatch_42", "flash_attn_func.7267_42",
		19700 - 8, 942, 941, 4, 8788, 9368, 9724, 0},
	{"pa_mqa_double/ui_output_agent_64914_dispatch_234", "pa_mqa_logits_fp4.64914_234",
		28504 - 28, 193, 489, 28, 1784, 2536, 3640, 0},
	{"pa_mqa_double/ui_output_agent_64914_dispatch_236", "pa_mqa_logits_fp4.64914_236",
		24432 - 24, 193, 489, 24, 1784, 2440, 3652, 0},
	{"mla_decode_earlyexit/ui_output_agent_41578_dispatch_58", "mla_decode.41578_58", 544 - 32,
		0, 0, 0, 0, 0, 0, 0},
	{"vec_add/ui_output_agent_14705_dispatch_25", "vec_add.14705_25", 13904 - 632, 0, 0, 0, 0,
		0, 0, 0},
	{"layernorm/ui_output_agent_22257_dispatch_23", "layernorm.22257_23", 6504 - 16, 0, 0, 0, 0,
		0, 0, 0},
	{"fused_rope_cache/ui_output_agent_4253_dispatch_8781", "fused_rope_cache.4253_8781",
		824 - 4, 0, 0, 0, 0, 0, 0, 0},
	{"hgemm_splitk/ui_output_agent_4716_dispatch_319", "hgemm_splitk.4716_319", 3596 - 8, 0, 0,
		0, 0, 0, 0, 0},
	{"pa_decode/ui_output_agent_10886_dispatch_209", "pa.10886_209", 8064 - 56, 0, 0, 0, 0, 0,
		0, 0},
	{"rmsnorm/ui_output_agent_19276_dispatch_18", "rmsnorm.19276_18", 18400 - 64, 0, 0, 0, 0, 0,
		0, 0},
	{"preshuffle_gemm_v2/ui_output_agent_63371_dispatch_15", "preshuffle_gemm_v2.63371_15",
		81024 - 12, 104, 205, 744, 1900, 2220, 2536, 0},
	{"moe_blockscale/ui_output_agent_39345_dispatch_668", "moe_blockscale.39345_668", 22052 - 4,
		275, 452, 104, 4668, 4772, 5036, 0},
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

static struct trace *open_capture(const char *path)
{
	struct import_options o = {.want = IMPORT_OCCUPANCY | IMPORT_SIDE_FILES};
	struct capture_list l = {0};
	struct incore_error e = {0};
	struct trace *t = NULL;

	if (!import_find(path, NULL, &l, &e) || l.n != 1 || !import_read(&l.v[0], &o, &t, &e))
		fail_msg("%s: %s", path, e.message ? e.message : "not one capture");
	capture_list_deinit(&l);
	return t;
}

/* --- transitions: a collector that counts steps along and beside the graph ------------------- */

struct steps {
	const struct cfg *g;
	uint64_t along, beside;
};

static bool is_step(const struct cfg *g, code_idx from, code_idx to)
{
	uint32_t a = g->block_of[from], b = g->block_of[to];

	if (from != cfg_block_last(g, a)) /* inside a block: the next row */
		return a == b && to > from && to == from + 1;
	return to == cfg_block_first(g, b) &&
	       (g->blocks[a].succ[CFG_FALL] == b || g->blocks[a].succ[CFG_JUMP] == b);
}

static bool steps_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct steps *s = self;
	struct steps *m = mine;

	(void)e;
	for (uint32_t i = 1; i < w->data->n; i++) {
		if (is_step(s->g, w->data->code[i - 1], w->data->code[i]))
			m->along++;
		else
			m->beside++;
	}
	return true;
}

static bool steps_merge(void *self, void *mine, struct incore_error *e)
{
	struct steps *s = self, *m = mine;

	(void)e;
	s->along += m->along;
	s->beside += m->beside;
	return true;
}

static void check_loops(const struct loops *l, const struct capture_case *c)
{
	uint32_t n_iterated = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct loop_stats *s = &l->v[i];
		const struct cfg_loop *x = &l->cfg->loops[i];
		uint64_t sum = 0;

		if (s->iterations == 0)
			continue;
		n_iterated++;
		assert_int_equal(
			l->cfg->trace->code[cfg_block_first(l->cfg, x->header)].number, c->header);
		assert_int_equal(
			l->cfg->trace->code[cfg_block_last(l->cfg, x->latch)].number, c->latch);
		assert_int_equal(s->iterations, c->iterations);
		assert_int_equal(s->min_cyc, c->min);
		assert_int_equal(s->median_cyc, c->median);
		assert_int_equal(s->max_cyc, c->max);
		for (unsigned b = 0; b < BUCKET_COUNT; b++)
			for (unsigned k = 0; k < CLASS_COUNT; k++)
				sum += s->cause[b][k];
		assert_int_equal(sum, s->all.cyc);
		assert_int_equal(s->first.cyc + s->steady.cyc + s->last.cyc, s->all.cyc);
	}
	assert_int_equal(n_iterated, c->iterations > 0);
}

static void check_walk(const struct trace *t, const struct cfg *g, const struct capture_case *c)
{
	struct steps s = {.g = g};
	struct loops *l = loops_new(g);
	struct matrix *m = matrix_new(t);
	struct collector made[] = {{&s, sizeof(s), NULL, steps_track, steps_merge, NULL},
		loops_collector(l), matrix_collector(m)};
	const struct collector *list[] = {&made[0], &made[1], &made[2]};
	struct walk_options o = {0};
	struct walk_result r;

	assert_true(walk_tracks(t, &o, list, 3, &r, NULL));
	assert_true(loops_finish(l, NULL) && matrix_finish(m, NULL));
	assert_int_equal(s.beside, 0);
	assert_int_equal(s.along, c->transitions);
	assert_false(g->is_irreducible);
	check_loops(l, c);
	if (c->matrix_issue)
		assert_int_equal(m->issue_cyc, c->matrix_issue);
	assert_true(m->issue_cyc <= m->resident_cyc && m->modelled_cyc <= m->resident_cyc);
	walk_result_deinit(&r);
	matrix_free(m);
	loops_free(l);
}

static void check_regions(
	const struct cfg *g, const struct code_totals *x, const struct source_sums *all)
{
	for (unsigned k = REGION_SOURCE_RUN; k <= REGION_LOOP; k++) {
		struct code_totals sum = {0};
		struct region *v;
		uint32_t n, rows = 0;
		struct arena a;

		arena_init(&a);
		assert_true(regions_build(g, k, x, &a, &v, &n, NULL));
		for (uint32_t i = 0; i < n; i++) {
			rows += v[i].n_rows;
			sum.hit += v[i].totals.hit;
			sum.latency += v[i].totals.latency;
			sum.stall += v[i].totals.stall;
			sum.idle += v[i].totals.idle;
		}
		assert_int_equal(rows, all->rows);
		assert_memory_equal(&sum, &all->totals, sizeof(sum));
		arena_deinit(&a);
	}
}

static void check_lines(const struct trace *t, const struct cfg *g, json_t *facts)
{
	struct code_totals *x = calloc(t->n_code + 1u, sizeof(*x));
	json_t *rows = json_object_get(facts, "source_rows_hit_lat_stall_idle");
	json_t *want = json_object_get(facts, "granularity");
	struct source_lines s;
	struct strbuf sb = {0};

	for (code_idx i = 0; i < t->n_code; i++)
		x[i] = t->code[i].stated;
	assert_true(source_lines_compute(&s, t, x, NULL));
	check_regions(g, x, &s.all);
	assert_int_equal(s.distinct_lines,
		json_integer_value(json_object_get(facts, "distinct_source_lines")));
	assert_int_equal(s.n_lines, json_object_size(rows));
	for (uint32_t i = 0; i < s.n_lines; i++) {
		const struct source_sums *e = &s.lines[i].exclusive;
		const uint64_t got[] = {
			e->rows, e->totals.hit, e->totals.latency, e->totals.stall, e->totals.idle};
		json_t *row;

		sb_reset(&sb);
		assert_true(source_line_put(&s, &s.lines[i], &sb));
		row = json_object_get(rows, sb.p);
		if (!row)
			fail_msg("%s is not in the facts", sb.p);
		for (size_t k = 0; k < 5; k++)
			assert_int_equal(got[k], json_integer_value(json_array_get(row, k)));
	}
	assert_true(fabs(s.granularity[WEIGHT_HIT_STALL].top1_share -
			    json_real_value(json_object_get(want, "top1_share_hit_plus_stall"))) <
		    1e-12);
	assert_true(fabs(s.granularity[WEIGHT_HIT_STALL].effective_lines -
			    json_real_value(json_object_get(want, "effective_lines_expH"))) < 1e-9);
	sb_free(&sb);
	source_lines_deinit(&s);
	free(x);
}

static void check_occupancy(const struct trace *t, json_t *facts)
{
	json_t *ses = json_object_get(facts, "occupancy");
	struct occupancy_options options = {.n_bins = 7};
	struct occupancy o;
	uint64_t sum = 0;
	char key[16];

	assert_true(occupancy_compute(&o, t, &options, NULL));
	assert_int_equal(o.n_ses, json_object_size(ses));
	for (uint32_t i = 0; i < o.n_ses; i++) {
		const struct occupancy_se *x = &o.ses[i];
		const struct {
			const char *name;
			uint64_t got;
		} fields[] = {{"events", x->stats.events}, {"starts", x->stats.starts},
			{"ends", x->stats.ends}, {"cus", x->n_cus}, {"peak_waves", x->stats.peak},
			{"peak_per_simd", x->peak_per_simd},
			{"target_cu_starts", x->target_cu_starts}};

		snprintf(key, sizeof(key), "%u", x->se);
		for (size_t k = 0; k < COUNT_OF(fields); k++)
			assert_int_equal(
				fields[k].got, json_integer_value(json_object_get(
						       json_object_get(ses, key), fields[k].name)));
	}
	for (uint32_t i = 0; i < o.n_bins; i++)
		sum += o.bin_wave_cyc[i];
	assert_int_equal(sum, o.all.wave_cyc);
	occupancy_deinit(&o);
}

static void test_structure_captures(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *path = data_path("ui_output", cases[i].path, "");
		char *facts_path = data_path("golden/facts", cases[i].facts, ".json");
		json_t *facts;
		struct trace *t;
		struct cfg g;

		if (!file_exists(path)) {
			print_message("no capture at %s\n", path);
			mem_free(path);
			mem_free(facts_path);
			skip();
		}
		print_message("%s\n", cases[i].path);
		t = open_capture(path);
		facts = json_load_file(facts_path, 0, NULL);
		assert_non_null(facts);
		assert_true(cfg_build(&g, t, NULL));
		check_walk(t, &g, &cases[i]);
		check_lines(t, &g, facts);
		check_occupancy(t, facts);
		cfg_deinit(&g);
		trace_free(t);
		json_decref(facts);
		mem_free(path);
		mem_free(facts_path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_structure_captures)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
