/* SPDX-License-Identifier: Apache-2.0 */
/* The real dumps as arguments of their kernels: slots, scalar bits, extents, buffers, blocks, and
 * which tasks cannot be replayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump/read/deps.h"
#include "dump/read/task_args.h"

#define TASK(n) (UINT64_C(0x200000000) + (n))

static const char *data_dir(void)
{
	static char dir[4096];
	const char *shared = getenv("INCORE_SHARED"), *root = getenv("INCORE_SOURCE_ROOT");

	if (shared)
		snprintf(dir, sizeof(dir), "%s/data/dump", shared);
	else
		snprintf(dir, sizeof(dir), "%s/../shared/data/dump", root ? root : ".");
	return dir;
}

static struct dump *open_real(const char *name)
{
	struct incore_error e = {0};
	char path[4200];
	struct dump *d;

	if (!file_is_dir(data_dir())) {
		print_message("no dumps (INCORE_SHARED)\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/%s", data_dir(), name);
	d = dump_open(path, false, &e);
	if (!d)
		fail_msg("%s: %s", path, e.message);
	return d;
}

static size_t count_of(const struct dump *d, const int32_t *funcs, unsigned n)
{
	struct task_query q = {.funcs = funcs, .n_funcs = n, .block = DUMP_NONE};
	task_list l = {0};
	size_t found;

	assert_true(task_find(d, &q, &l, NULL));
	found = l.n;
	VEC_FREE(&l);
	return found;
}

static void args_of(struct task_args *a, struct dump *d, uint64_t id)
{
	struct task_query q = {.has_task = true, .task = id, .block = DUMP_NONE};
	struct incore_error e = {0};
	uint32_t t;

	if (!task_find_one(d, &q, &t, &e) || !task_args_init(a, d, t, DUMP_NONE, &e))
		fail_msg("task 0x%llx: %s", (unsigned long long)id, e.message);
}

static void expect_tensors(const struct task_args *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_true(a->args.v[i].slot == i && a->args.v[i].is_tensor);
}

/* Of SF task 1, in both generations. */
static void expect_softmax(struct dump *d)
{
	struct task_args a;

	args_of(&a, d, TASK(1));
	assert_int_equal(a.args.n, 5);
	expect_tensors(&a, 4);
	assert_true(a.args.v[4].slot == 4 && a.args.v[4].bits == 0x3f800000);
	assert_true(task_args_refuse(&a, NULL));
	assert_true(a.args.v[0].n_bytes == 1024 && !a.args.v[1].bytes && !a.args.v[1].flags);
	task_args_deinit(&a);
}

static void test_small(void **state)
{
	struct dump *d = open_real("CaseSmall1_level2");
	const struct task_where last = {8, 1};
	int32_t func = 3;
	struct task_query q = {
		.funcs = &func, .n_funcs = 1, .where = &last, .n_where = 1, .block = DUMP_NONE};
	struct task_args a;
	uint32_t t;

	(void)state;
	for (int32_t f = 0; f < 4; f++)
		assert_int_equal(count_of(d, &f, 1), 3);
	assert_true(task_find_one(d, &q, &t, NULL));
	assert_true(d->tasks.v[t].id == TASK(0xb));
	expect_softmax(d);
	args_of(&a, d, TASK(0xb));
	expect_tensors(&a, 7);
	assert_true(a.args.n == 9 && a.args.v[7].bits == 0 && a.args.v[8].bits == 1);
	task_args_deinit(&a);

	args_of(&a, d, TASK(9)); /* the tail: a view of one column */
	assert_true(a.args.v[0].n_dims == 2 && a.args.v[0].dtype == DTYPE_FLOAT32);
	assert_true(a.args.v[0].shape[0] == 16 && a.args.v[0].shape[1] == 1);
	assert_true(a.args.v[0].strides[0] == 16 && a.args.v[0].strides[1] == 1);
	assert_int_equal(a.args.v[0].extent, 241);
	assert_true(a.buffers.v[a.args.v[0].buffer].n >= 1024);
	task_args_deinit(&a);

	args_of(&a, d, TASK(4));
	assert_int_equal(a.args.v[1].start_offset, 512);
	assert_true(a.buffers.v[a.args.v[1].buffer].n >= 1536);
	assert_true(a.n_unknown == 3); /* nothing states the buffers: that must be said */
	task_args_deinit(&a);
	dump_free(d);
}

