/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of every dtype: known values, texts that read back to the same bits, statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dump/read/values.h"

static void expect(unsigned dtype, uint64_t bits, const char *want)
{
	char text[ELEMENT_TEXT];

	value_text(dtype, bits, VALUE_ROUND_TRIP, text);
	if (strcmp(text, want) != 0)
		fail_msg("%s 0x%llx: got %s, want %s", dtype_name(dtype), (unsigned long long)bits,
			text, want);
}

static void test_dump_values_known(void **state)
{
	(void)state;
	expect(DTYPE_FLOAT32, 0x3db504f3, "0.0883883461");
	expect(DTYPE_FLOAT32, 0x7fc00000, "nan");
	expect(DTYPE_FLOAT32, 0xff800000, "-inf");
	expect(DTYPE_FLOAT16, 0x0001, "5.9605e-08");
	expect(DTYPE_FLOAT16, 0x7bff, "65504");
	expect(DTYPE_FLOAT16, 0xfc00, "-inf");
	expect(DTYPE_FLOAT16, 0x8000, "-0");
	expect(DTYPE_BFLOAT16, 0x3f80, "1");
	expect(DTYPE_BFLOAT16, 0x3eab, "0.334");
	expect(DTYPE_FP8E4M3FN, 0x7e, "448");
	expect(DTYPE_FP8E4M3FN, 0x01, "0.001953125");
	expect(DTYPE_FP8E4M3FN, 0x08, "0.015625");
	expect(DTYPE_FP8E4M3FN, 0xff, "nan");
	expect(DTYPE_FP8E8M0, 127, "1");
	expect(DTYPE_FP8E8M0, 255, "nan");
	expect(DTYPE_FP4E2M1, 0x70, "0/6");
	expect(DTYPE_FP4E2M1, 0x9f, "-6/-0.5");
	expect(DTYPE_INT64, 1ull << 63, "-9223372036854775808");
	expect(DTYPE_UINT64, UINT64_MAX, "18446744073709551615");
	expect(DTYPE_INT8, 0xff, "-1");
	expect(DTYPE_BOOL, 1, "true");
	expect(DTYPE_BOOL, 7, "7");
}

/* Every 16-bit pattern is found again from its text. */
static void test_dump_values_round_trip(void **state)
{
	char text[ELEMENT_TEXT];

	(void)state;
	for (uint32_t bits = 0; bits < 65536; bits++) {
		float half = half_to_float((uint16_t)bits), wide = bfloat_to_float((uint16_t)bits);
		double back;

		if (!isnan(half)) {
			value_text(DTYPE_FLOAT16, bits, VALUE_ROUND_TRIP, text);
			back = strtod(text, NULL);
			for (int step = -1; step <= 1; step += 2) {
				float next = half_to_float((uint16_t)(bits + (unsigned)step));

				if (isfinite(next) && isfinite(half) && next != half)
					assert_true(fabs(back - (double)half) <
						    fabs(back - (double)next));
			}
		}
		if (isnan(wide) || isinf(wide))
			continue;
		value_text(DTYPE_BFLOAT16, bits, VALUE_ROUND_TRIP, text);
		back = strtod(text, NULL);
		for (int step = -1; step <= 1; step += 2) {
			float next = bfloat_to_float((uint16_t)(bits + (unsigned)step));

			if (isfinite(next) && next != wide)
				assert_true(fabs(back - (double)wide) < fabs(back - (double)next));
		}
	}
}

static void test_dump_values_float_round_trip(void **state)
{
	uint64_t seed = 1;
	char text[ELEMENT_TEXT];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint32_t bits, got;
		float f;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bits = (uint32_t)(seed >> 32);
		memcpy(&f, &bits, sizeof(f));
		if (isnan(f))
			continue;
		f = strtof(value_text(DTYPE_FLOAT32, bits, VALUE_ROUND_TRIP, text), NULL);
		memcpy(&got, &f, sizeof(got));
		if (got != bits)
			fail_msg("0x%08x prints %s, which is 0x%08x", bits, text, got);
	}
}

static void test_dump_values_scalars(void **state)
{
	char text[ELEMENT_TEXT];

	(void)state;
	assert_string_equal(scalar_text(DTYPE_INT32, 0xfffffff9, text), "-7");
	assert_string_equal(scalar_text(DTYPE_INT16, 65535, text), "-1");
	assert_string_equal(scalar_text(DTYPE_FLOAT32, 0x3f800000, text), "1");
	assert_string_equal(scalar_as_float(DTYPE_UINT64, 1065353216, text), "1");
	assert_null(scalar_as_float(DTYPE_UINT64, 3, text));
	assert_null(scalar_as_float(DTYPE_UINT64, 1ull << 40, text));
	assert_null(scalar_as_float(DTYPE_UINT32, 1065353216, text));
}

static void test_dump_values_stats(void **state)
{
	static const float values[] = {1.0f, -3.0f, 0.0f, INFINITY, -INFINITY, NAN, 5.0f};
	static const int64_t longs[] = {INT64_MIN, -1, INT64_MAX};
	static const uint8_t fours[] = {0x10, 0x76};
	struct value_stats s;

	(void)state;
	value_stats_of(DTYPE_FLOAT32, (const uint8_t *)values, 7, &s);
	assert_int_equal(s.n, 7);
	assert_int_equal(s.zeros + 10 * s.nans + 100 * s.pos_infs + 1000 * s.neg_infs, 1111);
	assert_true(s.min == -3 && s.max == 5 && s.mean == 0.75);
	assert_int_equal(s.bins[0] + s.bins[STATS_BINS - 1], 2);
	value_stats_of(DTYPE_INT64, (const uint8_t *)longs, 3, &s);
	assert_true(s.min_i64 == INT64_MIN && s.max_i64 == INT64_MAX);
	assert_true(fabs(s.mean + 2.0 / 3) < 1e-12);
	value_stats_of(DTYPE_FP4E2M1, fours, 2, &s);
	assert_true(s.n == 4 && s.min == 0 && s.max == 6 && s.mean == 2.625);
	value_stats_of(DTYPE_FLOAT32, NULL, 0, &s);
	assert_true(s.n == 0 && isnan(s.mean));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump_values_known),
		cmocka_unit_test(test_dump_values_round_trip),
		cmocka_unit_test(test_dump_values_float_round_trip),
		cmocka_unit_test(test_dump_values_scalars),
		cmocka_unit_test(test_dump_values_stats),
	};

	return cmocka_run_group_tests_name("dump_values", tests, NULL, NULL);
}
