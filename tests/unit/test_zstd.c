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

#include "codec/unpack.h"
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

/* --- files ------------------------------------------------------------------------------------ */

static struct str of(const struct strbuf *b)
{
	return (struct str){b->p, b->n};
}

static void fill(struct strbuf *b, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++, seed = seed * 1664525 + 1013904223)
		assert_true(sb_putc(b, (char)('a' + (seed >> 28))));
}

static bool file_fails(struct str packed, uint64_t *offset)
{
	struct strbuf out = {0};
	struct incore_error e = {0};
	bool ok = packed_unpack(packed, "x.zst", &out, &e);

	assert_true(ok || err_is(&e, "bad-zstd"));
	*offset = e.offset;
	incore_error_clear(&e);
	sb_free(&out);
	return !ok;
}

static void test_zstd_file(void **state)
{
	static const size_t sizes[] = {0, 1, 100, 65536, 700000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct strbuf plain = {0}, packed = {0}, out = {0};
		uint8_t head[50];
		size_t n;

		fill(&plain, sizes[i], 7);
		assert_true(zstd_pack(plain.p ? plain.p : "", plain.n, 3, &packed, NULL));
		assert_true(packed_is(of(&packed)) && zstd_is(of(&packed)));
		assert_true(packed_unpack(of(&packed), "x.zst", &out, NULL));
		assert_true(out.n == plain.n && (!out.n || memcmp(out.p, plain.p, out.n) == 0));
		n = packed_head(of(&packed), head, sizeof(head));
		assert_true(n == (plain.n < sizeof(head) ? plain.n : sizeof(head)));
		assert_true(!n || memcmp(head, plain.p, n) == 0);
		sb_free(&plain);
		sb_free(&packed);
		sb_free(&out);
	}
}

/* Several frames, one that is to be skipped, and a block that is filled up. */
static void test_zstd_frames(void **state)
{
	struct strbuf packed = {0}, out = {0};

	(void)state;
	assert_true(sb_add(&packed, "\x5a\x2a\x4d\x18\4\0\0\0skip", 12));
	assert_true(zstd_is(of(&packed)));
	assert_true(zstd_pack("one ", 4, 3, &packed, NULL) && zstd_pack("", 0, 3, &packed, NULL) &&
		    zstd_pack("two", 3, 3, &packed, NULL));
	assert_true(sb_add(&packed, "\0\0\0\0\0\0\0\0", 8));
	assert_true(packed_unpack(of(&packed), "x.zst", &out, NULL));
	assert_true(str_is(of(&out), "one two"));
	sb_free(&packed);
	sb_free(&out);
}

static void test_zstd_bad_file(void **state)
{
	struct strbuf plain = {0}, packed = {0};
	uint64_t offset = 0;

	(void)state;
	assert_false(packed_is(STR("{\"a\":1, \"b\":2}")) || packed_is(STR("\x28\xb5\x2f")));
	fill(&plain, 5000, 3);
	assert_true(zstd_pack(plain.p, plain.n, 3, &packed, NULL));
	for (size_t n = 4; n < packed.n; n++)
		assert_true(file_fails(str_sub(of(&packed), 0, n), &offset) && offset <= n);
	for (size_t i = 4; i < packed.n; i++) { /* never overruns, whatever it says */
		packed.p[i] ^= 0x55;
		file_fails(of(&packed), &offset);
		assert_true(offset <= packed.n);
		packed.p[i] ^= 0x55;
	}
	sb_free(&plain);
	sb_free(&packed);
}

static void test_zstd_bomb(void **state)
{
	struct strbuf plain = {0}, packed = {0};
	uint64_t offset = 0;

	(void)state;
	assert_true(sb_reserve(&plain, (size_t)65 << 20));
	memset(plain.p, 0, (size_t)65 << 20);
	assert_true(zstd_pack(plain.p, (size_t)65 << 20, 1, &packed, NULL));
	assert_true(file_fails(of(&packed), &offset));
	sb_reset(&packed);
	assert_true(zstd_pack(plain.p, (size_t)60 << 20, 1, &packed, NULL));
	assert_false(file_fails(of(&packed), &offset));
	sb_free(&plain);
	sb_free(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zstd_round_trip_and_damage),
		cmocka_unit_test(test_zstd_file),
		cmocka_unit_test(test_zstd_frames),
		cmocka_unit_test(test_zstd_bad_file),
		cmocka_unit_test(test_zstd_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
