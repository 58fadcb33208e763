/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests and device records into one model: key order, folding, choices, selection, comparison.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json_reader.h"
#include "dump/read/check.h"
#include "dump/read/diff.h"
#include "dump/read/record_read.h"
#include "dump/read/select.h"

static struct dump *parse(const char *text, struct incore_error *e)
{
	size_t n = strlen(text);
	char *p = calloc(1, n + JSON_PAD);
	struct dump *d;

	assert_non_null(p);
	memcpy(p, text, n);
	d = dump_from_bytes(p, n, "args_dump.json", e);
	free(p);
	return d;
}

static struct dump *good(const char *text)
{
	struct incore_error e = {0};
	struct dump *d = parse(text, &e);

	if (!d)
		fail_msg("%s: %s", text, e.message);
	return d;
}

static void bad(const char *text, const char *code)
{
	struct incore_error e = {0};
	struct dump *d = parse(text, &e);

	if (d || !e.code || strcmp(e.code, code) != 0)
		fail_msg("%s: expected %s, got %s", text, code, e.code ? e.code : "a dump");
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	incore_error_clear(&e);
}

/* The same record with its keys in two orders. */
static void test_dump_model_key_order(void **state)
{
	static const char *const texts[] = {
		"{\"args\": [{\"task_id\": \"0x1\", \"arg_index\": 2, \"role\": \"input\", "
		"\"stage\": "
		"\"before_dispatch\", \"kind\": \"scalar\", \"dtype\": \"INT32\", \"value\": -7}]}",
		"{\"args\": [{\"value\": -7, \"dtype\": \"int32\", \"kind\": \"scalar\", \"x\": "
		"[{}], "
		"\"stage\": \"before_dispatch\", \"role\": \"input\", \"arg_index\": 2, "
		"\"task_id\": 1}]}",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct dump *d = good(texts[i]);

		assert_int_equal(d->records.n, 1);
		assert_true(d->records.v[0].bits == 0xfffffff9 && d->records.v[0].task_id == 1);
		assert_true(d->records.v[0].flags & DUMP_EXACT);
		assert_int_equal(d->gen_first, DUMP_G8);
		dump_free(d);
	}
}

#define SCALAR(dtype, value)                                                                       \
	"{\"args\": [{\"task_id\": \"0x1\", \"arg_index\": 0, \"role\": \"input\", \"stage\": "    \
	"\"before_dispatch\", \"kind\": \"scalar\", \"dtype\": \"" dtype "\", \"value\": " value   \
	"}]}"

