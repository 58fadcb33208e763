/* SPDX-License-Identifier: Apache-2.0 */
/* Does each level record what it says, are marks found by the full id, are incomplete tasks marked?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dump_tools.h"

#define HIGH UINT64_C(0xffffffff00000001)

static const uint64_t DATA[4] = {10, 20, 30, 40};

/* Two tensors and a scalar of two tasks; slot 1 of the first (a high ring) is marked. */
static json_t *record_at(uint32_t level)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump_writer *w;
	struct incore_dump *d;

	o.level = level;
	d = tool_open(&o);
	w = tool_attach(d);
	assert_int_equal(incore_dump_mark(d, HIGH, 1), 0);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t id = i ? 1 : HIGH;

		tool_task(w, id, 2, 1);
		assert_int_equal(tool_row(w, id, 0, DATA, 4), 0);
		assert_int_equal(tool_row(w, id, 1, DATA, 4), 0);
		assert_int_equal(tool_scalar(w, id, 2, 0x12345678), 0);
	}
	assert_int_equal(incore_dump_flush(w), 0);
	assert_int_equal(incore_dump_close(d), 0);
	return tool_manifest("args_dump.json");
}

static void test_dump_levels_off(void **state)
{
	(void)state;
	assert_null(record_at(INCORE_DUMP_OFF));
	assert_int_not_equal(access(tool_path("args.bin"), F_OK), 0);
}

static void test_dump_levels_selected(void **state)
{
	json_t *m = record_at(INCORE_DUMP_SELECTED);

	(void)state;
	assert_int_equal(tool_u64(m, "dump_args_level"), 1);
	assert_int_equal(tool_records(m), 1);
	assert_string_equal(tool_string(tool_record(m, 0), "task_id"), "0xffffffff00000001");
	assert_false(tool_flag(tool_record(m, 0), "incomplete"));
	tool_expect_payload(tool_record(m, 0), "args.bin", DATA, 32);
	json_decref(m);
}

static void test_dump_levels_full(void **state)
{
	json_t *m = record_at(INCORE_DUMP_FULL);

	(void)state;
	assert_int_equal(tool_records(m), 6);
	for (size_t i = 0; i < 6; i++) {
		json_t *r = tool_record(m, i);

		assert_false(tool_flag(r, "incomplete"));
		if (i % 3 < 2)
			tool_expect_payload(r, "args.bin", DATA, 32);
		else
			assert_int_equal(tool_u64(r, "bin_size"), 0);
	}
	json_decref(m);
}

static void test_dump_levels_hybrid(void **state)
{
	json_t *m = record_at(INCORE_DUMP_HYBRID);

	(void)state;
	assert_int_equal(tool_records(m), 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(tool_u64(tool_record(m, i), "bin_size"), i == 4 ? 32 : 0);
	assert_string_equal(tool_string(m, "bin_file"), "args.bin");
	json_decref(m);
}

static void test_dump_levels_hybrid_without_payload(void **state)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump *d;
	json_t *m;

	(void)state;
	o.level = INCORE_DUMP_HYBRID;
	d = tool_open(&o);
	assert_int_equal(tool_row(tool_attach(d), 1, 0, DATA, 4), 0);
	m = tool_close(d);
	assert_true(json_is_null(json_object_get(m, "bin_file")));
	assert_int_not_equal(access(tool_path("args.bin"), F_OK), 0);
	json_decref(m);
}

static void test_dump_levels_mark_limits(void **state)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump *d;
	json_t *m, *loss;

	(void)state;
	o.level = INCORE_DUMP_SELECTED;
	o.max_marked_tasks = 3;
	d = tool_open(&o);
	assert_int_equal(incore_dump_mark(d, 0, 64), EOVERFLOW);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(incore_dump_mark(d, i << 32, 63), 0);
	assert_int_equal(incore_dump_mark(d, 0, INCORE_DUMP_ALL_SLOTS), 0);
	assert_int_equal(incore_dump_mark(d, 77, 0), ENOSPC);
	assert_int_equal(tool_row(tool_attach(d), 0, 1000, DATA, 4), 0);
	m = tool_close(d);
	assert_int_equal(tool_records(m), 1);
	loss = json_array_get(json_object_get(m, "losses"), 0);
	assert_string_equal(tool_string(loss, "cause"), "marks-full");
	assert_string_equal(tool_string(loss, "task_id"), "0x000000000000004d");
	json_decref(m);
}

