/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_conformance.c: every real Ascend artifact imports, and what was measured of it by hand, or
 * is stated by files beside it, comes out: slices and unions per pipe, joined dumps, blocks of a
 * container, CSV totals, the summary log. Skipped where the data is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "import/import.h"
#include "isa/ascend.h"

static const char *data_dir(void)
{
	static char dir[4096];
	const char *shared = getenv("INCORE_SHARED"), *root = getenv("INCORE_SOURCE_ROOT");

	if (shared)
		snprintf(dir, sizeof(dir), "%s/data/ascend", shared);
	else
		snprintf(dir, sizeof(dir), "%s/../shared/data/ascend", root ? root : ".");
	return dir;
}

static void need_data(void)
{
	if (!file_is_dir(data_dir())) {
		print_message("no Ascend data (INCORE_SHARED)\n");
		skip();
	}
}

static struct trace *read_trace(const char *name, const char *soc, enum incore_status want)
{
	struct import_options o = {.want = IMPORT_ALL, .soc = soc};
	struct incore_error e = {0};
	struct capture_list l = {0};
	struct trace *t = NULL;
	char path[4200];
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", data_dir(), name);
	ok = import_find(path, NULL, &l, &e) && l.n == 1 && import_read(&l.v[0], &o, &t, &e);
	if (ok != (want == INCORE_OK) || (!ok && e.status != want))
		fail_msg("%s: %s", path, e.message ? e.message : "read, but should not be");
	incore_error_clear(&e);
	capture_list_deinit(&l);
	return t;
}

static track_idx find_track(const struct trace *t, const char *name)
{
	for (track_idx i = 0; i < t->n_tracks; i++)
		if (strcmp(t->tracks[i].name, name) == 0)
			return i;
	fail_msg("no track %s", name);
	return 0;
}

struct pipe_sums {
	uint64_t n, sum, joined, depth;
};

/* Lengths added, and the length of their union; slices come sorted by start. */
static struct pipe_sums pipe_sums(const struct trace *t, const char *name)
{
	struct track_data d = {0};
	struct pipe_sums s = {0};
	uint64_t end = 0;

	assert_true(trace_load_track(t, find_track(t, name), 0, &d, NULL));
	for (uint32_t i = 0; i < d.n; i++) {
		uint64_t from = d.start_cyc[i], to = from + d.dur_cyc[i], depth = 0;

		for (uint32_t k = 0; k < d.n; k++)
			depth += d.start_cyc[k] <= from && d.start_cyc[k] + d.dur_cyc[k] > from;
		s.depth = depth > s.depth ? depth : s.depth;
		s.n++;
		s.sum += d.dur_cyc[i];
		if (to > end)
			s.joined += to - (from > end ? from : end);
		end = to > end ? to : end;
	}
	track_data_deinit(&d);
	return s;
}

static bool has_note(const struct trace *t, const char *code)
{
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i].code, code) == 0)
			return true;
	return false;
}

/* At 1000 MHz a cycle is a nanosecond, as the figures were measured. */
static struct trace *read_ns(const char *name)
{
	struct import_options o = {.want = IMPORT_ALL, .clock_hz = 1000000000};
	struct capture_list l = {0};
	struct trace *t = NULL;
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", data_dir(), name);
	assert_true(import_find(path, NULL, &l, NULL) && import_read(&l.v[0], &o, &t, NULL));
	capture_list_deinit(&l);
	return t;
}

static void check_pipe(const struct trace *t, const char *name, uint64_t joined, uint64_t depth)
{
	struct pipe_sums s = pipe_sums(t, name);

	assert_int_equal(s.joined, joined);
	assert_int_equal(s.depth, depth);
}

static void test_real_excerpts(void **state)
{
	static const char *const files[] = {"a5_real_excerpt/visualize_data.bin",
		"a5_real_excerpt/trace.excerpt.json", "a5_real_excerpt"};
	struct trace *t;

	(void)state;
	need_data();
	t = read_ns("insight/real_a5_sim_trace_excerpt.json");
	check_pipe(t, "core0.cubecore0/MTE2", 1547, 3);
	check_pipe(t, "core0.cubecore0/MTE1", 60, 2);
	check_pipe(t, "core0.cubecore0/CUBE", 147, 1);
	check_pipe(t, "core0.cubecore0/SCALAR", 4, 2);
	trace_free(t);
	for (size_t i = 0; i < 3; i++) {
		t = read_ns(files[i]);
		check_pipe(t, "core0.cubecore0/MTE2", 1511, 7);
		check_pipe(t, "core0.cubecore0/MTE1", 36, 2);
		check_pipe(t, "core0.cubecore0/CUBE", 96, 1);
		assert_int_equal(pipe_sums(t, "core0.cubecore0/MTE2").sum, 5972);
		assert_int_equal(pipe_sums(t, "core0.cubecore0/MTE1").sum, 54);
		assert_true(has_note(t, "quantised"));
		trace_free(t);
	}
}

