/* SPDX-License-Identifier: Apache-2.0 */
/* Is every field of a recorded task, tensor and scalar in the manifest with the value it was given?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "args/dtype.h"
#include "dump/gather.h"
#include "dump_tools.h"

static void expect_list(json_t *record, const char *key, const uint64_t *want, size_t n)
{
	json_t *list = json_object_get(record, key);

	assert_int_equal(json_array_size(list), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(json_integer_value(json_array_get(list, i)), want[i]);
}

static struct incore_dump_tensor a_view(
	const uint16_t *data, const uint64_t *shape, const uint64_t *strides)
{
	return (struct incore_dump_tensor){.slot = {.task_id = UINT64_C(0x0000000700000009),
						   .dispatch_id = 77,
						   .block_idx = 3,
						   .index = 0,
						   .is_ambiguous = true,
						   .is_torn = true},
		.role = INCORE_DUMP_INOUT,
		.stage = INCORE_DUMP_BEFORE,
		.dtype = INCORE_DUMP_UINT16,
		.rank = 2,
		.data = data,
		.buffer_addr = UINT64_C(0xfedcba9876543210),
		.buffer_size = 12,
		.start_offset = 1,
		.shape = shape,
		.strides = strides};
}

/* The document's vector: physical 0,10,20,0,30,40, shape [2,2], strides [3,1], start 1. */
static void test_dump_record_fields(void **state)
{
	static const uint16_t physical[] = {0, 10, 20, 0, 30, 40}, logical[] = {10, 20, 30, 40};
	uint64_t shape[] = {2, 2}, strides[] = {3, 1};
	struct incore_dump_task task = {.task_id = UINT64_C(0x0000000700000009),
		.dispatch_id = 77,
		.block_idx = 3,
		.block_num = 5,
		.core_id = 21,
		.tensor_count = 1,
		.scalar_count = 1,
		.core_type = INCORE_DUMP_CORE_MIX,
		.func_count = 3,
		.func_ids = {11, INCORE_DUMP_NO_FUNC, 1023},
		.kernel = "a \"name\"\n\xc3\xa9"};
	struct incore_dump_tensor t = a_view(physical, shape, strides);
	struct incore_dump_scalar s = {
		.slot = {.task_id = t.slot.task_id, .dispatch_id = 77, .block_idx = 3, .index = 1},
		.dtype = INCORE_DUMP_INT32,
		.raw = 0xfffffffe};
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d);
	json_t *m, *r;

	(void)state;
	assert_int_equal(incore_dump_put_task(w, &task), 0);
	assert_int_equal(incore_dump_put_tensor(w, &t), 0);
	t.stage = INCORE_DUMP_AFTER;
	assert_int_equal(incore_dump_put_tensor(w, &t), 0);
	assert_int_equal(incore_dump_put_scalar(w, &s), 0);
	m = tool_close(d);
	assert_string_equal(tool_string(m, "schema"), "incore.args_dump/1");
	assert_int_equal(tool_u64(m, "dump_args_level"), 2);
	assert_int_equal(tool_u64(m, "total_args"), 3);
	assert_int_equal(tool_u64(m, "before_dispatch"), 2);
	assert_int_equal(tool_u64(m, "after_completion"), 1);
	assert_int_equal(tool_u64(m, "input_args"), 1);
	assert_int_equal(tool_u64(m, "inout_args"), 2);
	r = tool_record(m, 0);
	assert_string_equal(tool_string(r, "task_id"), "0x0000000700000009");
	expect_list(r, "func_id", (const uint64_t[]){11, (uint64_t)-1, 1023}, 3);
	assert_int_equal(tool_u64(r, "arg_index"), 0);
	assert_string_equal(tool_string(r, "role"), "inout");
	assert_string_equal(tool_string(r, "stage"), "before_dispatch");
	assert_string_equal(tool_string(r, "kind"), "tensor");
	assert_string_equal(tool_string(r, "dtype"), "UINT16");
	assert_false(tool_flag(r, "is_contiguous"));
	expect_list(r, "shape", shape, 2);
	expect_list(r, "strides", strides, 2);
	assert_int_equal(tool_u64(r, "start_offset"), 1);
	assert_int_equal(tool_u64(r, "numel"), 4);
	assert_true(tool_flag(r, "arg_index_ambiguous"));
	assert_true(tool_flag(r, "torn"));
	assert_false(tool_flag(r, "incomplete"));
	assert_int_equal(tool_u64(r, "dispatch_id"), 77);
	assert_int_equal(tool_u64(r, "block_idx"), 3);
	assert_int_equal(tool_u64(r, "block_num"), 5);
	assert_string_equal(tool_string(r, "core_type"), "mix");
	assert_int_equal(tool_u64(r, "core_id"), 21);
	assert_string_equal(tool_string(r, "kernel"), task.kernel);
	assert_int_equal(tool_u64(r, "tensor_count"), 1);
	assert_int_equal(tool_u64(r, "scalar_count"), 1);
	assert_string_equal(tool_string(r, "buffer_addr"), "0xfedcba9876543210");
	assert_int_equal(tool_u64(r, "buffer_size"), 12);
	assert_string_equal(tool_string(r, "crc32c"), "0x1768ab44");
	tool_expect_payload(r, "args.bin", logical, sizeof(logical));
	r = tool_record(m, 1);
	assert_string_equal(tool_string(r, "kind"), "scalar");
	assert_int_equal(json_integer_value(json_object_get(r, "value")), -2);
	assert_string_equal(tool_string(r, "raw"), "0x00000000fffffffe");
	assert_string_equal(tool_string(tool_record(m, 2), "stage"), "after_completion");
	json_decref(m);
}

