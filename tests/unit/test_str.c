/* SPDX-License-Identifier: Apache-2.0 */
/* Do borrowed strings and buffers do what their names say, also when empty? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

static void test_str_looking(void **state)
{
	struct str s = STR("v_mfma_f32"), none = {0};

	(void)state;
	assert_true(str_starts(s, "v_mfma") && !str_starts(s, "s_") && str_starts(none, ""));
	assert_true(str_ends(s, "f32") && !str_ends(s, "f16") && !str_ends(none, "x"));
	assert_true(str_has(s, "mfma") && !str_has(none, "a"));
	assert_int_equal(str_find(s, "_f"), 6);
	assert_int_equal(str_find(s, "zz"), -1);
	assert_int_equal(str_rfind_char(s, '_'), 6);
	assert_int_equal(str_rfind_char(none, '_'), -1);
	assert_true(str_is(str_sub(s, 2, 4), "mfma"));
	assert_true(str_is(str_sub(s, 7, 100), "f32"));
	assert_int_equal(str_sub(s, 100, 1).n, 0);
	assert_true(str_is(str_trim(STR(" \t x y\r\n")), "x y"));
	assert_int_equal(str_trim(STR("  ")).n, 0);
	assert_true(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("b"), STR("ab")) > 0);
	assert_true(str_cmp(none, STR("")) == 0);
}

static void test_str_cut(void **state)
{
	struct str rest = STR("a -> b -> "), part;

	(void)state;
	assert_true(str_cut(&rest, " -> ", &part));
	assert_true(str_is(part, "a"));
	assert_true(str_cut(&rest, " -> ", &part));
	assert_true(str_is(part, "b"));
	assert_true(str_cut(&rest, " -> ", &part));
	assert_int_equal(part.n, 0);
	assert_false(str_cut(&rest, " -> ", &part));
}

static void test_str_numbers(void **state)
{
	uint64_t u = 1;
	int64_t i = 1;

	(void)state;
	assert_true(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
	assert_true(str_to_u64(STR("0xFFffFFffFFffFFff"), &u) && u == UINT64_MAX);
	assert_true(str_to_u64(STR("007"), &u) && u == 7);
	assert_true(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
	assert_true(str_to_i64(STR("9223372036854775807"), &i) && i == INT64_MAX);
	assert_false(str_to_u64(STR("18446744073709551616"), &u));
	assert_false(str_to_u64(STR("0x10000000000000000"), &u));
	assert_false(str_to_i64(STR("9223372036854775808"), &i));
	assert_false(str_to_i64(STR("-9223372036854775809"), &i));
	assert_false(str_to_u64(STR(""), &u) || str_to_u64(STR("0x"), &u));
	assert_false(str_to_u64(STR("-1"), &u) || str_to_u64(STR("1 "), &u));
	assert_false(str_to_i64(STR("-"), &i) || str_to_i64(STR("a"), &i));
	assert_true(u == 7 && i == INT64_MAX); /* untouched by failures */
}

static void test_str_buffer(void **state)
{
	struct strbuf b = {0};
	char long_text[300];

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	assert_true(sb_puts(&b, "") && b.p[0] == 0);
	for (int i = 0; i < 100; i++)
		assert_true(sb_printf(&b, "%d,", i));
	assert_int_equal(b.n, 290);
	assert_true(sb_printf(&b, "%s", long_text));
	assert_int_equal(b.n, 589);
	assert_int_equal(strlen(b.p), b.n);
	assert_true(sb_str(&b, (struct str){NULL, 0}));
	sb_reset(&b);
	assert_string_equal(b.p, "");
	assert_false(sb_reserve(&b, SIZE_MAX - 10));
	assert_true(b.failed);
	assert_false(sb_putc(&b, 'x')); /* latched */
	sb_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_str_looking),
		cmocka_unit_test(test_str_cut),
		cmocka_unit_test(test_str_numbers),
		cmocka_unit_test(test_str_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
