/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_rows.c: reads arrays of integers at memory speed. A window of 32 bytes is classified at
 * once; if it holds a row "[1,22,333]" of plain digits, the positions of the commas give all values
 * without looking at single bytes. Anything else (white space, signs, long rows) goes to the
 * general path, row by row.
 *
 * Parts: rows of five integers with AVX2; rows of integers.
 */
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "codec/json_core.h"
#include "codec/json_reader.h"

/* --- rows of five integers with AVX2 ---------------------------------------------------------- */

/*
 * Reads rows of five integers with AVX2. A window of 64 bytes is classified at once for all rows in
 * it, so that finding a row does not depend on the previous one; the five numbers of a row are
 * converted together.
 */

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
INLINE_AVX2 __m256i fours256(__m256i digits)
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
	v = _mm256_packus_epi32(fours256(v), fours256(w));
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

/* --- rows of integers ------------------------------------------------------------------------- */

#define WINDOW_BYTES 32
#define ROW_MOST_COLS 15 /* more do not fit into a window */
/* Must be inlined once per number of columns, so that the loops over columns are unrolled. */
#define HOT_INLINE static inline __attribute__((always_inline))

struct rows_window {	/* bit i: byte i of the window is ... */
	uint32_t other; /* not a digit */
	uint32_t comma;
	uint32_t zero; /* '0' */
};

#ifdef __SSE2__
static inline struct rows_window window_at(const char *p)
{
	const __m128i *q = (const __m128i *)(const void *)p;
	__m128i a = _mm_loadu_si128(q), b = _mm_loadu_si128(q + 1);
	__m128i base = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9), comma = _mm_set1_epi8(',');
	__m128i da = _mm_sub_epi8(a, base), db = _mm_sub_epi8(b, base);
	__m128i zero = _mm_setzero_si128();
	struct rows_window w;

#define MASK(x, y) ((uint32_t)_mm_movemask_epi8(x) | (uint32_t)_mm_movemask_epi8(y) << 16)
	w.other = ~MASK(_mm_cmpeq_epi8(_mm_min_epu8(da, nine), da),
		_mm_cmpeq_epi8(_mm_min_epu8(db, nine), db));
	w.comma = MASK(_mm_cmpeq_epi8(a, comma), _mm_cmpeq_epi8(b, comma));
	w.zero = MASK(_mm_cmpeq_epi8(da, zero), _mm_cmpeq_epi8(db, zero));
#undef MASK
	return w;
}
#else
/* Gathers the high bits of the bytes. */
static inline uint32_t json_rows_gather(uint64_t high)
{
	return (uint32_t)(((high & JSON_HIGH) >> 7) * 0x0102040810204080u >> 56);
}

/* High bit of each byte of t that is above `most`; exact for most < 0x80. */
static inline uint64_t bytes_above(uint64_t t, unsigned char most)
{
	return ((t & ~JSON_HIGH) + JSON_ONES * (0x7fu - most)) | t;
}

static inline struct rows_window window_at(const char *p)
{
	struct rows_window w = {0, 0, 0};

	for (unsigned i = 0; i < WINDOW_BYTES; i += 8) {
		uint64_t v = json_load64(p + i), digits = v ^ JSON_ONES * '0';

		w.other |= json_rows_gather(bytes_above(digits, 9)) << i;
		w.comma |= json_rows_gather(~bytes_above(v ^ JSON_ONES * ',', 0)) << i;
		w.zero |= json_rows_gather(~bytes_above(digits, 0)) << i;
	}
	return w;
}
#endif

/* The value of n digits at p, 1 <= n <= 8; reads 8 bytes. */
static inline uint64_t digits8(const char *p, unsigned n)
{
	uint64_t v = json_load64(p) << ((64 - 8 * n) & 63);

	v &= JSON_ONES * 0x0f;
	v = (v * (10 * 256 + 1) >> 8) & 0x00ff00ff00ff00ffu;
	v = (v * (100 * 65536 + 1) >> 16) & 0x0000ffff0000ffffu;
	return v * ((UINT64_C(10000) << 32) + 1) >> 32;
}

/* digits8() for 1 <= n <= 16. */
static inline int64_t digits16(const char *p, unsigned n)
{
	if (n <= 8)
		return (int64_t)digits8(p, n);
	return (int64_t)(digits8(p, n - 8) * 100000000 + digits8(p + n - 8, 8));
}