/* What a strided tail restores to is column 0 of what the kernel before it wrote. */
static void test_restore_tail(void **state)
{
	struct dump *d = open_real("CaseSmall1_level2");
	uint8_t room[1024] = {0};
	const uint8_t *sij;
	struct task_args a, before;
	uint64_t n;

	(void)state;
	args_of(&before, d, TASK(8));
	args_of(&a, d, TASK(9));
	assert_true(dump_payload(d, before.args.v[2].after, &sij, &n, NULL) && n == 1024);
	assert_true(arg_restore(&a.args.v[0], room, sizeof(room), NULL));
	for (unsigned row = 0; row < 16; row++) {
		assert_memory_equal(room + row * 64, sij + row * 64, 4);
		for (unsigned i = 4; i < 64; i++)
			assert_int_equal(room[row * 64 + i], 0);
	}
	task_args_deinit(&a);
	task_args_deinit(&before);
	dump_free(d);
}

static void test_older(void **state)
{
	struct dump *d = open_real("older_CaseSmall1_level2");
	struct task_query q = {.block = DUMP_NONE};
	struct incore_error e = {0};
	uint32_t t;

	(void)state;
	expect_softmax(d);
	assert_false(task_find_one(d, &q, &t, &e));
	assert_string_equal(e.code, "which-task");
	assert_non_null(strstr(e.message, "12 tasks fit"));
	assert_non_null(strstr(e.message, "0x000000020000000b"));
	incore_error_clear(&e);
	dump_free(d);
}

/* Loss counters are zero, yet 9 of 12 tasks lack a slot. */
static void test_incomplete(void **state)
{
	static const uint32_t lacks[4] = {3, 4, 3, DUMP_NONE};
	struct dump *d = open_real("TestBatchPagedAttention_CaseSmall1");
	uint32_t n_refused = 0;

	(void)state;
	for (uint32_t i = 0; i < d->tasks.n; i++) {
		struct incore_error e = {0};
		struct task_args a;

		assert_true(task_args_init(&a, d, i, DUMP_NONE, NULL));
		assert_true(a.n_members == 1 && a.members[0] >= 0 && a.members[0] < 4);
		if (lacks[a.members[0]] == DUMP_NONE) {
			assert_int_equal(a.missing.n, 0);
			assert_true(task_args_refuse(&a, NULL));
		} else {
			char want[32];

			assert_int_equal(a.missing.n, 1);
			assert_int_equal(a.missing.v[0], lacks[a.members[0]]);
			assert_false(task_args_refuse(&a, &e));
			snprintf(want, sizeof(want), "slot %u is missing", a.missing.v[0]);
			assert_non_null(strstr(e.message, want));
			n_refused++;
		}
		incore_error_clear(&e);
		task_args_deinit(&a);
	}
	assert_int_equal(n_refused, 9);
	dump_free(d);
}

static void test_blocks(void **state)
{
	static const uint32_t blocks[5] = {2, 8, 12, 24, 48};
	static const uint64_t base[5] = {0, 6, 30, 66, 138};
	struct dump *d = open_real("TestSpmdMultiblockMix_Case1");
	uint32_t rows = 0;

	(void)state;
	assert_int_equal(d->tasks.n, 5);
	for (uint32_t i = 0; i < 5; i++) {
		struct task_args a;

		assert_true(task_args_init(&a, d, i, DUMP_NONE, NULL));
		assert_int_equal(a.n_blocks, blocks[i]);
		assert_int_equal(a.args.v[1].bits, base[i]);
		assert_true(a.n_members == 3 && task_args_refuse(&a, NULL));
		rows += a.n_blocks;
		if (i > 0) { /* the state before is what the task before left */
			const uint8_t *left;
			struct task_args previous;
			uint64_t n;

			assert_true(task_args_init(&previous, d, i - 1, DUMP_NONE, NULL));
			assert_true(dump_payload(d, previous.args.v[0].after, &left, &n, NULL));
			assert_int_equal(n, a.args.v[0].n_bytes);
			assert_memory_equal(left, a.args.v[0].bytes, n);
			task_args_deinit(&previous);
		}
		task_args_deinit(&a);
	}
	assert_int_equal(rows, 94);
	dump_free(d);
}