static void test_dump_model_scalar_bits(void **state)
{
	static const struct {
		const char *text;
		uint64_t bits;
		bool is_exact;
	} cases[] = {
		{SCALAR("FLOAT32", "0.0883883"), 0x3db504ed, false},
		{SCALAR("FLOAT32", "1.0"), 0x3f800000, false},
		{SCALAR("FLOAT32", "null"), 0x7fc00000, false},
		{SCALAR("FLOAT32", "\"$Inf\""), 0x7f800000, false},
		{SCALAR("FLOAT32", "\"-$Inf\""), 0xff800000, false},
		{SCALAR("FLOAT32", "1.0, \"raw\": \"0x0000000012345678\""), 0x12345678, true},
		{SCALAR("INT32", "-1"), 0xffffffff, true},
		{SCALAR("INT64", "-1"), UINT64_MAX, true},
		{SCALAR("INT16", "65535"), 65535, true},
		{SCALAR("UINT64", "18446744073709551615"), UINT64_MAX, true},
		{SCALAR("BOOL", "true"), 1, true},
		{SCALAR("BOOL", "false"), 0, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dump *d = good(cases[i].text);
		const struct dump_record *r = &d->records.v[0];

		if (r->bits != cases[i].bits || !!(r->flags & DUMP_EXACT) != cases[i].is_exact)
			fail_msg("%s: 0x%llx", cases[i].text, (unsigned long long)r->bits);
		dump_free(d);
	}
	bad(SCALAR("INT32", "4294967296"), "out-of-range");
	bad(SCALAR("INT32", "-2147483649"), "out-of-range");
	bad(SCALAR("UINT64", "-1"), "out-of-range");
	bad(SCALAR("UINT64", "1.5"), "bad-value");
	bad(SCALAR("UINT64", "18446744073709551616"), "out-of-range");
}

/* raw_shape and offsets: UINT16 [2, 2] in [2, 3] from (0, 1) is strides [3, 1], start 1. */
static void test_dump_model_old_view(void **state)
{
	struct dump *d = good("{\"tensors\": [{\"task_id\": \"0x1\", \"subtask_id\": 0, "
			      "\"func_id\": 4, \"role\": "
			      "\"input\", \"stage\": \"before_dispatch\", \"arg_index\": 0, "
			      "\"dtype\": \"UINT16\", "
			      "\"is_contiguous\": false, \"shape\": [2, 2], \"raw_shape\": [2, 3], "
			      "\"offsets\": [0, 1], "
			      "\"numel\": 4}]}");
	struct dump_geometry g;

	(void)state;
	dump_geometry_of(d, &d->records.v[0], &g);
	assert_true(g.rank == 2 && g.strides[0] == 3 && g.strides[1] == 1 && g.numel == 4);
	assert_int_equal(d->records.v[0].start_offset, 1);
	assert_int_equal(d->gen_first, DUMP_G2);
	dump_free(d);
}

static void test_dump_model_task_ids(void **state)
{
	uint64_t v;

	(void)state;
	assert_true(dump_task_parse("0x0000000200000009", &v) && v == 8589934601);
	assert_true(dump_task_parse("0X200000009", &v) && v == 8589934601);
	assert_true(dump_task_parse("8589934601", &v) && v == 8589934601);
	assert_true(dump_task_parse("2:9", &v) && v == 8589934601);
	assert_true(dump_task_parse("0xffffffffffffffff", &v) && v == UINT64_MAX);
	assert_false(dump_task_parse("0x10000000000000000", &v));
	assert_false(dump_task_parse("2:4294967296", &v));
	assert_false(dump_task_parse("2:9:1", &v));
	assert_false(dump_task_parse("", &v));
	assert_false(dump_task_parse("0x", &v));
	assert_false(dump_task_parse("-1", &v));
}

static void put(uint8_t *p, unsigned n, uint64_t v)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* One known value per field and layout. */
static void test_dump_model_device_layouts(void **state)
{
	struct device_record r;
	uint8_t p[DEVICE_RECORD_BYTES] = {0};

	(void)state;
	put(p, 8, 0x200000009);
	put(p + 24, 8, 96);
	put(p + 32, 8, 32);
	p[8] = 1, p[9] = 2, p[10] = 1, p[11] = 2; /* g1: subtask, role, stage, ndims */
	put(p + 12, 4, 42);
	put(p + 16, 4, 5);
	p[20] = 8, p[21] = 1, p[22] = 1;
	put(p + 64, 4, 2), put(p + 68, 4, 2);	/* shapes */
	put(p + 84, 4, 0), put(p + 88, 4, 1);	/* offsets */
	put(p + 104, 4, 2), put(p + 108, 4, 3); /* raw shapes */
	device_record_get(p, DEVICE_G1, &r);
	assert_true(r.task_id == 0x200000009 && r.subtask_id == 1 && r.role == 2 && r.stage == 1);
	assert_true(r.ndims == 2 && r.funcs[0] == 42 && r.n_funcs == 1 && r.arg_index == 5);
	assert_true(r.dtype == 8 && r.is_truncated && r.is_contiguous);
	assert_true(r.payload_offset == 96 && r.payload_size == 32);
	assert_true(
		r.shapes[1] == 2 && r.strides[0] == 3 && r.strides[1] == 1 && r.start_offset == 1);
	memset(p + 8, 0, sizeof(p) - 8);
	p[8] = 1, p[9] = 1, p[10] = 2; /* g10: role, stage, ndims */
	put(p + 12, 4, 7);
	p[16] = 9, p[18] = 1;
	put(p + 40, 8, 0x12345678);
	p[48] = 1, p[49] = 1;
	put(p + 50, 2, 3), put(p + 52, 2, 4), put(p + 54, 2, 0xffff);
	p[56] = 2;
	put(p + 64, 8, 11);
	put(p + 72, 4, 3), put(p + 76, 4, 1);
	put(p + 92, 4, 2), put(p + 96, 4, 2);
	device_record_get(p, DEVICE_G10, &r);
	assert_true(
		r.role == 1 && r.stage == 1 && r.ndims == 2 && r.arg_index == 7 && r.dtype == 9);
	assert_true(!r.is_truncated && r.is_contiguous && r.scalar == 0x12345678 && r.kind == 1);
	assert_true(r.flags == 1 && r.n_funcs == 2 && r.funcs[0] == 3 && r.funcs[1] == 4);
	assert_true(r.start_offset == 11 && r.strides[0] == 3 && r.shapes[1] == 2 && !r.is_clamped);
	device_record_get(p, DEVICE_G9, &r);
	assert_true(r.n_funcs == 1 && r.funcs[0] == 3);
	device_record_get(p, DEVICE_G4, &r);
	assert_true(r.n_funcs == 0 && r.flags == 0);
	p[10] = 200, p[56] = 200;
	device_record_get(p, DEVICE_G10, &r);
	assert_true(r.ndims == DEVICE_MAX_RANK && r.n_funcs == DEVICE_MAX_FUNCS && r.is_clamped);
}

/* Two tasks of one kernel whose slot changes its dtype, and a tensor above a scalar. */
static void test_dump_model_conflicts(void **state)
{
	static const char text[] =
		"{\"dump_args_level\": 3, \"bin_file\": null, \"args\": ["
		"{\"task_id\": 1, \"func_id\": [4], \"arg_index\": 0, \"role\": \"input\", "
		"\"stage\": "
		"\"before_dispatch\", \"dtype\": \"FLOAT32\", \"shape\": [2], \"is_contiguous\": "
		"true},"
		"{\"task_id\": 2, \"func_id\": [4], \"arg_index\": 0, \"role\": \"input\", "
		"\"stage\": "
		"\"before_dispatch\", \"dtype\": \"INT32\", \"shape\": [2], \"is_contiguous\": "
		"true},"
		"{\"task_id\": 3, \"func_id\": [5], \"arg_index\": 0, \"role\": \"input\", "
		"\"stage\": "
		"\"before_dispatch\", \"kind\": \"scalar\", \"dtype\": \"INT32\", \"value\": 1},"
		"{\"task_id\": 3, \"func_id\": [5], \"arg_index\": 1, \"role\": \"inout\", "
		"\"stage\": "
		"\"before_dispatch\", \"dtype\": \"INT32\", \"shape\": [2], \"is_contiguous\": "
		"true}]}";
	struct dump *d = good(text);
	struct dump_check check;

	(void)state;
	assert_true(dump_check(d, &check, NULL));
	assert_int_equal(dump_verdict_of(d), DUMP_DEFECTIVE);
	assert_int_equal(problems_of(&d->problems, "instances-differ"), 1);
	assert_int_equal(problems_of(&d->problems, "slot-order"), 1);
	assert_int_equal(problems_of(&d->problems, "stage-missing"), 1);
	dump_free(d);
}

/* Integers compare exactly, floats within the tolerance of their type. */
static void test_dump_model_tolerance(void **state)
{
	struct dump_diff_options own = {.rtol = -1, .atol = -1};
	struct dump *a = good(SCALAR("FLOAT32", "1.0")), *b = good(SCALAR("FLOAT32", "1.00001"));
	struct dump *c = good(SCALAR("FLOAT32", "1.01")), *i = good(SCALAR("INT32", "7"));
	struct dump *k = good(SCALAR("UINT64", "7"));
	struct dump_diff x = {0}, y = {0}, z = {0}, w = {0};

	(void)state;
	assert_true(dump_diff(a, b, &own, &x, NULL) && !dump_diff_differs(&x));
	assert_true(dump_diff(a, c, &own, &y, NULL) && dump_diff_differs(&y));
	assert_true(dump_diff(i, k, &own, &z, NULL) && !dump_diff_differs(&z));
	assert_true(dump_diff(a, i, &own, &w, NULL) && w.n_state[PAIR_OTHER_KIND] == 1);
	dump_diff_deinit(&x);
	dump_diff_deinit(&y);
	dump_diff_deinit(&z);
	dump_diff_deinit(&w);
	dump_free(a);
	dump_free(b);
	dump_free(c);
	dump_free(i);
	dump_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump_model_key_order),
		cmocka_unit_test(test_dump_model_scalar_bits),
		cmocka_unit_test(test_dump_model_old_view),
		cmocka_unit_test(test_dump_model_task_ids),
		cmocka_unit_test(test_dump_model_device_layouts),
		cmocka_unit_test(test_dump_model_conflicts),
		cmocka_unit_test(test_dump_model_tolerance),
	};

	return cmocka_run_group_tests_name("dump_model", tests, NULL, NULL);
}
