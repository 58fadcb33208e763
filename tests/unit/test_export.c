/* SPDX-License-Identifier: Apache-2.0 */
/* test_export.c: what comes out is well-formed and complete: parsed again with another library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "codec/csv.h"
#include "export/export.h"
#include "random_trace.h"

static char path[] = "/tmp/incore-test-export-XXXXXX";

static struct trace *make(uint64_t seed)
{
	return random_trace_new(&(struct random_shape){.seed = seed,
		.n_tracks = 7,
		.max_slices = 120,
		.has_bad_tracks = true,
		.clock_quantum = 4});
}

static void run(const struct trace *t, const char *format, struct export_result *r)
{
	struct export_options o = {0};
	struct incore_error e = {0};
	int fd;

	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	if (!export_run(t, export_find(format), path, &o, r, &e))
		fail_msg("%s: %s", format, e.message);
}

static json_t *parse(void)
{
	json_error_t why;
	json_t *j = json_load_file(
		path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &why);

	if (!j)
		fail_msg("%d:%d: %s", why.line, why.column, why.text);
	unlink(path);
	return j;
}

static void test_export_json(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct trace *t = make(seed);
		struct export_result r;
		size_t i, n_slices = 0, n_states = 0;
		json_t *j, *k;

		run(t, "json", &r);
		j = parse();
		assert_string_equal(
			json_string_value(json_object_get(j, "schema")), "incore.trace/1");
		assert_int_equal(json_array_size(json_object_get(j, "code")), t->n_code);
		assert_int_equal(json_array_size(json_object_get(j, "occupancy")), t->n_occupancy);
		assert_int_equal(
			json_array_size(json_object_get(j, "notes")), t->n_notes + r.n_notes);
		assert_int_equal(json_array_size(json_object_get(j, "tracks")), r.n_tracks);
		json_array_foreach(json_object_get(j, "tracks"), i, k)
		{
			n_slices += json_array_size(json_object_get(k, "slices"));
			n_states += json_array_size(json_object_get(k, "states"));
		}
		assert_int_equal(n_slices, r.n_slices);
		assert_int_equal(n_states, r.n_states);
		assert_int_equal(r.n_tracks + r.n_failed, t->n_tracks);
		json_decref(j);
		export_result_deinit(&r);
		trace_free(t);
	}
}

/* X events of a lane must not overlap; every lane has a name; flows come in pairs. */
static void check_events(json_t *events, uint64_t *n_slices, uint64_t *n_flows)
{
	double end[64] = {0};
	bool is_named[64] = {0};
	json_t *v;
	size_t i;

	*n_slices = *n_flows = 0;
	json_array_foreach(events, i, v)
	{
		const char *ph = json_string_value(json_object_get(v, "ph"));
		const char *name = json_string_value(json_object_get(v, "name"));
		double ts = json_number_value(json_object_get(v, "ts"));
		int tid = (int)json_number_value(json_object_get(v, "tid"));

		assert_true(tid >= 0 && tid < 64);
		if (*ph == 'M' && strcmp(name, "thread_name") == 0)
			is_named[tid] = true;
		*n_flows += *ph == 's';
		if (*ph != 'X')
			continue;
		*n_slices += tid % 2;
		assert_true(is_named[tid]);
		assert_true(ts >= end[tid] - 1e-9);
		end[tid] = ts + json_number_value(json_object_get(v, "dur"));
	}
}

static void test_export_chrome(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct trace *t = make(seed);
		struct export_result r;
		uint64_t n_slices, n_flows;
		json_t *j;

		run(t, "chrome", &r);
		j = parse();
		check_events(json_object_get(j, "traceEvents"), &n_slices, &n_flows);
		assert_int_equal(n_slices, r.n_slices);
		assert_int_equal(n_flows, r.n_links);
		json_decref(j);
		export_result_deinit(&r);
		trace_free(t);
	}
}

static void test_export_csv(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 6; seed++) {
		struct trace *t = make(seed);
		struct export_result r;
		struct file_data f = {0};
		struct incore_error e = {0};
		struct csv_reader c;
		uint64_t n = 0;
		bool at_end = false;

		run(t, "csv", &r);
		assert_true(file_load(&f, path, &e));
		unlink(path);
		csv_init(&c, f.data, f.size, path);
		assert_true(csv_header(&c, &e));
		assert_int_equal(c.header.n, 17);
		while (csv_row(&c, &at_end, &e)) {
			assert_int_equal(c.fields.n, 17);
			n++;
		}
		assert_true(at_end);
		assert_int_equal(n, r.n_slices);
		assert_true(r.n_cuts > 0);
		csv_deinit(&c);
		file_unload(&f);
		export_result_deinit(&r);
		trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export_json),
		cmocka_unit_test(test_export_chrome),
		cmocka_unit_test(test_export_csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
