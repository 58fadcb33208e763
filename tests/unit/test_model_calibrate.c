/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_calibrate.c: constants come back out of times that were made with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_lab/calibrate.h"
#include "model_streams.h"

#define TASKS 20

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

/* Task i: i % 4 + 1 loads of (i + 1) * 4 rows of 256 bytes, on a machine of 500 cycles and 40 B;
 * the latencies of loads that follow each other overlap. */
static void make(struct opstream_set *set, struct calib_task *tasks)
{
	opstream_set_init(set);
	for (uint32_t i = 0; i < TASKS; i++) {
		struct opstream *s = ms_new(set, CORE_AIV, 0);
		uint32_t n = i % 4 + 1, bytes = (i + 1) * 1024;

		for (uint32_t k = 0; k < n; k++)
			ms_load(s, 1, (i + 1) * 4, 128, 0, 0);
		tasks[i] = (struct calib_task){.id = i,
			.busy[OPP_MTE2] = 500 + ((uint64_t)n * bytes + 20) / 40,
			.has[OPP_MTE2] = true};
	}
	ms_seal(set);
	for (uint32_t i = 0; i < TASKS; i++)
		tasks[i].stream = &set->v.v[i];
}

static void test_calibrate_recovers(void **state)
{
	struct calib_options o = {.base = &prof,
		.hold_out_permille = 300,
		.status = STATUS_DEVICE,
		.source = "pmu.csv"};
	struct calib_task tasks[TASKS];
	struct calib_result r;
	struct opstream_set set;

	(void)state;
	make(&set, tasks);
	assert_true(calib_parse_keys(&o, "gm_rd_lat,gm_ub_bw", NULL));
	assert_true(calib_run(tasks, TASKS, &o, &r, NULL));
	assert_int_equal(r.n, 2);
	assert_int_equal(r.v[0].key, K_GM_RD_LAT);
	assert_in_range(r.v[0].new_e4, 4985000, 5015000);
	assert_in_range(r.v[1].new_e4, 399000, 401000);
	assert_int_equal(r.v[0].n_fit + r.v[0].n_held, TASKS);
	assert_true(r.v[0].n_held > 0);
	assert_true(r.v[0].residual_permille <= 2);
	assert_true(r.v[0].held_permille <= 2);
	assert_true(r.v[0].old_permille > 200);
	opstream_set_deinit(&set);
}

static void test_calibrate_not_determined(void **state)
{
	struct calib_options o = {.base = &prof, .status = STATUS_DEVICE, .source = "x"};
	struct incore_error e = {0};
	struct calib_task tasks[TASKS];
	struct calib_result r;
	struct opstream_set set;

	(void)state;
	make(&set, tasks);
	assert_true(calib_parse_keys(&o, "gm_rd_lat,gm_ub_bw", NULL));
	assert_false(calib_run(tasks, 1, &o, &r, &e)); /* one task, two constants */
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_true(calib_parse_keys(&o, "gm_l1_bw", NULL)); /* nobody loads to L1 */
	assert_false(calib_run(tasks, TASKS, &o, &r, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_false(calib_parse_keys(&o, "clock_mhz", &e));
	assert_int_equal(e.status, INCORE_USAGE);
	incore_error_clear(&e);
	opstream_set_deinit(&set);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_calibrate_writes_a_profile(void **state)
{
	struct calib_options o = {.base = &prof, .status = STATUS_DEVICE, .source = "a \"b\".csv"};
	struct calib_task tasks[TASKS];
	struct calib_result r;
	struct opstream_set set;
	struct profile p;
	char dir[] = "/tmp/incore-calib-XXXXXX", path[64];
	FILE *f;

	(void)state;
	make(&set, tasks);
	assert_true(calib_parse_keys(&o, "gm_rd_lat", NULL));
	assert_true(calib_run(tasks, TASKS, &o, &r, NULL));
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/local.yaml", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(calib_write(&r, &o, "local", f, NULL));
	fclose(f);
	assert_true(profile_load(&p, path, ARCH_A2A3, NULL));
	assert_string_equal(p.calibration, "local-device");
	assert_string_equal(p.soc, "Ascend910B1");
	assert_int_equal(p.k[K_GM_RD_LAT].e4, r.v[0].new_e4);
	assert_int_equal(p.k[K_GM_RD_LAT].status, STATUS_DEVICE);
	assert_int_equal(p.k[K_GM_UB_BW].e4, prof.k[K_GM_UB_BW].e4);
	profile_deinit(&p);
	remove(path);
	remove(dir);
	opstream_set_deinit(&set);
}

static void test_calibrate_pmu(void **state)
{
	static const char head[] = "thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles,"
				   "pmu_vec_busy,pmu_mte2_busy,event_type\n";
	static const struct {
		const char *rows;
		bool ok;
		uint32_t line;
	} cases[] = {
		{"0,3,17,4,1,1000,300,500,2\n0,3,0x12,4,0,900,0,10,2\n", true, 0},
		{"0,3,17,4,1,0,0,0,2\n", false, 0},
		{"0,3,17,4,7,1000,300,500,2\n", false, 2},
		{"0,3,x,4,1,1000,300,500,2\n", false, 2},
		{"", false, 0},
	};
	char dir[] = "/tmp/incore-pmu-XXXXXX", path[64], text[512];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pmu.csv", dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct incore_error e = {0};
		struct pmu_rows r;

		snprintf(text, sizeof(text), "%s%s", head, cases[i].rows);
		write_file(path, text);
		assert_int_equal(pmu_read(&r, path, &e), cases[i].ok);
		if (cases[i].ok) {
			assert_int_equal(r.v.n, 2);
			assert_int_equal(r.v.v[0].busy[OPP_MTE2], 500);
			assert_int_equal(r.v.v[1].task_id, 18);
			assert_int_equal(r.v.v[1].core, CORE_AIC);
			assert_false(r.v.v[0].has[OPP_FIX]);
			pmu_deinit(&r);
		} else {
			assert_int_equal(e.status, INCORE_BAD_INPUT);
			assert_int_equal(e.line, cases[i].line);
		}
		incore_error_clear(&e);
	}
	write_file(path, "a,b\n1,2\n");
	assert_false(pmu_read(&(struct pmu_rows){0}, path, NULL));
	remove(path);
	remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calibrate_recovers),
		cmocka_unit_test(test_calibrate_not_determined),
		cmocka_unit_test(test_calibrate_writes_a_profile),
		cmocka_unit_test(test_calibrate_pmu),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
