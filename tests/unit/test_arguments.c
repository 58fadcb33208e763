/* SPDX-License-Identifier: Apache-2.0 */
/* test_arguments.c: a dumped task back in slots and buffers, and what a user may change of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "args/value.h"
#include "args/words.h"
#include "base/file.h"
#include "dump/read/task_args.h"
#include "dump/read/values.h"
#include "replay/source/classify.h"

static const struct {
	unsigned dtype;
	const char *text;
	bool ok;
	uint64_t bits;
} VALUES[] = {
	{DTYPE_FLOAT32, "1.0", true, 0x3f800000},
	{DTYPE_FLOAT32, "nan", true, 0x7fc00000},
	{DTYPE_FLOAT32, "-inf", true, 0xff800000},
	{DTYPE_FLOAT32, "0x40000000", true, 0x40000000},
	{DTYPE_FLOAT32, "0x140000000", false, 0},
	{DTYPE_FLOAT32, "1.0x", false, 0},
	{DTYPE_FLOAT16, "1", true, 0x3c00},
	{DTYPE_FLOAT16, "65519", true, 0x7bff},
	{DTYPE_FLOAT16, "65520", true, 0x7c00},
	{DTYPE_FLOAT16, "6e-8", true, 0x0001},
	{DTYPE_FLOAT16, "-6.1035156e-05", true, 0x8400},
	{DTYPE_BFLOAT16, "1.00390625", true, 0x3f80}, /* half way: to even */
	{DTYPE_BFLOAT16, "-2", true, 0xc000},
	{DTYPE_INT8, "-128", true, 0x80},
	{DTYPE_INT8, "-129", false, 0},
	{DTYPE_INT8, "127", true, 0x7f},
	{DTYPE_INT8, "128", false, 0},
	{DTYPE_INT32, "-1", true, 0xffffffff},
	{DTYPE_INT64, "-1", true, UINT64_MAX},
	{DTYPE_UINT8, "256", false, 0},
	{DTYPE_UINT64, "18446744073709551615", true, UINT64_MAX},
	{DTYPE_UINT64, "f32:1.0", true, 0x3f800000},
	{DTYPE_UINT64, "1.5", false, 0},
	{DTYPE_BOOL, "true", true, 1},
	{DTYPE_BOOL, "0", true, 0},
	{DTYPE_BOOL, "2", false, 0},
	{DTYPE_FP8E4M3FN, "1.0", false, 0},
	{DTYPE_FP8E4M3FN, "0x38", true, 0x38},
	{DTYPE_UNKNOWN, "1", false, 0},
};

static void test_arguments_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(VALUES) / sizeof(*VALUES); i++) {
		uint64_t bits = 0;
		bool ok = arg_value_parse(VALUES[i].dtype, str_of(VALUES[i].text), &bits);

		if (ok != VALUES[i].ok || (ok && bits != VALUES[i].bits))
			fail_msg("%s %s: %d 0x%llx", dtype_name(VALUES[i].dtype), VALUES[i].text,
				ok, (unsigned long long)bits);
	}
}

/* Every half and bfloat survives the way through a float. */
static void test_arguments_half_round_trip(void **state)
{
	(void)state;
	for (uint32_t u = 0; u < 65536; u++) {
		bool is_nan = (u & 0x7c00) == 0x7c00 && u & 0x3ff;

		if (!is_nan)
			assert_int_equal(half_bits(half_to_float((uint16_t)u)), u);
		if (!((u & 0x7f80) == 0x7f80 && u & 0x7f))
			assert_int_equal(bfloat_bits(bfloat_to_float((uint16_t)u)), u);
	}
}

static struct dump *open_task(const char *name, uint64_t id, uint32_t *t)
{
	struct task_query q = {.has_task = true, .task = id, .block = DUMP_NONE};
	struct incore_error e = {0};
	char path[4096];
	struct dump *d;

	snprintf(path, sizeof(path), "%s/dumps/%s", getenv("INCORE_TEST_DATA"), name);
	d = dump_open(path, false, &e);
	if (!d || !task_find_one(d, &q, t, &e))
		fail_msg("%s: %s", path, e.message);
	return d;
}