static const char *summary_value(const struct trace *t, const char *name)
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_SUMMARY);

	assert_non_null(k);
	for (uint32_t i = 0; i < k->n_rows; i++)
		if (strcmp(named_table_cell(k, i, "name"), name) == 0)
			return named_table_cell(k, i, "value");
	return "";
}

static void test_stated_of_excerpt(void **state)
{
	struct trace *t;
	uint64_t mte2 = 0;

	(void)state;
	need_data();
	t = read_trace("a5_real_excerpt", "Ascend950PR_9599", INCORE_OK);
	assert_float_equal(trace_clock_mhz(t), 1800, 0);
	assert_string_equal(summary_value(t, "kernal total ticks"), "22677");
	assert_string_equal(summary_value(t, "tick"), "22951");
	assert_string_equal(summary_value(t, "start"), "274");
	assert_int_equal(trace_find_table(t, ASCEND_TABLE_BUSY)->n_rows, 6);
	assert_int_equal(trace_find_table(t, ASCEND_TABLE_INSTR_CSV)->n_rows, 10);
	for (uint32_t i = 0; i < t->n_code; i++)
		if (t->code[i].inst_class == CLASS_MTE && strncmp(t->code[i].text, "LOAD", 4) != 0)
			mte2 += t->code[i].stated.latency;
	assert_int_equal(mte2, 102084 + 84762 + 11297 + 8760);
	/* The excerpt holds a few of the executions that the table counts. */
	assert_true(has_note(t, "stated-counts"));
	trace_free(t);
	t = read_trace("a5_real_excerpt", NULL, INCORE_OK);
	assert_true(has_note(t, "clock-unknown"));
	trace_free(t);
}

static void check_slice(
	const struct trace *t, const char *name, uint64_t pc, uint64_t from, uint64_t to)
{
	struct track_data d = {0};
	bool found = false;

	assert_true(trace_load_track(t, find_track(t, name), 0, &d, NULL));
	for (uint32_t i = 0; i < d.n; i++)
		found |= t->code[d.code[i]].address == pc && d.start_cyc[i] == from &&
			 d.start_cyc[i] + d.dur_cyc[i] == to;
	track_data_deinit(&d);
	if (!found)
		fail_msg("%s: no slice 0x%llx %llu..%llu", name, (unsigned long long)pc,
			(unsigned long long)from, (unsigned long long)to);
}

static void test_dumps(void **state)
{
	struct trace *t;

	(void)state;
	need_data();
	t = read_trace("camodel_dumps/910B", NULL, INCORE_OK);
	for (int i = 0; i < 2; i++) {
		char unit[2][64];

		snprintf(unit[0], sizeof(unit[0]), "core0.veccore%d/SCALAR", i);
		snprintf(unit[1], sizeof(unit[1]), "core0.veccore%d/MTE2", i);
		assert_int_equal(pipe_sums(t, unit[0]).n + pipe_sums(t, unit[1]).n, 6);
		check_slice(t, unit[0], 0x10f86000, 11035, 11036);
		check_slice(t, unit[1], 0x10f86084, 11416, 11690);
		check_slice(t, unit[0], 0x10f86088, 11416, 11691);
	}
	assert_int_equal(t->n_links, 2);
	check_slice(t, "core0.veccore0/USERMARK", 0, 11746, 14010);
	check_slice(t, "core0.veccore0/CACHEMISS", 0x10f86a80, 23071, 23072);
	assert_int_equal(pipe_sums(t, "core0.veccore0/CACHEMISS").n, 3);
	trace_free(t);
	t = read_trace("camodel_dumps/91095", NULL, INCORE_OK);
	check_slice(t, "core0.veccore0/SCALAR", 0x11bbe03c, 745, 749);
	check_slice(t, "core0.veccore0/SCALAR", 0x11bbe040, 745, 749);
	check_slice(t, "core0.veccore0/SCALAR", 0x11bbe044, 746, 750);
	trace_free(t);
	t = read_trace("camodel_dumps/simulator_sample", NULL, INCORE_OK);
	check_slice(t, "core0.veccore0/MTE2", 0x10cfa058, 276, 545);
	assert_int_equal(pipe_sums(t, "core0.veccore0/SCALAR").n, 3);
	assert_true(has_note(t, "start-without-end") && has_note(t, "end-without-start"));
	trace_free(t);
}

static void check_rows(const struct trace *t, const char *name, uint32_t n)
{
	const struct named_table *k = trace_find_table(t, name);

	assert_non_null(k);
	assert_int_equal(k->n_rows, n);
}

