/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of protocol buffer messages, and paths of line tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/cubin.h"
#include "codec/protobuf.h"

/* Reads all fields of a message; gives how many there were, or -1 when it is damaged. */
static int count(const char *bytes, size_t n, struct pb_field *last)
{
	struct pb_reader r = pb_of((struct str){bytes, n});
	int fields = 0;

	while (pb_next(&r, last))
		fields++;
	return r.is_failed ? -1 : fields;
}
#define COUNT(bytes, last) count(bytes, sizeof(bytes) - 1, last)

static void test_protobuf_fields(void **state)
{
	struct pb_field f;

	(void)state;
	assert_int_equal(COUNT("", &f), 0);
	assert_int_equal(COUNT("\x08\x96\x01", &f), 1);
	assert_int_equal(f.number, 1);
	assert_int_equal(f.value, 150);
	assert_int_equal(COUNT("\x12\x03"
			       "abc",
				 &f),
		1);
	assert_true(str_is(f.bytes, "abc"));
	assert_int_equal(COUNT("\x1d\x00\x00\x80\x3f", &f), 1);
	assert_true(pb_float(&f) == 1.0);
	assert_int_equal(COUNT("\x19\x00\x00\x00\x00\x00\x00\xf0\x3f", &f), 1);
	assert_true(pb_float(&f) == 1.0);
	assert_int_equal(COUNT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &f), 1);
	assert_true(f.value == UINT64_MAX);
}

static void test_protobuf_damage(void **state)
{
	struct pb_field f;

	(void)state;
	assert_int_equal(COUNT("\x08", &f), -1);     /* no value */
	assert_int_equal(COUNT("\x08\x80", &f), -1); /* it goes on */
	assert_int_equal(COUNT("\x12\x04"
			       "abc",
				 &f),
		-1);					 /* a byte less */
	assert_int_equal(COUNT("\x19\x00\x00", &f), -1); /* eight are wanted */
	assert_int_equal(COUNT("\x00\x00", &f), -1);	 /* no field has number 0 */
	assert_int_equal(COUNT("\x0b\x0c", &f), -1);	 /* a group */
	assert_int_equal(COUNT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &f), -1);
}

static void test_protobuf_plain_path(void **state)
{
	static const char *const cases[][2] = {{"/a/b/../c.cu", "/a/c.cu"},
		{"/a/./b.cu", "/a/b.cu"}, {"/a/b/../../c.cu", "/c.cu"}, {"../c.cu", "../c.cu"},
		{"/../c.cu", "/../c.cu"}, {"c.cu", "c.cu"}, {"", ""}};
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(cubin_plain_path(&a, cases[i][0]), cases[i][1]);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protobuf_fields),
		cmocka_unit_test(test_protobuf_damage),
		cmocka_unit_test(test_protobuf_plain_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
