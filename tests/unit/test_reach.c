/* SPDX-License-Identifier: Apache-2.0 */
/* test_reach.c: what a kernel touched against the views, roles and slots that are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "args/dtype.h"
#include "model_streams.h"
#include "replay/arguments/reach.h"

struct fixture {
	struct opstream_set set;
	struct opstream *s;
	struct arg slots[ARG_SLOTS];
	struct arena arena;
	reach_remarks remarks;
};

/* Slots 0 (input), 1 (output), 2 (inout), each FLOAT16 [8, 16], dense, and read by the kernel. */
static void set_up(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	arena_init(&f->arena);
	opstream_set_init(&f->set);
	f->s = ms_new(&f->set, CORE_AIV, 0);
	for (uint32_t i = 0; i < 3; i++) {
		f->slots[i] = (struct arg){.is_used = true,
			.is_tensor = true,
			.dtype = DTYPE_FLOAT16,
			.extent = 128,
			.n_dims = 2,
			.shape = {8, 16},
			.strides = {16, 1},
			.is_contiguous = true,
			.is_read = i != 1,
			.is_written = i != 0};
		f->s->slots.v[i].flags |= SLOT_READ;
	}
}

static void compare(struct fixture *f)
{
	ms_seal(&f->set);
	assert_true(reach_compare(&f->set, f->slots, &f->arena, &f->remarks, NULL));
}

static void tear_down(struct fixture *f)
{
	VEC_FREE(&f->remarks);
	opstream_set_deinit(&f->set);
	arena_deinit(&f->arena);
}

static void expect(const struct fixture *f, size_t n, const char *text)
{
	assert_int_equal(f->remarks.n, n);
	if (n && !strstr(f->remarks.v[0], text))
		fail_msg("'%s' is not in '%s'", text, f->remarks.v[0]);
}

static void test_reach_inside(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	ms_load(f.s, 1, 8, 16, 0, 0);
	ms_load(f.s, 2, 4, 16, 0, 2);
	ms_store(f.s, 3, 8, 16, 0, 1);
	compare(&f);
	expect(&f, 0, "");
	tear_down(&f);
}

static void test_reach_beyond(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	ms_load(f.s, 7, 9, 16, 0, 0);
	ms_load(f.s, 8, 9, 16, 0, 0);
	ms_store(f.s, 9, 8, 16, 0, 1);
	compare(&f);
	expect(&f, 1, "reads byte 256 of the buffer");
	assert_non_null(strstr(f.remarks.v[0], "slot 0: TLOAD at"));
	assert_non_null(strstr(f.remarks.v[0], ":7 "));
	assert_non_null(strstr(f.remarks.v[0], "2 ops in all"));
	tear_down(&f);
}

/* The view begins behind the buffer's start, and the kernel does not. */
static void test_reach_before(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	f.slots[2].start_offset = 16;
	ms_store(f.s, 1, 8, 16, 0, 1);
	ms_store(f.s, 2, 1, 16, 0, 2);
	compare(&f);
	expect(&f, 1, "slot 2: TSTORE at");
	assert_non_null(strstr(f.remarks.v[0], "writes byte 0 "));
	tear_down(&f);
}

/* One column of 16: a load of the column alone is inside, one of two columns is not. */
static void test_reach_gaps(void **state)
{
	for (uint32_t columns = 1; columns <= 2; columns++) {
		struct op_desc d = op_desc_of(OPK_OP, OPP_MTE2, "TLOAD", 5);
		uint32_t shape[5] = {1, 1, 1, 8, columns};
		struct fixture f;

		(void)state;
		set_up(&f);
		f.slots[0] = (struct arg){.is_used = true,
			.is_tensor = true,
			.dtype = DTYPE_FLOAT16,
			.start_offset = 3,
			.extent = 7 * 16 + 1,
			.n_dims = 2,
			.shape = {8, 1},
			.strides = {16, 1},
			.is_read = true};
		op_desc_tile(&d, ROLE_DST, DT_F16, 8, 16, 0);
		op_desc_gm(&d, ROLE_SRC, DT_F16, shape, 0, 6)->stride[3] = 16;
		ms_push(f.s, &d);
		ms_store(f.s, 9, 8, 16, 0, 1);
		compare(&f);
		expect(&f, columns - 1, "reads byte 8 of the buffer");
		tear_down(&f);
	}
}

static void test_reach_roles(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	ms_store(f.s, 1, 8, 16, 0, 0);
	f.s->slots.v[2].flags &= (uint8_t)~SLOT_READ;
	compare(&f);
	expect(&f, 3, "slot 0: recorded as an input, but a tile op writes it");
	assert_non_null(
		strstr(f.remarks.v[1], "slot 1: recorded as an output, but no tile op writes it"));
	assert_non_null(strstr(f.remarks.v[2], "slot 2: the kernel does not read it"));
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach_inside),
		cmocka_unit_test(test_reach_beyond),
		cmocka_unit_test(test_reach_before),
		cmocka_unit_test(test_reach_gaps),
		cmocka_unit_test(test_reach_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
