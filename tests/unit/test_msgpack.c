/* SPDX-License-Identifier: Apache-2.0 */
/* Are MessagePack values read as the format says, and kernel metadata from them? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/msgpack.h"

#define BYTES(s) ((struct str){s, sizeof(s) - 1})

static void test_msgpack_values(void **state)
{
	static const struct {
		struct str bytes;
		enum msgpack_type type;
		int64_t number;
		uint32_t n;
	} cases[] = {
		{BYTES("\x05"), MSGPACK_INT, 5, 0},
		{BYTES("\xff"), MSGPACK_INT, -1, 0},
		{BYTES("\xe0"), MSGPACK_INT, -32, 0},
		{BYTES("\xcc\xff"), MSGPACK_INT, 255, 0},
		{BYTES("\xcd\x01\x02"), MSGPACK_INT, 258, 0},
		{BYTES("\xce\x00\x01\x00\x00"), MSGPACK_INT, 65536, 0},
		{BYTES("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), MSGPACK_INT, INT64_MAX, 0},
		{BYTES("\xd0\x80"), MSGPACK_INT, -128, 0},
		{BYTES("\xd1\xff\x00"), MSGPACK_INT, -256, 0},
		{BYTES("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), MSGPACK_INT, INT64_MIN, 0},
		{BYTES("\xc0"), MSGPACK_NIL, 0, 0},
		{BYTES("\xc3"), MSGPACK_BOOL, 0, 0},
		{BYTES("\xa3"
		       "abc"),
			MSGPACK_STRING, 0, 0},
		{BYTES("\xd9\x03"
		       "abc"),
			MSGPACK_STRING, 0, 0},
		{BYTES("\xc4\x01x"), MSGPACK_STRING, 0, 0},
		{BYTES("\xca\x00\x00\x00\x00"), MSGPACK_FLOAT, 0, 0},
		{BYTES("\x92\x01\x02"), MSGPACK_ARRAY, 0, 2},
		{BYTES("\xdc\x00\x01\x07"), MSGPACK_ARRAY, 0, 1},
		{BYTES("\x81\x01\x02"), MSGPACK_MAP, 0, 1},
		{BYTES("\xd4\x01\x02"), MSGPACK_NIL, 0, 0},
		/* damage */
		{BYTES(""), MSGPACK_NONE, 0, 0},
		{BYTES("\xc1"), MSGPACK_NONE, 0, 0},
		{BYTES("\xcd\x01"), MSGPACK_NONE, 0, 0},
		{BYTES("\xa3"
		       "ab"),
			MSGPACK_NONE, 0, 0},
		{BYTES("\xdb\xff\xff\xff\xff"), MSGPACK_NONE, 0, 0},
		{BYTES("\xdd\xff\xff\xff\xff"), MSGPACK_NONE, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct msgpack m;
		struct msgpack_value v;

		msgpack_init(&m, cases[i].bytes);
		v = msgpack_next(&m);
		if (v.type != cases[i].type || v.number != cases[i].number || v.n != cases[i].n)
			fail_msg("case %zu: type %d number %lld n %u", i, v.type,
				(long long)v.number, v.n);
		assert_int_equal(m.is_failed, cases[i].type == MSGPACK_NONE);
	}
}

static void test_msgpack_skip_is_bounded(void **state)
{
	char deep[4000];
	struct msgpack m;

	(void)state;
	msgpack_init(&m, BYTES("\x82\x01\x92\x02\x03\x04\x05\x06"));
	assert_true(msgpack_skip(&m));
	assert_int_equal(msgpack_next(&m).number, 6);
	memset(deep, '\x91', sizeof(deep)); /* an array in an array in an array */
	msgpack_init(&m, (struct str){deep, sizeof(deep)});
	assert_false(msgpack_skip(&m));
}

/* {"amdhsa.kernels":[{".name":"k",".vgpr_count":12,".args":[{}],".reqd_workgroup_size":[64,1,1]}],
 *  "amdhsa.target":"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"} */
static const char metadata[] = "\x82\xae"
			       "amdhsa.kernels\x91\x84\xa5.name\xa1k\xab.vgpr_count\x0c\xa5.args"
			       "\x91\x80\xb4.reqd_workgroup_size\x93\x40\x01\x01\xad"
			       "amdhsa.target\xd9\x29"
			       "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";

static void test_msgpack_kernel_facts(void **state)
{
	struct incore_error e = {0};
	struct code_facts f;
	struct arena a;
	struct str note = BYTES(metadata);

	(void)state;
	arena_init(&a);
	assert_true(code_facts_read(&f, note, "k.out", &a, &e));
	assert_string_equal(f.target, "gfx90a");
	assert_int_equal(f.n_kernels, 1);
	assert_string_equal(f.kernels[0].name, "k");
	assert_int_equal(f.kernels[0].vgprs, 12);
	assert_int_equal(f.kernels[0].sgprs, -1);
	assert_int_equal(f.kernels[0].workgroup[0], 64);
	for (size_t n = 0; n < note.n; n++)
		assert_false(code_facts_read(&f, (struct str){note.p, n}, "k.out", &a, &e));
	assert_string_equal(e.code, "bad-metadata");
	incore_error_clear(&e);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_msgpack_values),
		cmocka_unit_test(test_msgpack_skip_is_bounded),
		cmocka_unit_test(test_msgpack_kernel_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