static void test_mixed(void **state)
{
	static const int32_t three[] = {2, 0, 1}, two[] = {3, 4};
	struct dump *d = open_real("TestMixedExample_case1");
	struct incore_error e = {0};
	task_list l = {0};
	struct task_query q = {.funcs = three, .n_funcs = 3, .block = DUMP_NONE};
	struct task_args a;
	uint32_t t;

	(void)state;
	assert_int_equal(count_of(d, three, 3), 4);
	assert_int_equal(count_of(d, two, 2), 4);
	assert_true(task_find(d, &q, &l, NULL));
	assert_true(task_args_init(&a, d, l.v[0], DUMP_NONE, NULL));
	expect_tensors(&a, 9);
	assert_true(a.args.n == 9 && !a.args.v[0].bytes);
	assert_int_equal(a.args.v[0].flags, TASK_ARG_NO_BYTES); /* geometry only */
	assert_true(task_args_refuse(&a, NULL));
	task_args_deinit(&a);
	q = (struct task_query){.funcs = two, .n_funcs = 2, .block = DUMP_NONE};
	l.n = 0;
	assert_true(task_find(d, &q, &l, NULL));
	assert_true(task_args_init(&a, d, l.v[0], DUMP_NONE, NULL));
	expect_tensors(&a, 6);
	assert_int_equal(a.args.n, 6);
	task_args_deinit(&a);
	q.n_funcs = 1; /* {3} is another set than {3,4} */
	assert_false(task_find_one(d, &q, &t, &e));
	assert_non_null(strstr(e.message, "4 tasks fit"));
	incore_error_clear(&e);
	VEC_FREE(&l);
	dump_free(d);
}

static void test_level_3(void **state)
{
	struct dump *d = open_real("TestArgsDump_level3");
	static float room[16384];
	struct task_args a;

	(void)state;
	args_of(&a, d, 0x100000000);
	assert_true(arg_restore(task_arg_find(&a, 0), (uint8_t *)room, sizeof(room), NULL));
	for (unsigned i = 0; i < 16384; i++)
		assert_true(room[i] == 5.0f);
	task_args_deinit(&a);
	args_of(&a, d, 0x100000001);
	assert_true(!a.args.v[0].bytes && a.args.v[0].flags == TASK_ARG_NO_BYTES);
	assert_int_equal(task_arg_find(&a, 2)->bits, 0x40000000);
	task_args_deinit(&a);
	args_of(&a, d, 0x100000002);
	assert_true(task_arg_find(&a, 3)->flags & TASK_ARG_AMBIGUOUS);
	assert_false(task_args_refuse(&a, NULL));
	task_args_deinit(&a);
	dump_free(d);
}

/* deps.json of that kernel, joined by hand with a manifest of the same shapes: sizes and sharing.
 */
static void test_deps(void **state)
{
	struct dump *d = open_real("CaseSmall1_level3");
	struct file_data f = {0};
	struct task_args a[3];
	char path[4200];

	(void)state;
	snprintf(path, sizeof(path), "%s/CaseSmall1_dfx/deps.json", data_dir());
	assert_true(file_load(&f, path, NULL));
	d->deps = deps_read(f.data, f.size, path, NULL);
	assert_true(d->deps && d->deps->tasks.n == 12);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(d->deps->tasks.v[i].block_num, 1);
	assert_true(d->deps->tasks.v[1].kernels[0] == -1 && d->deps->tasks.v[1].kernels[1] == 1 &&
		    d->deps->tasks.v[1].kernels[2] == -1);
	args_of(&a[0], d, TASK(9));
	assert_int_equal(a[0].buffers.v[a[0].args.v[0].buffer].n, 1024);
	assert_int_equal(a[0].buffers.v[a[0].args.v[0].buffer].from, TASK_BUFFER_DEPS);
	task_args_deinit(&a[0]);
	for (unsigned i = 0; i < 3; i++)
		args_of(&a[i], d, TASK(3 + 4 * i));
	for (uint32_t slot = 3; slot <= 6; slot++)
		for (unsigned i = 1; i < 3; i++)
			assert_true(a[i].buffers.v[a[i].args.v[slot].buffer].addr ==
				    a[0].buffers.v[a[0].args.v[slot].buffer].addr);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(a[i].n_unknown, 0);
		task_args_deinit(&a[i]);
	}
	file_unload(&f);
	dump_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_restore_tail),
		cmocka_unit_test(test_older),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_level_3),
		cmocka_unit_test(test_deps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