static void test_dump_record_scalars(void **state)
{
	/* dtype, raw, the value as JSON */
	static const struct {
		uint8_t dtype;
		uint64_t raw;
		const char *value;
	} cases[] = {
		{INCORE_DUMP_FLOAT32, 0x3db504f3, "0.0883883461"},
		{INCORE_DUMP_FLOAT32, 0x3f800000, "1.0"},
		{INCORE_DUMP_FLOAT32, 0x7fc00000, "null"},
		{INCORE_DUMP_FLOAT32, 0x7f800000, "\"$Inf\""},
		{INCORE_DUMP_FLOAT32, 0xff800000, "\"-$Inf\""},
		{INCORE_DUMP_INT32, 0xffffffff, "-1"},
		{INCORE_DUMP_UINT32, 0xffffffff, "4294967295"},
		{INCORE_DUMP_INT64, UINT64_C(0x8000000000000000), "-9223372036854775808"},
		{INCORE_DUMP_INT16, 0xffff, "65535"},
		{INCORE_DUMP_BOOL, 1, "true"},
		{INCORE_DUMP_BOOL, 0, "false"},
		{INCORE_DUMP_BFLOAT16, 0x3f80, "16256"},
		{INCORE_DUMP_UINT64, 1065353216, "1065353216"},
	};
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d);
	char *text, want[128];
	size_t n = sizeof(cases) / sizeof(cases[0]);
	FILE *f;

	(void)state;
	tool_task(w, 1, 0, (uint32_t)n);
	for (uint32_t i = 0; i < n; i++) {
		struct incore_dump_scalar s = {.slot = {.task_id = 1, .dispatch_id = 1, .index = i},
			.dtype = cases[i].dtype,
			.raw = cases[i].raw};

		assert_int_equal(incore_dump_put_scalar(w, &s), 0);
	}
	assert_int_equal(tool_scalar(w, 1, 99, UINT64_MAX), 0);
	assert_int_equal(incore_dump_close(d), 0);
	f = fopen(tool_path("args_dump.json"), "r");
	text = calloc(1, 100000); /* as text: values beyond int64 are not jansson's */
	assert_true(fread(text, 1, 99999, f) > 0);
	fclose(f);
	for (size_t i = 0; i < n; i++) {
		snprintf(want, sizeof(want), "\"dtype\": \"%s\", \"value\": %s, ",
			dtype_name(cases[i].dtype), cases[i].value);
		if (!strstr(text, want))
			print_error("not found: %s\n", want);
		assert_non_null(strstr(text, want));
		snprintf(want, sizeof(want), "\"raw\": \"0x%016llx\"",
			(unsigned long long)cases[i].raw);
		assert_non_null(strstr(text, want));
	}
	assert_non_null(strstr(text, "\"value\": 18446744073709551615, "));
	free(text);
}