static void test_dump_levels_incomplete(void **state)
{
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d);
	uint64_t one = 1;
	struct incore_dump_tensor io = {.slot = {.task_id = 3, .dispatch_id = 3},
		.role = INCORE_DUMP_INOUT,
		.dtype = INCORE_DUMP_UINT64,
		.rank = 1,
		.data = DATA,
		.shape = &one};
	json_t *m, *list;

	(void)state;
	tool_task(w, 1, 1, 1); /* whole */
	tool_row(w, 1, 0, DATA, 1);
	tool_scalar(w, 1, 1, 0);
	tool_task(w, 2, 2, 0); /* slot 0 is missing */
	tool_row(w, 2, 1, DATA, 1);
	tool_task(w, 3, 1, 0); /* never completed */
	incore_dump_put_tensor(w, &io);
	tool_row(w, 4, 0, DATA, 1); /* never described */
	tool_task(w, 5, 3, 0);	    /* no argument at all */
	tool_task(w, 6, 1, 0);	    /* more than it has */
	tool_row(w, 6, 0, DATA, 1);
	tool_row(w, 6, 1, DATA, 1);
	m = tool_close(d);
	for (size_t i = 0; i < tool_records(m); i++) {
		json_t *r = tool_record(m, i);

		assert_int_equal(tool_flag(r, "incomplete"), tool_string(r, "task_id")[17] != '1');
	}
	assert_int_equal(tool_u64(m, "incomplete_count"), 5);
	list = json_object_get(m, "incomplete_tasks");
	assert_int_equal(json_array_size(list), 5);
	assert_int_equal(tool_u64(json_array_get(list, 3), "expected"), 3);
	assert_int_equal(tool_u64(json_array_get(list, 3), "found"), 0);
	assert_true(json_is_null(json_object_get(json_array_get(list, 2), "expected")));
	json_decref(m);
}

/* Blocks of one task: each has its own before, one after serves all. Sorted by slot, then block. */
static void test_dump_levels_blocks(void **state)
{
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d);
	uint64_t one = 1;
	json_t *m;

	(void)state;
	for (uint32_t block = 4; block-- > 0;) {
		struct incore_dump_slot slot = {
			.task_id = 9, .dispatch_id = 100 + block, .block_idx = block};
		struct incore_dump_task t = {.task_id = 9,
			.dispatch_id = 100 + block,
			.block_idx = block,
			.block_num = 4,
			.tensor_count = 1,
			.scalar_count = 1};
		struct incore_dump_tensor x = {.slot = slot,
			.role = INCORE_DUMP_INOUT,
			.dtype = INCORE_DUMP_UINT64,
			.rank = 1,
			.data = &DATA[block],
			.shape = &one};
		struct incore_dump_scalar s = {.slot = slot, .dtype = INCORE_DUMP_UINT64};

		s.slot.index = 1;
		assert_int_equal(incore_dump_put_task(w, &t), 0);
		assert_int_equal(incore_dump_put_tensor(w, &x), 0);
		assert_int_equal(incore_dump_put_scalar(w, &s), 0);
		x.stage = INCORE_DUMP_AFTER;
		if (block == 0)
			assert_int_equal(incore_dump_put_tensor(w, &x), 0);
	}
	m = tool_close(d);
	assert_int_equal(tool_records(m), 9);
	assert_null(json_object_get(m, "incomplete_count"));
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(tool_u64(tool_record(m, i), "block_idx"), i);
		assert_int_equal(tool_u64(tool_record(m, i), "block_num"), 4);
		tool_expect_payload(tool_record(m, i), "args.bin", &DATA[i], 8);
	}
	json_decref(m);
}

static void test_dump_levels_older(void **state)
{
	uint64_t shape[6] = {1, 1, 1, 1, 1, 4};
	struct incore_dump_options o = tool_options();
	struct incore_dump_tensor t = {.slot = {.task_id = 7, .index = 3},
		.dtype = INCORE_DUMP_UINT64,
		.rank = 6,
		.data = DATA,
		.shape = shape};
	struct incore_dump_writer *w;
	struct incore_dump *d;
	json_t *m, *r;

	(void)state;
	o.is_older = true;
	d = tool_open(&o);
	w = tool_attach(d);
	assert_int_equal(incore_dump_put_tensor(w, &t), EINVAL);
	assert_non_null(strstr(incore_dump_why(w), "task 0x0000000000000007 slot 3: rank above 5"));
	t.rank = 5;
	t.shape = shape + 1;
	assert_int_equal(incore_dump_put_tensor(w, &t), 0);
	assert_int_equal(incore_dump_close(d), 0);
	m = tool_manifest("tensor_dump.json");
	assert_int_equal(tool_u64(m, "total_tensors"), 1);
	assert_int_equal(tool_u64(m, "dropped_records"), 1);
	r = tool_record(m, 0);
	assert_null(json_object_get(r, "func_id"));
	assert_null(json_object_get(r, "raw"));
	tool_expect_payload(r, "tensor_dump.bin", DATA, 32);
	json_decref(m);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, tool_make_dir, tool_remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_dump_levels_off),
		CASE(test_dump_levels_selected),
		CASE(test_dump_levels_full),
		CASE(test_dump_levels_hybrid),
		CASE(test_dump_levels_hybrid_without_payload),
		CASE(test_dump_levels_mark_limits),
		CASE(test_dump_levels_incomplete),
		CASE(test_dump_levels_blocks),
		CASE(test_dump_levels_older),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
