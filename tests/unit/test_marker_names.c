/* SPDX-License-Identifier: Apache-2.0 */
/* test_marker_names.c: lines of .sqtt_funcmap, and scopes of markers by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/marker_names.h"

static struct trace *new_trace(void)
{
	struct trace *t = trace_new();

	assert_true(t != NULL);
	t->meta.format = t->meta.origin = "test";
	return t;
}

static bool put_section(struct trace *t, const char *text, size_t n)
{
	struct marker_names m = {.trace = t};

	return marker_names_section(&m, 7, (struct str){text, n}) && marker_names_put(&m, "a.out");
}

static const char *cell(const struct trace *t, uint32_t row, const char *column)
{
	const struct named_table *k = trace_find_table(t, MARKER_NAMES);

	return k && row < k->n_rows ? named_table_cell(k, row, column) : "(none)";
}

static void test_lines(void **state)
{
	static const char text[] =
		"F:1:_Z4loadv@a.hip:7 -> b.hip:9\nU:2:main loop\nP:3:vmem_load\nK:kernel@a.hip:1\n"
		"W:64\nR:3:extra_payload_count=2\nM:shader_clock_bits=12;shader_clock_shift=4\nX:\n:\n\n"
		"F\0F:9";
	struct trace *t = new_trace();

	(void)state;
	assert_true(put_section(t, text, sizeof(text)));
	assert_int_equal(t->n_tables, 1);
	assert_int_equal(t->tables[0].n_rows, 6);
	assert_string_equal(cell(t, 0, "kind"), "function");
	assert_string_equal(cell(t, 0, "name"), "_Z4loadv");
	assert_string_equal(cell(t, 0, "source"), "a.hip:7 -> b.hip:9");
	assert_string_equal(cell(t, 0, "code_object"), "7");
	assert_string_equal(cell(t, 1, "name"), "main loop");
	assert_string_equal(cell(t, 2, "kind"), "point");
	assert_string_equal(cell(t, 3, "kind"), "kernel");
	assert_string_equal(cell(t, 4, "name"), "2");
	assert_string_equal(cell(t, 5, "id"), "12");
	trace_free(t);
}

struct shown {
	uint64_t start, dur;
	const char *name;
};

static void check_track(const struct trace *t, track_idx i, const struct shown *v, uint32_t n)
{
	struct track_data d = {0};

	assert_true(i < t->n_tracks && trace_load_track(t, i, 0, &d, NULL));
	assert_int_equal(d.n, n);
	for (uint32_t k = 0; k < n && k < d.n; k++) {
		assert_int_equal(d.start_cyc[k], v[k].start);
		assert_int_equal(d.dur_cyc[k], v[k].dur);
		assert_string_equal(t->code[d.code[k]].text, v[k].name);
	}
	track_data_deinit(&d);
}

#define ENTER(id) ((id) << 2 | 2)
#define POINT(id) ((id) << 2)
#define BOTH(id) ((id) << 2 | 3)
#define EXIT 1

static void test_scopes(void **state)
{
	static const char text[] =
		"F:1:a\nU:2:b\nP:3:p\nR:3:extra_payload_count=1\nM:shader_clock_bits=8;shader_clock_shift=4\n";
	/* the clock stands in the highest bits; behind the point is its payload; the last is not named */
	struct marker v[] = {{.time_cyc = 100, .value = ENTER(1)},
		{.time_cyc = 110, .value = ENTER(2) | UINT64_C(0xab) << 24},
		{.time_cyc = 120, .value = POINT(3)}, {.time_cyc = 121, .value = ENTER(2)},
		{.time_cyc = 130, .value = BOTH(1)}, {.time_cyc = 150, .value = EXIT},
		{.time_cyc = 160, .value = EXIT}, {.time_cyc = 170, .value = EXIT},
		{.time_cyc = 180, .value = POINT(9)}};
	struct shown outer[] = {{0, 60, "a"}, {80, 0, "0x24"}},
		     inner[] = {{10, 20, "b"}, {30, 20, "a"}};
	struct shown point = {20, 0, "p"};
	struct clock_domain clock = {.is_aligned = true};
	struct trace *t = new_trace();

	(void)state;
	t->clocks = &clock;
	t->n_clocks = 1;
	t->markers = v;
	t->n_markers = sizeof(v) / sizeof(v[0]);
	assert_true(put_section(t, text, sizeof(text)));
	assert_true(marker_timeline(t, NULL));
	assert_true(trace_seal(t, NULL));
	assert_int_equal(t->n_tracks, 3);
	assert_string_equal(t->tracks[0].name, "SE 0 CU 0/SIMD 0 slot 0");
	check_track(t, 0, outer, 2);
	check_track(t, 1, inner, 2);
	check_track(t, 2, &point, 1);
	trace_free(t);
}

static void test_nothing(void **state)
{
	struct incore_error e = {0};
	struct trace *t = new_trace();

	(void)state;
	assert_false(marker_timeline(t, &e));
	assert_true(err_is(&e, "no-markers"));
	incore_error_clear(&e);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