/* All dtypes, rank 0 to 8, with and without strides, empty ones too. */
static void test_dump_record_dtypes_and_ranks(void **state)
{
	uint8_t data[8 * 512];
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d);
	json_t *m;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	for (uint8_t dtype = 0; dtype < DTYPE_COUNT; dtype++)
		for (uint8_t rank = 0; rank <= 8; rank++) {
			uint64_t shape[8] = {2, 2, 2, 2, 2, 2, 2, 2};
			struct incore_dump_tensor t = {.slot = {.task_id = dtype, .index = rank},
				.dtype = dtype,
				.rank = rank,
				.data = data,
				.shape = shape};

			assert_int_equal(incore_dump_put_tensor(w, &t), 0);
			t.slot.index = 10u + rank;
			shape[rank / 2] = 0;
			t.data = rank ? NULL : data;
			assert_int_equal(incore_dump_put_tensor(w, &t), 0);
		}
	m = tool_close(d);
	assert_int_equal(tool_records(m), DTYPE_COUNT * 18);
	for (size_t i = 0; i < tool_records(m); i++) {
		json_t *r = tool_record(m, i);
		unsigned dtype = (unsigned)i / 18, slot = (unsigned)tool_u64(r, "arg_index");
		uint64_t numel = slot < 10 ? UINT64_C(1) << slot : slot == 10;

		assert_string_equal(tool_string(r, "dtype"), dtype_name(dtype));
		assert_int_equal(tool_u64(r, "numel"), numel);
		if (numel)
			assert_true(tool_flag(r, "is_contiguous"));
		tool_expect_payload(r, "args.bin", data, (size_t)numel * dtype_bytes(dtype));
	}
	json_decref(m);
}

static void test_dump_record_refusals(void **state)
{
	uint64_t shape[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2}, huge[2] = {UINT64_MAX, UINT64_MAX};
	uint64_t data[4] = {0}, zero[2] = {0, 1};
	struct incore_dump_tensor good = {.slot = {.task_id = 5, .index = 1},
		.dtype = INCORE_DUMP_UINT64,
		.rank = 2,
		.data = data,
		.buffer_size = sizeof(data),
		.shape = shape};
	struct incore_dump_tensor bad[8];
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d);
	json_t *m, *loss;

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].dtype = 15;
	bad[1].rank = 9;
	bad[2].shape = huge;
	bad[3].strides = zero;
	bad[4].start_offset = 1; /* one element beyond the buffer */
	bad[5].data = NULL;
	bad[6].stage = INCORE_DUMP_AFTER; /* of an input */
	bad[7].start_offset = UINT64_MAX;
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(incore_dump_put_tensor(w, &bad[i]), EINVAL);
		assert_non_null(strstr(incore_dump_why(w), "task 0x0000000000000005 slot 1: "));
	}
	assert_int_equal(incore_dump_put_tensor(w, &good), 0);
	m = tool_close(d);
	assert_int_equal(tool_records(m), 1);
	assert_int_equal(tool_u64(m, "dropped_records"), 8);
	assert_int_equal(json_array_size(json_object_get(m, "losses")), 1);
	loss = json_array_get(json_object_get(m, "losses"), 0);
	assert_string_equal(tool_string(loss, "cause"), "refused");
	assert_string_equal(tool_string(loss, "task_id"), "0x0000000000000005");
	assert_int_equal(tool_u64(loss, "records"), 8);
	json_decref(m);
}

/* A buffer of 6 GiB that is never touched but at its end, and one that is larger than the budget.
 */
static void test_dump_record_large_buffers(void **state)
{
	uint64_t bytes = UINT64_C(6) << 30, shape[2] = {3, 5}, strides[2] = {7, 1};
	uint8_t *big = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct incore_dump_tensor t = {.dtype = INCORE_DUMP_UINT8,
		.rank = 2,
		.data = big,
		.buffer_size = bytes,
		.start_offset = bytes - 19,
		.shape = shape,
		.strides = strides};
	struct incore_dump_options o = tool_options();
	struct incore_dump *d;
	struct incore_dump_writer *w;
	uint8_t want[15], zeros[1000] = {0};
	json_t *m;

	(void)state;
	assert_ptr_not_equal(big, MAP_FAILED);
	o.max_payload_bytes = 1000;
	d = tool_open(&o);
	w = tool_attach(d);
	for (unsigned i = 0; i < 15; i++)
		big[bytes - 19 + i / 5 * 7 + i % 5] = want[i] = (uint8_t)(i + 1);
	assert_int_equal(incore_dump_put_tensor(w, &t), 0);
	t.slot.index = 1;
	t.rank = 1;
	t.strides = NULL;
	t.start_offset = 0;
	t.shape = &bytes;
	assert_int_equal(incore_dump_put_tensor(w, &t), 0);
	m = tool_close(d);
	assert_int_equal(tool_u64(m, "truncated_args"), 1);
	tool_expect_payload(tool_record(m, 0), "args.bin", want, sizeof(want));
	assert_int_equal(tool_u64(tool_record(m, 0), "start_offset"), bytes - 19);
	assert_true(tool_flag(tool_record(m, 1), "truncated"));
	assert_int_equal(tool_u64(tool_record(m, 1), "full_size"), bytes);
	assert_int_equal(tool_u64(tool_record(m, 1), "numel"), bytes);
	tool_expect_payload(tool_record(m, 1), "args.bin", zeros, sizeof(zeros));
	json_decref(m);
	munmap(big, bytes);
}

