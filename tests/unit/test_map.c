/* SPDX-License-Identifier: Apache-2.0 */
/* Do the hash tables hold every key once, and do the hashes spread and stay the same? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/map.h"

static void test_map_u64(void **state)
{
	struct u64_map m = {0};
	uint64_t key, value, sum = 0;
	size_t pos = 0, n = 0;

	(void)state;
	assert_null(u64_map_find(&m, 0));
	for (uint64_t i = 0; i < 20000; i++)
		*u64_map_at(&m, i << 32) += i; /* keys that differ in the high half alone */
	for (uint64_t i = 0; i < 20000; i++)
		*u64_map_at(&m, i << 32) += 1;
	assert_int_equal(m.n, 20000);
	assert_int_equal(*u64_map_find(&m, (uint64_t)7 << 32), 8);
	assert_null(u64_map_find(&m, 5));
	while (u64_map_next(&m, &pos, &key, &value)) {
		assert_true(value == (key >> 32) + 1);
		sum += value;
		n++;
	}
	assert_int_equal(n, 20000);
	assert_true(sum == 19999u * 10000u + 20000u);
	u64_map_deinit(&m);
}

static void test_map_intern(void **state)
{
	struct intern in;
	char text[32];

	(void)state;
	intern_init(&in);
	assert_int_equal(intern_find(&in, STR("x")), INTERN_NONE);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "name %u", i);
			assert_int_equal(intern_add(&in, str_of(text)), i);
		}
	}
	assert_int_equal(intern_add(&in, STR("")), 5000);
	assert_int_equal(intern_add(&in, (struct str){NULL, 0}), 5000);
	assert_int_equal(in.n, 5001);
	assert_string_equal(in.strs[123].p, "name 123");
	assert_int_equal(intern_find(&in, STR("name 4999")), 4999);
	assert_int_equal(intern_find(&in, STR("name 5000")), INTERN_NONE);
	intern_deinit(&in);
}

static void test_map_hash_stream(void **state)
{
	uint8_t data[200];
	struct hash_stream h;
	struct hash128 whole, cut;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)hash_mix64(i);
	for (size_t n = 0; n <= sizeof(data); n++) {
		hash_stream_init(&h);
		hash_stream_add(&h, data, n);
		whole = hash_stream_end(&h);
		for (size_t a = 0; a <= n; a += 7) {
			hash_stream_init(&h);
			hash_stream_add(&h, data, a);
			hash_stream_add(&h, data + a, (n - a) / 2);
			hash_stream_add(&h, data + a + (n - a) / 2, n - a - (n - a) / 2);
			cut = hash_stream_end(&h);
			assert_true(cut.lo == whole.lo && cut.hi == whole.hi);
		}
	}
	/* written into files: must never change */
	hash_stream_init(&h);
	hash_stream_add(&h, "incore", 6);
	whole = hash_stream_end(&h);
	assert_true(whole.lo == 0xc9704c87839e4d9bu && whole.hi == 0x7e8456e2686aa338u);
}

/* One changed bit changes about half of the result; lengths of zeros all differ. */
static void test_map_hash_spread(void **state)
{
	uint8_t data[64] = {0};
	struct u64_map seen = {0};

	(void)state;
	for (size_t n = 0; n <= sizeof(data); n++)
		++*u64_map_at(&seen, hash_bytes(data, n, 0));
	assert_int_equal(seen.n, sizeof(data) + 1);
	for (size_t n = 1; n <= sizeof(data); n++) {
		uint64_t base = hash_bytes(data, n, 0);

		for (size_t bit = 0; bit < n * 8; bit++) {
			int changed;

			data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			changed = __builtin_popcountll(base ^ hash_bytes(data, n, 0));
			data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_in_range(changed, 10, 54);
		}
	}
	u64_map_deinit(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_u64),
		cmocka_unit_test(test_map_intern),
		cmocka_unit_test(test_map_hash_stream),
		cmocka_unit_test(test_map_hash_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
