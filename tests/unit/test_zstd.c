/* SPDX-License-Identifier: Apache-2.0 */
/* Does a packed buffer come back, and is every kind of damage an error? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/zstd.h"

static void test_zstd_round_trip_and_damage(void **state)
{
	struct incore_error e = {0};
	struct strbuf b = {0};
	char in[5000], out[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (char)(i % 7 + i / 500);
	sb_puts(&b, "head");
	assert_true(zstd_pack(in, sizeof(in), 3, &b, &e));
	assert_true(b.n < 1000);
	assert_true(zstd_unpack(b.p + 4, b.n - 4, out, sizeof(out), &e));
	assert_memory_equal(in, out, sizeof(in));
	assert_false(zstd_unpack(b.p + 4, b.n - 4, out, sizeof(out) - 1, &e));
	assert_string_equal(e.code, "bad-zstd");
	assert_false(zstd_unpack(b.p + 4, b.n - 5, out, sizeof(out), &e));
	assert_false(zstd_unpack(b.p + 4, 0, out, sizeof(out), &e));
	assert_false(zstd_unpack("no frame", 8, out, sizeof(out), &e));
	sb_putc(&b, 'x');
	assert_false(zstd_unpack(b.p + 4, b.n - 4, out, sizeof(out), &e));
	b.n--;
	b.p[b.n / 2] ^= 0x55;
	if (zstd_unpack(b.p + 4, b.n - 4, out, sizeof(out), &e))
		assert_int_equal(b.p[0], 'h'); /* damage may go unseen, but never overrun */
	sb_reset(&b);
	assert_true(zstd_pack(NULL, 0, 3, &b, &e));
	assert_true(zstd_unpack(b.p, b.n, out, 0, &e));
	incore_error_clear(&e);
	sb_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zstd_round_trip_and_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
