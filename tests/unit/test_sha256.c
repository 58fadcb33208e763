/* SPDX-License-Identifier: Apache-2.0 */
/* test_sha256.c: the vectors of FIPS 180-4 and every cut of a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void check(const char *text, const char *want)
{
	size_t n = strlen(text);

	for (size_t cut = 0; cut <= n; cut++) {
		struct sha256 s;
		char hex[65];

		sha256_init(&s);
		sha256_add(&s, text, cut);
		sha256_add(&s, text + cut, n - cut);
		sha256_hex(&s, hex);
		assert_string_equal(hex, want);
	}
}

static void test_sha256_vectors(void **state)
{
	(void)state;
	check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_sha256_million(void **state)
{
	struct sha256 s;
	char hex[65];

	(void)state;
	sha256_init(&s);
	for (int i = 0; i < 100000; i++)
		sha256_add(&s, "aaaaaaaaaa", 10);
	sha256_hex(&s, hex);
	assert_string_equal(
		hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256_vectors),
		cmocka_unit_test(test_sha256_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
