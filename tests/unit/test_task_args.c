/* SPDX-License-Identifier: Apache-2.0 */
/* A task as arguments: united stages, missing and bad slots, shared buffers, the way back through a
 * strided view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json_reader.h"
#include "dump/read/task_args.h"

static struct dump *parse(const char *text)
{
	size_t n = strlen(text);
	char *p = calloc(1, n + JSON_PAD);
	struct incore_error e = {0};
	struct dump *d;

	assert_non_null(p);
	memcpy(p, text, n);
	d = dump_from_bytes(p, n, "args_dump.json", &e);
	free(p);
	if (!d)
		fail_msg("%s: %s", text, e.message);
	return d;
}

static struct dump *open_data(const char *name)
{
	struct incore_error e = {0};
	char path[4096];
	struct dump *d;

	snprintf(path, sizeof(path), "%s/dumps/%s", getenv("INCORE_TEST_DATA"), name);
	d = dump_open(path, false, &e);
	if (!d)
		fail_msg("%s: %s", path, e.message);
	return d;
}

static void args_of(struct task_args *a, struct dump *d, uint64_t id)
{
	struct task_query q = {.has_task = true, .task = id, .block = DUMP_NONE};
	struct incore_error e = {0};
	uint32_t t;

	if (!task_find_one(d, &q, &t, &e) || !task_args_init(a, d, t, DUMP_NONE, &e))
		fail_msg("task 0x%llx: %s", (unsigned long long)id, e.message);
}

static void refused(const struct task_args *a, const char *code, const char *text)
{
	struct incore_error e = {0};

	assert_false(task_args_refuse(a, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_string_equal(e.code, code);
	if (!strstr(e.message, text))
		fail_msg("'%s' is not in '%s'", text, e.message);
	incore_error_clear(&e);
}

#define HEAD "{\"task_id\": \"0x7\", \"func_id\": [4], \"role\": \"input\", "
#define BEFORE "\"stage\": \"before_dispatch\", "
#define SCALAR_AT(slot, value)                                                                     \
	HEAD BEFORE "\"kind\": \"scalar\", \"dtype\": \"UINT64\", \"arg_index\": " #slot           \
		    ", \"value\": " #value "}"
#define TENSOR_AT(slot, dtype, shape, strides)                                                     \
	HEAD BEFORE "\"kind\": \"tensor\", \"dtype\": \"" dtype "\", \"arg_index\": " #slot        \
		    ", \"shape\": " shape ", \"strides\": " strides "}"

/* Slots out of order, context slots, a stage nobody knows. */
static void test_task_args_slots(void **state)
{
	struct dump *d = parse("{\"bin_file\": null, \"args\": [" TENSOR_AT(
		2, "FLOAT32", "[16]", "[1]") ", " TENSOR_AT(0, "BFLOAT16", "[16, 16]",
		"[16, 1]") ", " SCALAR_AT(3, 9) ", " SCALAR_AT(48, 1) ", " SCALAR_AT(49,
		2) ", " HEAD
		   "\"stage\": \"after_dispatch\", \"kind\": \"tensor\", \"dtype\": \"FLOAT32\", "
		   "\"arg_index\": 5, \"shape\": [1], \"strides\": [1]}]}");
	struct task_args a;

	(void)state;
	args_of(&a, d, 7);
	assert_int_equal(a.args.n, 3);
	assert_int_equal(a.args.v[0].slot, 0);
	assert_int_equal(a.args.v[1].slot, 2);
	assert_int_equal(a.args.v[2].slot, 3);
	assert_int_equal(a.args.v[2].is_tensor, false);
	assert_int_equal(a.args.v[2].bits, 9);
	assert_int_equal(a.args.v[2].buffer, DUMP_NONE);
	assert_true(a.args.v[0].flags == TASK_ARG_NO_BYTES && !a.args.v[0].bytes);
	assert_int_equal(a.ignored.n, 1);
	assert_int_equal(a.ignored.v[0], 5);
	assert_int_equal(a.missing.n, 1);
	assert_int_equal(a.missing.v[0], 1);
	assert_int_equal(a.n_unknown, 2);
	assert_int_equal(a.buffers.n, 2);
	assert_int_equal(a.buffers.v[0].n, 1024);
	assert_null(task_arg_find(&a, 48));
	refused(&a, "missing-slot", "task 0x0000000000000007: slot 1 is missing");
	task_args_deinit(&a);
	dump_free(d);
}

