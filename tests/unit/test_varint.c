/* SPDX-License-Identifier: Apache-2.0 */
/* Do integers survive the way to bytes and back, and is every overrun seen? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/varint.h"

static struct bytes_reader reader_of(const void *p, size_t n)
{
	return (struct bytes_reader){.p = p, .end = (const uint8_t *)p + n};
}

static void test_varint_round_trip(void **state)
{
	struct strbuf b = {0};
	struct bytes_reader r;

	(void)state;
	for (unsigned k = 0; k < 64; k++) {
		uint64_t v = UINT64_MAX >> k;

		bytes_put_varint(&b, v);
		bytes_put_zigzag(&b, (int64_t)v);
		bytes_put_zigzag(&b, -(int64_t)(v >> 1));
		bytes_put_u64(&b, v);
		bytes_put_u32(&b, (uint32_t)v);
		bytes_put_u8(&b, (uint8_t)v);
	}
	bytes_put_zigzag(&b, INT64_MIN);
	bytes_put_str(&b, STR("text"));
	assert_false(b.failed);
	r = reader_of(b.p, b.n);
	for (unsigned k = 0; k < 64; k++) {
		uint64_t v = UINT64_MAX >> k;

		assert_true(bytes_varint(&r) == v);
		assert_true(bytes_zigzag(&r) == (int64_t)v);
		assert_true(bytes_zigzag(&r) == -(int64_t)(v >> 1));
		assert_memory_equal(bytes_take(&r, 8), &v, 8);
		assert_memory_equal(bytes_take(&r, 4), &v, 4);
		assert_true(bytes_u8(&r) == (uint8_t)v);
	}
	assert_true(bytes_zigzag(&r) == INT64_MIN);
	assert_true(str_is(bytes_str(&r), "text"));
	assert_false(r.is_failed);
	assert_ptr_equal(r.p, r.end);
	bytes_u8(&r);
	assert_true(r.is_failed);
	sb_free(&b);
}

static void test_varint_bytes(void **state)
{
	struct strbuf b = {0};

	(void)state;
	bytes_put_varint(&b, 300);
	bytes_put_u32(&b, 0x01020304);
	bytes_put_zigzag(&b, -1);
	assert_int_equal(b.n, 7);
	assert_memory_equal(b.p, "\xac\x02\x04\x03\x02\x01\x01", 7);
	sb_free(&b);
}

static void test_varint_bad(void **state)
{
	struct bytes_reader r = reader_of("\x80\x80", 2);

	(void)state;
	bytes_varint(&r);
	assert_true(r.is_failed); /* cut */
	r = reader_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	bytes_varint(&r);
	assert_true(r.is_failed); /* more than 64 bits */
	r = reader_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
	bytes_varint(&r);
	assert_true(r.is_failed);
	r = reader_of("\xff\xff\xff\xff\x0f"
		      "abc",
		8);
	assert_int_equal(bytes_str(&r).n, 0);
	assert_true(r.is_failed); /* a length beyond the end */
	assert_null(bytes_take(&r, 1));
	r = reader_of("abc", 3);
	assert_null(bytes_take(&r, 4));
	assert_true(r.is_failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varint_round_trip),
		cmocka_unit_test(test_varint_bytes),
		cmocka_unit_test(test_varint_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
