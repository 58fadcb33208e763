/* SPDX-License-Identifier: Apache-2.0 */
/* test_gzip.c: what is packed comes back, in one member or several; what is cut, damaged or a bomb does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/gzip.h"

static struct str of(const struct strbuf *b)
{
	return (struct str){b->p, b->n};
}

static void fill(struct strbuf *b, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++, seed = seed * 1664525 + 1013904223)
		assert_true(sb_putc(b, seed ? (char)('a' + (seed >> 28)) : 'x'));
}

static bool fails(struct str packed, uint64_t *offset)
{
	struct strbuf out = {0};
	struct incore_error e = {0};
	bool ok = gzip_unpack(packed, "x.gz", &out, &e);

	assert_true(ok || err_is(&e, "bad-gzip"));
	*offset = e.offset;
	incore_error_clear(&e);
	sb_free(&out);
	return !ok;
}

static void test_round_trip(void **state)
{
	static const size_t sizes[] = {0, 1, 100, 65536, 300000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct strbuf plain = {0}, packed = {0}, out = {0};
		uint8_t head[50];
		size_t n;

		fill(&plain, sizes[i], 7);
		assert_true(gzip_pack(of(&plain), &packed));
		assert_true(gzip_is(of(&packed)));
		assert_true(gzip_unpack(of(&packed), "x.gz", &out, NULL));
		assert_true(out.n == plain.n && (!out.n || memcmp(out.p, plain.p, out.n) == 0));
		n = gzip_head(of(&packed), head, sizeof(head));
		assert_true(n == (plain.n < sizeof(head) ? plain.n : sizeof(head)));
		assert_true(!n || memcmp(head, plain.p, n) == 0);
		sb_free(&plain);
		sb_free(&packed);
		sb_free(&out);
	}
}

static void test_members(void **state)
{
	struct strbuf packed = {0}, out = {0};

	(void)state;
	assert_true(gzip_pack(STR("one "), &packed) && gzip_pack(STR(""), &packed) &&
		    gzip_pack(STR("two"), &packed));
	assert_true(
		sb_add(&packed, "\0\0\0\0\0\0\0\0\0\0\0\0", 12)); /* a block that is filled up */
	assert_true(gzip_unpack(of(&packed), "x.gz", &out, NULL));
	assert_true(str_is(of(&out), "one two"));
	sb_free(&packed);
	sb_free(&out);
}

static void test_bad(void **state)
{
	struct strbuf plain = {0}, packed = {0};
	uint64_t offset = 0;

	(void)state;
	assert_false(gzip_is(STR("{\"a\":1, \"b\":2}")) || gzip_is(STR("\x1f\x8b")));
	fill(&plain, 5000, 3);
	assert_true(gzip_pack(of(&plain), &packed));
	for (size_t n = 10; n < packed.n; n++)
		assert_true(fails(str_sub(of(&packed), 0, n), &offset) && offset <= n);
	packed.p[packed.n - 6] ^= 1; /* its sum */
	assert_true(fails(of(&packed), &offset));
	sb_free(&plain);
	sb_free(&packed);
}

static void test_bomb(void **state)
{
	struct strbuf plain = {0}, packed = {0};
	uint64_t offset = 0;

	(void)state;
	assert_true(sb_reserve(&plain, (size_t)65 << 20));
	memset(plain.p, 0, (size_t)65 << 20);
	plain.n = (size_t)65 << 20;
	assert_true(gzip_pack(of(&plain), &packed));
	assert_true(fails(of(&packed), &offset));
	sb_free(&packed);
	plain.n = (size_t)60 << 20;
	assert_true(gzip_pack(of(&plain), &packed));
	assert_false(fails(of(&packed), &offset));
	sb_free(&plain);
	sb_free(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