static void test_task_args_slot_50(void **state)
{
	struct dump *d = parse("{\"args\": [" SCALAR_AT(50, 1) "]}");
	struct incore_error e = {0};
	struct task_args a;

	(void)state;
	assert_false(task_args_init(&a, d, 0, DUMP_NONE, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_non_null(strstr(e.message, "slot 50"));
	incore_error_clear(&e);
	task_args_deinit(&a);
	dump_free(d);
}

struct flag_case {
	const char *keys;
	uint32_t flags;
	const char *text;
};

/* Each thing that stands in the way is named with task and slot. */
static void test_task_args_flags(void **state)
{
	static const struct flag_case cases[] = {
		{"\"truncated\": true", TASK_ARG_TRUNCATED, "cut short"},
		{"\"overwritten\": true", TASK_ARG_OVERWRITTEN, "overwritten"},
		{"\"payload_lost\": true", TASK_ARG_LOST, "lost"},
		{"\"arg_index_ambiguous\": true", TASK_ARG_AMBIGUOUS | TASK_ARG_NO_BYTES, "twice"},
		{"\"bin_size\": 64, \"bin_offset\": 0", TASK_ARG_LOST, "lost"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct task_args a;
		struct dump *d;

		snprintf(text, sizeof(text),
			"{\"args\": [" HEAD BEFORE
			"\"kind\": \"tensor\", \"dtype\": \"FLOAT32\", \"arg_index\": 0, "
			"\"shape\": [16], \"strides\": [1], %s}]}",
			cases[i].keys);
		d = parse(text);
		args_of(&a, d, 7);
		if (a.args.v[0].flags != cases[i].flags)
			fail_msg("%s: flags %x, not %x", text, a.args.v[0].flags, cases[i].flags);
		refused(&a, "bad-slot", cases[i].text);
		refused(&a, "bad-slot", "task 0x0000000000000007 slot 0");
		task_args_deinit(&a);
		dump_free(d);
	}
}

/* Copies that disagree, and a slot that is read but was only recorded afterwards. */
static void test_task_args_conflicts(void **state)
{
	struct dump *d = parse("{\"args\": [" TENSOR_AT(0, "FLOAT32", "[4]", "[1]") ", " TENSOR_AT(
		0, "INT32", "[4]", "[1]") ", " HEAD "\"stage\": \"after_completion\", \"kind\": "
					  "\"tensor\", \"dtype\": \"INT8\", "
					  "\"arg_index\": 1, \"shape\": [4], \"strides\": [1]}]}");
	struct task_args a;

	(void)state;
	args_of(&a, d, 7);
	assert_true(a.args.v[0].flags & TASK_ARG_CONFLICT);
	assert_true(a.args.v[1].flags & TASK_ARG_NO_BEFORE);
	refused(&a, "bad-slot", "disagree");
	task_args_deinit(&a);
	dump_free(d);
}

/* Our own files state buffers, counts, blocks and dispatches. */
static void test_task_args_own(void **state)
{
	struct dump *d = open_data("own");
	const int32_t up = 3, nobody[] = {0, 1};
	const struct task_where last = {8, 1}, never = {8, 7};
	struct task_query q = {.funcs = &up, .n_funcs = 1, .block = DUMP_NONE};
	struct incore_error e = {0};
	const struct arg *arg;
	struct task_args a;
	uint32_t t;

	(void)state;
	assert_true(task_find_one(d, &q, &t, &e));
	assert_int_equal(task_block_of_dispatch(d, t, 3), 0);
	assert_int_equal(task_block_of_dispatch(d, t, 4), DUMP_NONE);
	assert_true(task_args_init(&a, d, t, 0, &e));
	assert_true(a.is_block_stated && a.n_blocks == 1 && a.n_members == 1 && a.members[0] == 3);
	assert_true(a.args.n == 9 && a.missing.n == 0 && a.n_unknown == 0 && a.buffers.n == 7);
	assert_true(task_args_refuse(&a, &e));
	arg = task_arg_find(&a, 3);
	assert_int_equal(arg->is_read && arg->is_written, true);
	assert_true(arg->before != DUMP_NONE && arg->after != DUMP_NONE && arg->n_bytes == 64);
	assert_int_equal(a.buffers.v[arg->buffer].addr, 0x100000c00);
	assert_int_equal(a.buffers.v[arg->buffer].n, 1024);
	assert_int_equal(a.buffers.v[arg->buffer].from, TASK_BUFFER_STATED);
	assert_int_equal(task_arg_find(&a, 7)->bits, 1);
	task_args_deinit(&a);
	assert_false(task_args_init(&a, d, t, 1, &e));
	assert_string_equal(e.code, "no-such-block");
	task_args_deinit(&a);
	q.where = &last;
	q.n_where = 1;
	assert_true(task_find_one(d, &q, &t, &e));
	q.where = &never;
	assert_false(task_find_one(d, &q, &t, &e));
	q = (struct task_query){.has_dispatch = true, .dispatch = 2, .block = DUMP_NONE};
	assert_true(task_find_one(d, &q, &t, &e));
	assert_int_equal(d->tasks.v[t].id, 0x200000002);
	q = (struct task_query){.funcs = nobody, .n_funcs = 2, .block = DUMP_NONE};
	assert_false(task_find_one(d, &q, &t, &e));
	assert_string_equal(e.code, "no-such-task");
	assert_non_null(strstr(e.message, "{0} (1 task), {1} (1 task), {2}"));
	incore_error_clear(&e);
	dump_free(d);
}

/* An INOUT slot has two contents: the one before counts. The view goes back to where it was. */
static void test_task_args_restore(void **state)
{
	struct dump *d = open_data("g11");
	static const uint16_t want[6] = {0, 10, 20, 0, 30, 40};
	static const float before[4] = {0, 1, 2, 3};
	struct incore_error e = {0};
	const struct arg *arg;
	uint8_t room[64] = {0};
	struct task_args a;

	(void)state;
	args_of(&a, d, 0x100000001);
	arg = task_arg_find(&a, 1);
	assert_true(arg->dtype == DTYPE_UINT16 && arg->start_offset == 1 && arg->extent == 5);
	assert_int_equal(a.buffers.v[arg->buffer].n, 1024);
	assert_true(arg_restore(arg, room, sizeof(want), &e));
	assert_memory_equal(room, want, sizeof(want));
	assert_int_equal(room[sizeof(want)], 0);
	assert_false(arg_restore(arg, room, sizeof(want) - 1, &e));
	assert_string_equal(e.code, "beyond-buffer");
	arg = task_arg_find(&a, 0);
	assert_true(arg_restore(arg, room, sizeof(room), &e));
	assert_memory_equal(room, before, sizeof(before));
	assert_false(arg_restore(task_arg_find(&a, 3), room, sizeof(room), &e));
	assert_string_equal(e.code, "not-a-tensor");
	incore_error_clear(&e);
	assert_true(task_arg_find(&a, 2)->flags & TASK_ARG_AMBIGUOUS);
	task_args_deinit(&a);
	dump_free(d);
}

static uint64_t place_of(const uint64_t *shape, const uint64_t *strides, unsigned rank, uint64_t i)
{
	uint64_t at = 0;

	for (unsigned d = rank; d-- > 0; i /= shape[d])
		at += i % shape[d] * strides[d];
	return at;
}

/* Every rank, element by element against the formula; a prefix leaves the rest alone. */
static void test_task_args_scatter(void **state)
{
	static const uint64_t shape[8] = {2, 3, 1, 2, 2, 1, 2, 3};
	static const unsigned dtypes[] = {DTYPE_UINT8, DTYPE_FLOAT16, DTYPE_FLOAT32, DTYPE_INT64};
	static uint8_t payload[144 * 8], room[16384 * 8], want[16384 * 8];

	(void)state;
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + 1);
	for (unsigned rank = 0; rank <= 8; rank++)
		for (unsigned k = 0; k < 4; k++) {
			unsigned elem = dtype_bytes(dtypes[k]);
			struct arg a = {.is_tensor = true,
				.dtype = (uint8_t)dtypes[k],
				.start_offset = 3,
				.bytes = payload,
				.n_dims = rank};
			uint64_t step = 1 + k % 2, numel = 1, n;

			for (unsigned d = rank; d-- > 0; step = step * shape[d] + k) {
				a.shape[d] = shape[d];
				a.strides[d] = step;
				numel *= shape[d];
			}
			n = numel > 2 ? numel - 1 : numel;
			a.n_bytes = n * elem;
			a.extent = place_of(a.shape, a.strides, rank, numel - 1) + 1;
			memset(room, 0xee, sizeof(room));
			memset(want, 0xee, sizeof(want));
			for (uint64_t i = 0; i < n; i++)
				memcpy(want + (3 + place_of(a.shape, a.strides, rank, i)) * elem,
					payload + i * elem, elem);
			assert_true(arg_restore(&a, room, sizeof(room), NULL));
			assert_memory_equal(room, want, sizeof(room));
			assert_true(arg_restore(&a, room, (3 + a.extent) * elem, NULL));
			assert_false(arg_restore(&a, room, (3 + a.extent) * elem - 1, NULL));
		}
}

/* deps.json beside the dump: true sizes, and who shares a buffer. */
static void test_task_args_deps(void **state)
{
	struct dump *d = open_data("project");
	struct task_args a;

	(void)state;
	assert_non_null(d->deps);
	args_of(&a, d, 0x100000001);
	assert_int_equal(a.buffers.n, 2);
	assert_true(a.buffers.v[0].addr == 0x1000 && a.buffers.v[0].n == 1024);
	assert_int_equal(a.buffers.v[0].from, TASK_BUFFER_DEPS);
	assert_int_equal(a.buffers.v[1].from, TASK_BUFFER_VIEWS);
	assert_int_equal(a.n_unknown, 1);
	task_args_deinit(&a);
	dump_free(d);
}

#define BUFFERED(slot, start, addr, size)                                                          \
	HEAD BEFORE "\"kind\": \"tensor\", \"dtype\": \"FLOAT32\", \"arg_index\": " #slot          \
		    ", \"shape\": [100], \"strides\": [2], \"start_offset\": " #start              \
		    ", \"buffer_addr\": \"" addr "\", \"buffer_size\": " #size "}"

/* One address is one buffer; its size is stated or the furthest reach; overlap is told. */
static void test_task_args_shared(void **state)
{
	struct dump *d = parse("{\"schema\": \"incore.args_dump/1\", \"args\": [" BUFFERED(
		0, 0, "0x1000", 0) ", " BUFFERED(1, 300, "0x1000", 0) ", " BUFFERED(2, 0, "0x8000",
		1600) ", " BUFFERED(3, 0, "0x8100", 1600) ", " BUFFERED(4, 0, "0xf000",
		795) ", " BUFFERED(5, 0, "0xff00", 796) "]}");
	struct task_args a;

	(void)state;
	args_of(&a, d, 7);
	assert_int_equal(a.buffers.n, 5);
	assert_true(a.args.v[0].buffer == 0 && a.args.v[1].buffer == 0);
	assert_int_equal(a.buffers.v[0].n, 2048); /* (300 + 199) * 4, rounded up */
	assert_int_equal(a.buffers.v[0].from, TASK_BUFFER_VIEWS);
	assert_false(a.buffers.v[0].is_overlapping);
	assert_true(a.buffers.v[1].is_overlapping && a.buffers.v[2].is_overlapping);
	assert_true(a.args.v[4].flags & TASK_ARG_BEYOND);
	assert_false(a.args.v[5].flags & TASK_ARG_BEYOND);
	refused(&a, "bad-slot", "slot 4: its view leaves its buffer");
	task_args_deinit(&a);
	dump_free(d);
}

/* Several blocks, several before copies: the one that the writer left, or none that can be told. */
static void test_task_args_blocks(void **state)
{
	struct dump *d = open_data("blocks");
	uint32_t n_told = 0, n_open = 0;

	(void)state;
	for (uint32_t i = 0; i < d->tasks.n; i++) {
		struct task_args a;

		assert_true(task_args_init(&a, d, i, DUMP_NONE, NULL));
		assert_false(a.is_block_stated);
		if (a.args.v[0].flags & TASK_ARG_SEVERAL) {
			n_open++;
			refused(&a, "bad-slot", "before copies differ");
		} else {
			n_told++;
			assert_true(a.args.v[0].bytes && task_args_refuse(&a, NULL));
		}
		task_args_deinit(&a);
	}
	assert_int_equal(n_told, 2);
	assert_int_equal(n_open, 1);
	dump_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task_args_slots),
		cmocka_unit_test(test_task_args_slot_50),
		cmocka_unit_test(test_task_args_flags),
		cmocka_unit_test(test_task_args_conflicts),
		cmocka_unit_test(test_task_args_own),
		cmocka_unit_test(test_task_args_restore),
		cmocka_unit_test(test_task_args_scatter),
		cmocka_unit_test(test_task_args_deps),
		cmocka_unit_test(test_task_args_shared),
		cmocka_unit_test(test_task_args_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