/*
 * The numbers of a row: number i lies between the bytes at[i] and at[i + 1] of p, which are the
 * bracket or comma before and after it. False if a number is too long.
 */
static bool row_values(const char *p, const unsigned *at, unsigned n_cols, int64_t *out)
{
	for (unsigned i = 0; i < n_cols; i++) {
		unsigned n = at[i + 1] - at[i] - 1;

		if (n > 16)
			return false;
		out[i] = digits16(p + at[i] + 1, n);
	}
	return true;
}

#ifdef __SSE2__
/* digit_masks + 8 * n keeps the last n of 8 bytes, and in them the digit's value. */
static const uint64_t json_rows_digit_masks[] = {
	0, /* unused: numbers are not empty */
	0x0f00000000000000,
	0x0f0f000000000000,
	0x0f0f0f0000000000,
	0x0f0f0f0f00000000,
	0x0f0f0f0f0f000000,
	0x0f0f0f0f0f0f0000,
	0x0f0f0f0f0f0f0f00,
	0x0f0f0f0f0f0f0f0f,
};

/* The n digits before p, in the high bytes of 8 bytes. */
static inline __m128i digits_before(const char *p, unsigned n)
{
	__m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(p - 8));

	return _mm_and_si128(
		v, _mm_loadl_epi64((const __m128i *)(const void *)&json_rows_digit_masks[n]));
}

/* Converts two groups of 8 digits to four numbers of 4 digits, in 32-bit lanes. */
static inline __m128i fours(__m128i a, __m128i b)
{
	__m128i v = _mm_unpacklo_epi64(a, b);

	v = _mm_srli_epi16(_mm_mullo_epi16(v, _mm_set1_epi16(10 * 256 + 1)), 8);
	return _mm_madd_epi16(v, _mm_set1_epi32(1 << 16 | 100));
}

/* Four numbers of 8 digits in 32-bit lanes. */
static inline __m128i eights(__m128i ab, __m128i cd)
{
	return _mm_madd_epi16(_mm_packs_epi32(ab, cd), _mm_set1_epi32(1 << 16 | 10000));
}

/* row_values() for numbers of at most 8 digits, with vector multiplications. */
HOT_INLINE bool row_values_sse2(const char *p, const unsigned *at, unsigned n_cols, int64_t *out)
{
	__m128i v[6], zero = _mm_setzero_si128();

	v[5] = zero;
#pragma GCC unroll 5
	for (unsigned i = 0; i < n_cols; i++) {
		unsigned n = at[i + 1] - at[i] - 1;

		if (n > 8)
			return false;
		v[i] = digits_before(p + at[i + 1], n);
	}
	if (n_cols == 2) {
		v[2] = eights(fours(v[0], v[1]), zero);
		_mm_storeu_si128((__m128i *)(void *)out, _mm_unpacklo_epi32(v[2], zero));
		return true;
	}
	v[0] = eights(fours(v[0], v[1]), fours(v[2], v[3]));
	v[4] = eights(fours(v[4], zero), zero);
	_mm_storeu_si128((__m128i *)(void *)out, _mm_unpacklo_epi32(v[0], zero));
	_mm_storeu_si128((__m128i *)(void *)(out + 2), _mm_unpackhi_epi32(v[0], zero));
	_mm_storel_epi64((__m128i *)(void *)(out + 4), v[4]);
	return true;
}
#endif

/*
 * Reads one row at p, which lies in the window w (bit 0 is p). Returns the length of the row in
 * bytes, or 0 if it has another form than expected. May read 8 bytes before p.
 */
HOT_INLINE unsigned row_in_window(
	const char *p, struct rows_window w, unsigned n_cols, int64_t *out)
{
	uint32_t closers = w.other & ~w.comma & ~1u, commas, bad;
	unsigned at[ROW_MOST_COLS + 1];

	if (!closers)
		return 0;
	/* an empty item, or a leading 0 */
	bad = w.other << 1 & (w.other | (w.zero & ~(w.other >> 1)));
	bad &= closers ^ (closers - 1);
	commas = w.comma & ~closers & (closers - 1);
	at[0] = 0;
#pragma GCC unroll 5
	for (unsigned i = 1; i < n_cols; i++) {
		if (!commas)
			return 0;
		at[i] = (unsigned)__builtin_ctz(commas);
		commas &= commas - 1;
	}
	at[n_cols] = (unsigned)__builtin_ctz(closers);
	if (bad || commas || p[0] != '[' || p[at[n_cols]] != ']')
		return 0;
#ifdef __SSE2__
	if ((n_cols == 5 || n_cols == 2) && row_values_sse2(p, at, n_cols, out))
		return at[n_cols] + 1;
#endif
	return row_values(p, at, n_cols, out) ? at[n_cols] + 1 : 0;
}

