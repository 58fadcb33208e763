/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c.c: CRC-32C, eight bytes per step with tables, or with the CPU's instruction. The
 * instruction has a latency of three cycles and one can start each cycle, so long data is processed
 * as three streams, whose checksums are combined by carry-less multiplication.
 */
#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		crc ^= p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		crc = crc32c_table[7][crc & 255] ^ crc32c_table[6][crc >> 8 & 255] ^
		      crc32c_table[5][crc >> 16 & 255] ^ crc32c_table[4][crc >> 24] ^
		      crc32c_table[3][p[4]] ^ crc32c_table[2][p[5]] ^ crc32c_table[1][p[6]] ^
		      crc32c_table[0][p[7]];
	}
	while (n-- > 0)
		crc = crc32c_table[0][(crc ^ *p++) & 255] ^ crc >> 8;
	return ~crc;
}

#if defined(__x86_64__)
/* Bytes of each of the three streams, and x^(8 * bytes - 33), x^(16 * bytes - 33) mod P, reflected:
 * multiplying a checksum by one, reduced by the instruction, moves it past one or two streams.
 */
#define LONG_BYTES ((size_t)4096)
#define LONG_ONE 0x82f89c77u
#define LONG_TWO 0x54a86326u
#define SHORT_BYTES ((size_t)256)
#define SHORT_ONE 0xb9e02b86u
#define SHORT_TWO 0xdd7e3b0cu

#define TARGET_CRC __attribute__((target("sse4.2,pclmul")))

TARGET_CRC static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

TARGET_CRC static uint64_t move_past(uint64_t crc, uint32_t power)
{
	__m128i product = _mm_clmulepi64_si128(
		_mm_cvtsi64_si128((int64_t)crc), _mm_cvtsi64_si128((int64_t)power), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Three streams of `bytes` each, at p. */
TARGET_CRC static uint64_t three_streams(
	uint64_t a, const uint8_t *p, size_t bytes, uint32_t past_one, uint32_t past_two)
{
	uint64_t b = 0, c = 0;

	for (const uint8_t *end = p + bytes; p < end; p += 8) {
		a = _mm_crc32_u64(a, load64(p));
		b = _mm_crc32_u64(b, load64(p + bytes));
		c = _mm_crc32_u64(c, load64(p + 2 * bytes));
	}
	return move_past(a, past_two) ^ move_past(b, past_one) ^ c;
}

TARGET_CRC static uint32_t crc32c_sse42(uint32_t start, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t crc = (uint32_t)~start;

	for (; n >= 3 * LONG_BYTES; n -= 3 * LONG_BYTES, p += 3 * LONG_BYTES)
		crc = three_streams(crc, p, LONG_BYTES, LONG_ONE, LONG_TWO);
	for (; n >= 3 * SHORT_BYTES; n -= 3 * SHORT_BYTES, p += 3 * SHORT_BYTES)
		crc = three_streams(crc, p, SHORT_BYTES, SHORT_ONE, SHORT_TWO);
	for (; n >= 8; n -= 8, p += 8)
		crc = _mm_crc32_u64(crc, load64(p));
	while (n-- > 0)
		crc = _mm_crc32_u8((uint32_t)crc, *p++);
	return ~(uint32_t)crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
		return crc32c_sse42(crc, data, n);
#endif
	return crc32c_portable(crc, data, n);
}