static void test_device_bin(void **state)
{
	static const char *const blocks[6][3] = {{"0", "5", "472"}, {"484", "6", "1300"},
		{"1796", "7", "6132"}, {"7940", "8", "4688"}, {"12640", "9", "12016"},
		{"24668", "12", "920"}};
	struct trace *t;

	(void)state;
	need_data();
	t = read_trace("insight/fixtures/test_bin_mix.visualize_data.bin", NULL, INCORE_OK);
	check_rows(t, ASCEND_TABLE_BLOCKS, 6);
	for (uint32_t i = 0; i < 6; i++) {
		const struct named_table *k = trace_find_table(t, ASCEND_TABLE_BLOCKS);

		assert_string_equal(named_table_cell(k, i, "offset"), blocks[i][0]);
		assert_string_equal(named_table_cell(k, i, "type"), blocks[i][1]);
		assert_string_equal(named_table_cell(k, i, "bytes"), blocks[i][2]);
	}
	check_rows(t, ASCEND_TABLE_COMPUTE, 12);
	check_rows(t, ASCEND_TABLE_COMPUTE_ALL, 68);
	check_rows(t, ASCEND_TABLE_MEMORY, 40);
	check_rows(t, ASCEND_TABLE_OCCUPANCY, 6);
	assert_string_equal(t->meta.arch, "Ascend910B4");
	assert_int_equal(strncmp(t->meta.kernel, "MatmulLeakyreluCustom", 21), 0);
	trace_free(t);
	t = read_trace("insight/synthetic_sim1/visualize_data.bin", NULL, INCORE_OK);
	check_rows(t, ASCEND_TABLE_BLOCKS, 9);
	/* the core that executed none of the three has figures for each, too */
	check_rows(t, ASCEND_TABLE_INSTR, 6);
	check_rows(t, ASCEND_TABLE_LINES, 2);
	check_rows(t, ASCEND_TABLE_ROOFLINE, 1);
	check_rows(t, ASCEND_TABLE_STALL, 2);
	assert_int_equal(t->n_links, 1);
	assert_int_equal(t->n_heads, 1);
	assert_int_equal(t->counters[0].n, 3); /* the sample at 0, too */
	trace_free(t);
}

/* What each case of the cleaner means for reading. */
/* Barrier links apart: a case states its pairs of flags. */
static uint32_t n_flag_links(const struct trace *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_links; i++)
		n += t->links[i].kind != LINK_BARRIER;
	return n;
}

static void test_cases(void **state)
{
	static const struct {
		const char *name;
		enum incore_status status;
		uint32_t n_links;
		const char *note; /* or NULL */
	} rows[] = {{"01_raw_trace", INCORE_OK, 1, "no-api-instr"},
		{"03_overlap_sublanes", INCORE_OK, 0, NULL}, {"06_no_trace", INCORE_OK, 0, NULL},
		{"07_no_api", INCORE_OK, 0, "no-api-instr"},
		{"08_bad_json", INCORE_BAD_INPUT, 0, NULL},
		{"09_bad_magic", INCORE_BAD_INPUT, 0, NULL},
		{"10_oversize", INCORE_BAD_INPUT, 0, NULL},
		{"11_bad_padding", INCORE_BAD_INPUT, 0, NULL},
		{"12_trailing_garbage_lt12", INCORE_OK, 0, "trailing-bytes"},
		{"13_source_pypto_layout", INCORE_OK, 1, "legacy-source"},
		{"14_source_REAL_layout", INCORE_OK, 1, NULL},
		{"15_source_REAL_layout_ge4096", INCORE_OK, 1, NULL},
		{"16_two_trace_blocks", INCORE_OK, 1, NULL},
		{"17_unknown_block_types", INCORE_OK, 1, "unknown-blocks"},
		{"18_msinsight_device_bin", INCORE_OK, 0, NULL},
		{"19_opprof_dir", INCORE_OK, 1, NULL},
		{"20_opprof_device_layout", INCORE_OK, 1, NULL},
		{"21_real_schema_FIXP", INCORE_OK, 2, NULL},
		{"22_flag_reuse_and_skips", INCORE_OK, 2, "set-without-wait"},
		{"23_A5_lanes", INCORE_OK, 0, "clock-unknown"},
		{"24_zero_dur_touching", INCORE_OK, 0, NULL},
		{"25_missing_ts_X", INCORE_OK, 0, "no-timestamp"},
		{"26_not_object", INCORE_OK, 0, "bare-array"},
		{"27_api_real_dtype", INCORE_OK, 0, NULL},
		{"28_api_old_version", INCORE_OK, 0, NULL},
		{"30_list_len_ambiguity", INCORE_OK, 0, "list-length"},
		{"31_a5_real_excerpt", INCORE_OK, 0, "quantised"}};

	(void)state;
	need_data();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[128];
		struct trace *t;

		snprintf(name, sizeof(name), "clean_cases/%s/in", rows[i].name);
		t = read_trace(name, NULL, rows[i].status);
		if (!t)
			continue;
		assert_int_equal(n_flag_links(t), rows[i].n_links);
		if (rows[i].note && !has_note(t, rows[i].note))
			fail_msg("%s: no note %s", name, rows[i].note);
		trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_excerpts),
		cmocka_unit_test(test_stated_of_excerpt),
		cmocka_unit_test(test_dumps),
		cmocka_unit_test(test_device_bin),
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
