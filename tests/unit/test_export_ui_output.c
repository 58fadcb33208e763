/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_export_ui_output.c: a fixture that is written as a ui_output directory and read again is the
 * same trace, field by field; a raw thread trace has the same records after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "export/export.h"
#include "import/import.h"
#include "random_trace.h"

static char folder[] = "/tmp/incore-test-ui-XXXXXX";

static struct trace *read_path(const char *path)
{
	struct import_options o = {
		.want = IMPORT_ALL & ~(unsigned)IMPORT_SIDE_FILES, .disasm = "none"};
	struct capture_list l;
	struct incore_error e = {0};
	struct trace *t = NULL;

	if (!import_find(path, NULL, &l, &e) || !import_read(capture_choose(&l), &o, &t, &e))
		fail_msg("%s: %s", path, e.message);
	capture_list_deinit(&l);
	return t;
}

static struct trace *read_fixture(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("INCORE_TEST_DATA"), name);
	return read_path(path);
}

static void target_of(const struct trace *t, char *path, size_t n)
{
	snprintf(path, n, "%s/ui_output_agent_%lld_dispatch_%lld", folder,
		(long long)t->meta.launch.agent, (long long)t->meta.launch.dispatch);
}

static struct trace *write_and_read(const struct trace *t, char *path, size_t n)
{
	struct export_options o = {0};
	struct export_result r;
	struct incore_error e = {0};

	target_of(t, path, n);
	if (!export_run(t, export_find("ui_output"), path, &o, &r, &e))
		fail_msg("%s: %s", path, e.message);
	assert_int_equal(r.n_tracks, t->n_tracks);
	export_result_deinit(&r);
	return read_path(path);
}

static void test_same_trace(void **state)
{
	static const char *const names[] = {"two_waves", "gemm", "inline", "gfx11", "gfx12",
		"collapsed", "early_exit", "no_source", "stale_source", "throttled", "truncated",
		"pc_sampling", "shell_empty", "shell_missed_cu"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct trace *a = read_fixture(names[i]), *b;
		char path[4096];
		const char *what;

		b = write_and_read(a, path, sizeof(path));
		what = trace_difference(a, b);
		if (what)
			fail_msg("%s: %s differs", names[i], what);
		trace_free(a);
		trace_free(b);
		remove_tree(path);
	}
}

static void same_records(const struct trace *a, const struct trace *b, track_idx i)
{
	struct track_data x = {0}, y = {0};
	struct incore_error e = {0};

	assert_true(trace_load_track(a, i, TRACK_STATES, &x, &e));
	assert_true(trace_load_track(b, i, TRACK_STATES, &y, &e));
	assert_int_equal(x.n, y.n);
	assert_int_equal(x.n_states, y.n_states);
	assert_memory_equal(x.start_cyc, y.start_cyc, x.n * sizeof(*x.start_cyc));
	assert_memory_equal(x.dur_cyc, y.dur_cyc, x.n * sizeof(*x.dur_cyc));
	assert_memory_equal(x.stall_cyc, y.stall_cyc, x.n * sizeof(*x.stall_cyc));
	assert_memory_equal(x.code, y.code, x.n * sizeof(*x.code));
	assert_memory_equal(x.inst_class, y.inst_class, x.n);
	assert_memory_equal(x.tag, y.tag, x.n);
	assert_memory_equal(x.state, y.state, x.n_states);
	assert_memory_equal(x.state_dur_cyc, y.state_dur_cyc, x.n_states * sizeof(uint32_t));
	track_data_deinit(&x);
	track_data_deinit(&y);
}

static void test_raw_trace(void **state)
{
	static const char *const names[] = {"sqtt_gfx9", "sqtt_gfx11", "sqtt_gfx12", "sqtt_cut"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct trace *a = read_fixture(names[i]), *b;
		char path[4096];

		b = write_and_read(a, path, sizeof(path));
		assert_int_equal(a->n_code, b->n_code);
		assert_int_equal(a->n_tracks, b->n_tracks);
		assert_int_equal(a->n_occupancy, b->n_occupancy);
		assert_int_equal(a->n_markers, b->n_markers);
		assert_int_equal(a->n_other_issues, b->n_other_issues);
		assert_int_equal(a->n_counters, b->n_counters);
		assert_int_equal(a->meta.clock_hz_num, b->meta.clock_hz_num);
		for (track_idx k = 0; k < a->n_tracks; k++) {
			assert_memory_equal(
				a->tracks[k].coord, b->tracks[k].coord, sizeof(a->tracks[k].coord));
			same_records(a, b, k);
		}
		trace_free(a);
		trace_free(b);
		remove_tree(path);
	}
}

/* What is there is not touched, and nothing is left beside it. */
static void test_taken(void **state)
{
	struct trace *t = read_fixture("two_waves");
	struct export_options o = {0};
	struct export_result r;
	struct incore_error e = {0};
	char path[4096], name[8192];
	FILE *f;

	(void)state;
	target_of(t, path, sizeof(path));
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(name, sizeof(name), "%s/mine", path);
	f = fopen(name, "w");
	assert_non_null(f);
	fclose(f);
	assert_false(export_run(t, export_find("ui_output"), path, &o, &r, &e));
	assert_string_equal(e.code, "exists");
	incore_error_clear(&e);
	assert_true(file_exists(name));
	remove_tree(path);
	assert_int_equal(rmdir(folder), 0); /* empty: no temporary directory stayed */
	assert_int_equal(mkdir(folder, 0700), 0);
	trace_free(t);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_trace),
		cmocka_unit_test(test_raw_trace),
		cmocka_unit_test(test_taken),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
