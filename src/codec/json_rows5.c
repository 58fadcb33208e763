/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_rows5.c: reads rows of five integers with AVX2. A window of 64 bytes is classified at once
 * for all rows in it, so that finding a row does not depend on the previous one; the five numbers
 * of a row are converted together.
 */
#include "codec/json_core.h"
#include "codec/json_reader.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define USE_AVX2 __attribute__((target("avx2,bmi")))
#define INLINE_AVX2 USE_AVX2 __attribute__((always_inline)) static inline
#define FIRST_DIGITS 16u /* maximum of the first number */
#define OTHER_DIGITS 8u	 /* maximum of the others */

struct window64 {	  /* bit i: byte i of the window is ... */
	uint64_t closers; /* neither digit nor comma: a bracket, or a byte that ends the row */
	uint64_t commas;
	uint64_t bad_zero; /* a leading 0 */
};

INLINE_AVX2 uint64_t equal64(__m256i a, __m256i b, __m256i with_a, __m256i with_b)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, with_a)) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, with_b)) << 32;
}

INLINE_AVX2 struct window64 window64_at(const char *p)
{
	const __m256i *q = (const __m256i *)(const void *)p;
	__m256i a = _mm256_loadu_si256(q), b = _mm256_loadu_si256(q + 1);
	__m256i base = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9);
	__m256i comma = _mm256_set1_epi8(',');
	__m256i da = _mm256_sub_epi8(a, base), db = _mm256_sub_epi8(b, base);
	uint64_t digits = equal64(da, db, _mm256_min_epu8(da, nine), _mm256_min_epu8(db, nine));
	uint64_t commas = equal64(a, b, comma, comma), zeros = equal64(a, b, base, base);

	return (struct window64){~(digits | commas), commas, zeros & ~(digits << 1) & digits >> 1};
}

/* digit_masks[8 + n] keeps, of the 8 bytes before the end of a number of n digits, those of the
 * number, and in them the digit's value; digit_masks[n] does so for the 8 bytes before them. */
static const uint64_t digit_masks[8 + FIRST_DIGITS + 1] = {
	[9] = 0x0f00000000000000,
	[10] = 0x0f0f000000000000,
	[11] = 0x0f0f0f0000000000,
	[12] = 0x0f0f0f0f00000000,
	[13] = 0x0f0f0f0f0f000000,
	[14] = 0x0f0f0f0f0f0f0000,
	[15] = 0x0f0f0f0f0f0f0f00,
	[16 ... 24] = 0x0f0f0f0f0f0f0f0f,
};

/* Loads two groups of 8 digits, each before its given end. */
INLINE_AVX2 __m128i digit_pair(
	const char *a, const uint64_t *keep_a, const char *b, const uint64_t *keep_b)
{
	__m128i v = _mm_set_epi64x((int64_t)json_load64(b - 8), (int64_t)json_load64(a - 8));

	return _mm_and_si128(v, _mm_set_epi64x((int64_t)*keep_b, (int64_t)*keep_a));
}

/* Converts 32 digits to eight numbers of 4 digits, in 32-bit lanes. */
INLINE_AVX2 __m256i fours(__m256i digits)
{
	__m256i twos = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));

	return _mm256_madd_epi16(twos, _mm256_set1_epi32(1 << 16 | 100));
}

/*
 * Reads the row whose '[' is byte `start` and whose closer is byte `end` of the window at p;
 * removes its commas from the mask. False if it has another form. Reads 16 bytes before the row.
 */
INLINE_AVX2 bool row5_at(
	const char *p, uint64_t start, uint64_t end, uint64_t *commas, struct json_row5 *out)
{
	const uint64_t *keep = digit_masks + 8 + 1;
	uint64_t at[6] = {start}, n[5]; /* ends of numbers; number of digits - 1 */
	__m256i v, w;

#pragma GCC unroll 4
	for (unsigned i = 1; i < 5; i++, *commas = _blsr_u64(*commas))
		at[i] = _tzcnt_u64(*commas); /* 64 if there is none */
	at[5] = end;
#pragma GCC unroll 5
	for (unsigned i = 0; i < 5; i++)
		n[i] = at[i + 1] - at[i] - 2;
	/* too long, or without a digit (wraps below zero), or past the row's end if commas are
	 * missing */
	if (n[0] >= FIRST_DIGITS || (n[1] | n[2] | n[3] | n[4]) >= OTHER_DIGITS)
		return false;
	v = _mm256_castsi128_si256(digit_pair(p + at[1], keep + n[0], p + at[2], keep + n[1]));
	v = _mm256_inserti128_si256(
		v, digit_pair(p + at[3], keep + n[2], p + at[4], keep + n[3]), 1);
	/* next to the fifth number the digits of the first above 8: usually none */
	w = _mm256_zextsi128_si256(
		digit_pair(p + at[5], keep + n[4], p + at[1] - 8, digit_masks + 1 + n[0]));
	v = _mm256_packus_epi32(fours(v), fours(w));
	v = _mm256_madd_epi16(v, _mm256_set1_epi32(1 << 16 | 10000));
	_mm256_storeu_si256((__m256i *)(void *)out, v);
	return true;
}

/* Reads the rows of the window at p; returns their length in bytes, each including the comma after
 * it, which is required. */
INLINE_AVX2 uint64_t rows5_in_window(
	const char *p, size_t max_rows, size_t *n_rows, struct json_row5 *out)
{
	struct window64 w = window64_at(p);
	uint64_t start = 0;

	while (*n_rows < max_rows) {
		uint64_t closers = _blsr_u64(w.closers), end = _tzcnt_u64(closers);

		if (!closers)
			break;
		if (p[start] != '[' || p[end] != ']' || p[end + 1] != ',' ||
			_blsmsk_u64(closers) & w.bad_zero ||
			!row5_at(p, start, end, &w.commas, &out[*n_rows]) ||
			w.commas & (closers - 1))
			break;
		w.closers = _blsr_u64(closers);
		w.commas = _blsr_u64(w.commas);
		start = end + 2;
		++*n_rows;
	}
	return start;
}

USE_AVX2 static size_t rows5_avx2(struct json_reader *r, size_t max_rows, struct json_row5 *out)
{
	const char *p = r->p + r->need_comma;
	size_t n = 0;
	uint64_t size;

	do {
		size = rows5_in_window(p, max_rows, &n, out);
		p += size;
	} while (size && n < max_rows && p < r->end);
	if (n) {
		r->p = p - 1;
		r->need_comma = true;
		for (r->value_at = p - 2; *r->value_at != '['; r->value_at--)
			;
	}
	return n;
}
#endif

size_t json_read_rows5(struct json_reader *r, size_t max_rows, struct json_row5 *out)
{
#ifdef USE_AVX2
	if (!r->is_failed && r->depth < JSON_MAX_DEPTH && r->p < r->end && r->p - r->start >= 16 &&
		(!r->need_comma || *r->p == ',') && __builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("bmi"))
		return rows5_avx2(r, max_rows, out);
#endif
	(void)r;
	(void)max_rows;
	(void)out;
	return 0;
}