static inline struct rows_window json_rows_window_drop(struct rows_window w, unsigned n)
{
	return (struct rows_window){w.other >> n, w.comma >> n, w.zero >> n};
}

/* Reads rows of the expected form without white space; stops before anything else. */
HOT_INLINE size_t rows_fast(struct json_reader *r, unsigned n_cols, size_t max_rows, int64_t *out)
{
	const char *p = r->p, *row = p, *done = p;
	struct rows_window w = {0, 0, 0};
	size_t n = 0;

	if (r->need_comma) {
		if (p >= r->end || *p != ',')
			return 0;
		p++;
	}
	if (p - r->start < 8)
		return 0;
	while (n < max_rows && p < r->end) {
		unsigned size;

		if (n_cols > 3 || !(w.other & ~w.comma & ~1u))
			w = window_at(p);
		size = row_in_window(p, w, n_cols, out + n * n_cols);
		if (!size)
			break;
		row = p;
		n++;
		done = p + size;
		if (*done != ',')
			break;
		p = done + 1;
		w = size < WINDOW_BYTES - 1 ? json_rows_window_drop(w, size + 1)
					    : (struct rows_window){0, 0, 0};
	}
	if (n) {
		r->value_at = row;
		r->p = done;
		r->need_comma = true;
	}
	return n;
}

/* Reads a plain integer of at most 16 digits at p; returns the number of digits, or 0 for the
 * general path. */
static inline unsigned plain_integer(const char *p, int64_t *out)
{
	struct rows_window w = window_at(p);
	unsigned n = w.other ? (unsigned)__builtin_ctz(w.other) : WINDOW_BYTES;

	if (n == 0 || n > 16 || (n > 1 && *p == '0') || (p[n] != ',' && p[n] != ']'))
		return 0;
	*out = digits16(p, n);
	return n;
}

/* Reads the integer at r->p, where an item begins. */
static inline bool get_item(struct json_reader *r, int64_t *out)
{
	unsigned size = plain_integer(r->p, out);

	return size ? json_end_value(r, r->p + size) : json_get_i64(r, out);
}

static bool row_general(struct json_reader *r, size_t n_cols, int64_t *out)
{
	const char *at;

	if (!json_next_item(r))
		return false;
	at = r->p;
	if (!json_enter_array(r))
		return false;
	for (size_t i = 0; i < n_cols; i++) {
		if (!json_next_item(r)) {
			r->value_at = at;
			return json_reject(r, "bad-type",
				"expected a row of %zu integers, found %zu", n_cols, i);
		}
		if (!get_item(r, &out[i]))
			return false;
	}
	while (json_next_item(r))
		if (!json_skip(r))
			return false;
	r->value_at = at;
	return !r->is_failed;
}

size_t json_read_i64_rows(struct json_reader *r, size_t n_cols, size_t max_rows, int64_t *out)
{
	size_t n = 0;

	if (r->is_failed || n_cols == 0)
		return 0;
	while (n < max_rows) {
		if (r->depth < JSON_MAX_DEPTH && n_cols <= ROW_MOST_COLS) {
			int64_t *to = out + n * n_cols;

			if (n_cols == 5)
				n += rows_fast(r, 5, max_rows - n, to);
			else if (n_cols == 2)
				n += rows_fast(r, 2, max_rows - n, to);
			else
				n += rows_fast(r, (unsigned)n_cols, max_rows - n, to);
		}
		if (n == max_rows || !row_general(r, n_cols, out + n * n_cols))
			break;
		n++;
	}
	return n;
}

size_t json_read_i64s(struct json_reader *r, size_t max, int64_t *out)
{
	size_t n = 0;

	if (r->is_failed)
		return 0;
	while (n < max && json_next_item(r) && get_item(r, &out[n]))
		n++;
	return n;
}