static void test_arguments_from_task(void **state)
{
	struct incore_error e = {0};
	struct args a;
	uint32_t t;
	struct dump *d = open_task("own", 0x200000003, &t);
	const struct arg *s;

	(void)state;
	args_init(&a);
	if (!task_args_load(&a, d, t, DUMP_NONE, false, &e))
		fail_msg("%s", e.message);
	assert_int_equal(a.rows.n, 1);
	assert_int_equal(a.block_count, 1);
	s = a.slots;
	for (unsigned i = 0; i < ARG_SLOTS; i++)
		assert_int_equal(s[i].is_used, i < 9);
	assert_true(s[3].is_tensor && s[3].is_read && s[3].is_written && s[3].n_dims == 1);
	assert_int_equal(s[3].shape[0], 16);
	assert_false(s[7].is_tensor);
	assert_int_equal(s[7].bits, 1);
	assert_true(a.buffers.v[s[3].buffer].is_known);
	assert_int_equal(a.buffers.v[s[3].buffer].n, 1024);
	assert_true(args_cover(
		&a, kernel_slots_read(STR("f(args[0], args[8], args[48]);")), "k.cpp", &e));
	assert_false(args_cover(&a, kernel_slots_read(STR("f(args[9], args[12]);")), "k.cpp", &e));
	assert_non_null(strstr(e.message, "args[9, 12], and nothing supplies them"));
	incore_error_clear(&e);
	args_deinit(&a);
	dump_free(d);
}

static const struct {
	const char *word, *error; /* NULL: taken */
} SETS[] = {
	{"7=0", NULL},
	{"8=0x1", NULL},
	{"0=2.5", NULL},
	{"48=1", "contexts"},
	{"50=1", "0 to 47"},
	{"-1=1", "SLOT=VALUE"},
	{"7", "SLOT=VALUE"},
	{"20=1", "no such slot"},
	{"0=abc", "no value of type FLOAT32"},
};

static void test_arguments_set(void **state)
{
	struct incore_error e = {0};
	struct args a;
	uint32_t t;
	struct dump *d = open_task("own", 0x200000003, &t);
	float f;

	(void)state;
	args_init(&a);
	assert_true(task_args_load(&a, d, t, DUMP_NONE, false, &e));
	assert_true(args_need_restored(&a, 0, &e));
	for (size_t i = 0; i < sizeof(SETS) / sizeof(*SETS); i++) {
		bool ok = args_set(&a, SETS[i].word, &e);

		if (ok != !SETS[i].error || (!ok && !strstr(e.message, SETS[i].error)))
			fail_msg("%s: %s", SETS[i].word, ok ? "taken" : e.message);
	}
	assert_int_equal(a.rows.v[0].bits[7], 0);
	memcpy(&f, a.buffers.v[a.slots[0].buffer].p + 60, 4);
	assert_true(f == 2.5f);
	assert_false(args_need_restored(&a, 0, &e));
	assert_non_null(strstr(e.message, "also set"));
	assert_false(args_need_restored(&a, 7, &e));
	assert_false(args_need_restored(&a, 30, &e));
	incore_error_clear(&e);
	args_deinit(&a);
	dump_free(d);
}

static void expect_file(const char *dir, const char *name, const char *part)
{
	struct incore_error e = {0};
	struct file_data f = {0};
	char *path = path_join(dir, name);

	if (!file_load(&f, path, &e))
		fail_msg("%s", e.message);
	if (!memmem(f.data, f.size, part, strlen(part)))
		fail_msg("%s: no %s in %.*s", name, part, (int)f.size, (const char *)f.data);
	file_unload(&f);
	unlink(path);
	mem_free(path);
}

static void test_arguments_write(void **state)
{
	char dir[] = "/tmp/incore_arguments_XXXXXX";
	struct incore_error e = {0};
	struct args a;
	uint32_t t;
	struct dump *d = open_task("g11", 0x100000001, &t);
	char *args_dir;

	(void)state;
	assert_non_null(mkdtemp(dir));
	args_init(&a);
	assert_false(task_args_load(&a, d, t, DUMP_NONE, false, &e)); /* slot 2 is ambiguous */
	assert_non_null(strstr(e.message, "slot 2"));
	args_deinit(&a);
	args_init(&a);
	assert_true(task_args_load(&a, d, t, DUMP_NONE, true, &e));
	assert_true(a.is_forced && a.remarks.n > 0);
	if (!args_write(&a, dir, &e))
		fail_msg("%s", e.message);
	assert_int_equal(a.rows.n, 1);
	expect_file(dir, "args.json", "\"strides\": [3, 1]");
	for (size_t i = 0; i < a.buffers.n; i++)
		if (a.buffers.v[i].file)
			expect_file(dir, a.buffers.v[i].file, "");
	args_dir = path_join(dir, "args");
	assert_int_equal(rmdir(args_dir), 0);
	assert_int_equal(rmdir(dir), 0);
	mem_free(args_dir);
	incore_error_clear(&e);
	args_deinit(&a);
	dump_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_values),
		cmocka_unit_test(test_arguments_half_round_trip),
		cmocka_unit_test(test_arguments_from_task),
		cmocka_unit_test(test_arguments_set),
		cmocka_unit_test(test_arguments_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
