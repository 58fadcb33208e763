/* SPDX-License-Identifier: Apache-2.0 */
/* Is memory from arenas and vectors aligned, whole, and refused when sizes overflow? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/vec.h"

static void test_arena_blocks(void **state)
{
	uint8_t *kept[2000];
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < 2000; i++) {
		size_t n = i % 100 == 0 ? 50000 : i % 37;

		kept[i] = arena_alloc(&a, n);
		assert_non_null(kept[i]);
		assert_int_equal((uintptr_t)kept[i] % 16, 0);
		memset(kept[i], (int)(i & 0xff), n);
	}
	for (size_t i = 0; i < 2000; i++) {
		size_t n = i % 100 == 0 ? 50000 : i % 37;

		for (size_t k = 0; k < n; k++)
			assert_int_equal(kept[i][k], i & 0xff);
	}
	arena_reset(&a);
	assert_true(a.total_bytes >= 50000);
	assert_non_null(arena_zalloc(&a, 10, 10));
	arena_deinit(&a);
	assert_int_equal(a.total_bytes, 0);
}

static void test_arena_copies(void **state)
{
	char long_text[1000];
	uint8_t *zero;
	struct arena a;

	(void)state;
	arena_init(&a);
	memset(long_text, 'y', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	assert_string_equal(arena_strdup(&a, "abc"), "abc");
	assert_string_equal(arena_strndup(&a, "abc", 2), "ab");
	assert_string_equal(arena_strndup(&a, NULL, 0), "");
	assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
	assert_string_equal(arena_printf(&a, "%s", long_text), long_text);
	assert_memory_equal(arena_memdup(&a, "12345", 5), "12345", 5);
	zero = arena_zalloc(&a, 100, 100);
	for (size_t i = 0; i < 10000; i++)
		assert_int_equal(zero[i], 0);
	assert_null(arena_zalloc(&a, SIZE_MAX / 2, 4));
	assert_null(arena_alloc(&a, SIZE_MAX - 3));
	arena_deinit(&a);
}

static void test_arena_vec(void **state)
{
	VEC(int) v = {0};
	void *data = NULL;
	size_t cap = 0;

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_true(VEC_PUSH(&v, i));
	for (int i = 0; i < 10000; i++)
		assert_int_equal(v.v[i], i);
	assert_true(v.cap >= 10000 && v.cap < 40000);
	VEC_FREE(&v);
	assert_false(vec_grow(&data, &cap, SIZE_MAX / 4, 8));
	assert_null(data);
	assert_null(mem_zalloc(SIZE_MAX / 2, 3));
	assert_null(mem_resize(NULL, SIZE_MAX / 2, 3));
	data = mem_alloc(0);
	assert_non_null(data);
	mem_free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_blocks),
		cmocka_unit_test(test_arena_copies),
		cmocka_unit_test(test_arena_vec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