/* Payload beyond the arena comes in pieces; without waiting it is cut at half the arena. */
static void test_dump_record_beyond_the_arena(void **state)
{
	uint64_t n = 100000, *data = calloc(n * 2, 8), *dense = calloc(n, 8);
	uint64_t shape[2] = {n / 4, 4}, strides[2] = {7, 1};
	struct incore_dump_options o = tool_options();
	struct incore_dump_tensor t = {.slot = {.index = 1},
		.dtype = INCORE_DUMP_UINT64,
		.rank = 2,
		.data = data,
		.buffer_size = n * 16,
		.shape = shape,
		.strides = strides};
	struct incore_dump *d = tool_open(&o);
	struct incore_dump_writer *w = tool_attach(d);
	json_t *m;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		data[i / 4 * 7 + i % 4] = dense[i] = i * i;
	assert_int_equal(tool_row(w, 0, 0, dense, n), 0);
	assert_int_equal(incore_dump_put_tensor(w, &t), 0);
	assert_int_equal(tool_row(w, 0, 2, dense, 3), 0);
	m = tool_close(d);
	tool_expect_payload(tool_record(m, 0), "args.bin", dense, n * 8);
	tool_expect_payload(tool_record(m, 1), "args.bin", dense, n * 8);
	tool_expect_payload(tool_record(m, 2), "args.bin", dense, 24);
	json_decref(m);
	tool_remove_dir(NULL);
	tool_make_dir(NULL);
	o.wait_ms = 0;
	d = tool_open(&o);
	w = tool_attach(d);
	assert_int_equal(tool_row(w, 0, 0, dense, n), 0);
	m = tool_close(d);
	assert_true(tool_flag(tool_record(m, 0), "truncated"));
	assert_int_equal(tool_u64(tool_record(m, 0), "full_size"), n * 8);
	tool_expect_payload(tool_record(m, 0), "args.bin", dense, 32768);
	json_decref(m);
	free(dense);
	free(data);
}

/* Random views against the definition, in ranges as pieces ask for them. */
static void test_dump_record_gather(void **state)
{
	static uint8_t buffer[1 << 16];
	uint8_t got[4096], want[4096];
	unsigned seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (uint8_t)(rand_r(&seed) >> 5);
	for (unsigned round = 0; round < 2000; round++) {
		struct gather_view v = {.base = buffer,
			.elem_bytes = 1u << rand_r(&seed) % 4,
			.rank = (unsigned)rand_r(&seed) % 5,
			.start = (unsigned)rand_r(&seed) % 9};
		struct gather_view simple;
		uint64_t end, from, n;

		for (unsigned k = 0; k < v.rank; k++) {
			v.shape[k] = (unsigned)rand_r(&seed) % 4 + 1;
			v.strides[k] = (unsigned)rand_r(&seed) % 9 + 1;
		}
		if (round % 3 == 0)
			assert_true(view_make_dense(&v));
		assert_true(view_measure(&v, &end));
		for (uint64_t i = 0; i < v.numel; i++) {
			uint64_t rest = i, at = v.start;

			for (unsigned k = v.rank; k-- > 0; rest /= v.shape[k])
				at += rest % v.shape[k] * v.strides[k];
			assert_true(at < end);
			memcpy(want + i * v.elem_bytes, buffer + at * v.elem_bytes, v.elem_bytes);
		}
		from = (unsigned)rand_r(&seed) % v.numel;
		n = (unsigned)rand_r(&seed) % (v.numel - from) + 1;
		simple = v;
		view_simplify(&simple);
		view_gather(&simple, from, n, got);
		assert_memory_equal(got, want + from * v.elem_bytes, n * v.elem_bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_dump_record_fields, tool_make_dir, tool_remove_dir),
		cmocka_unit_test_setup_teardown(
			test_dump_record_scalars, tool_make_dir, tool_remove_dir),
		cmocka_unit_test_setup_teardown(
			test_dump_record_dtypes_and_ranks, tool_make_dir, tool_remove_dir),
		cmocka_unit_test_setup_teardown(
			test_dump_record_refusals, tool_make_dir, tool_remove_dir),
		cmocka_unit_test_setup_teardown(
			test_dump_record_large_buffers, tool_make_dir, tool_remove_dir),
		cmocka_unit_test_setup_teardown(
			test_dump_record_beyond_the_arena, tool_make_dir, tool_remove_dir),
		cmocka_unit_test(test_dump_record_gather),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
