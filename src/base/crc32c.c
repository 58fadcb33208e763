/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c.c: CRC-32C, eight bytes per step with tables, or with the CPU's instruction. The
 * instruction has a latency of three cycles and one can start each cycle, so long data is processed
 * as three streams, whose checksums are combined by carry-less multiplication.
 *
 * Parts: tables; the checksum.
 */
#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/little_endian.h"
#endif

/* --- the tables ------------------------------------------------------------------------------- */

/*
 * Row k, entry b: the checksum of byte b followed by k zero bytes (CRC-32C, reflected polynomial
 * 0x82f63b78, no inversion). Eight rows process eight bytes per step. Without inversion the checksum
 * is linear: an entry is the xor of the entries of the bits of its byte, so that the entries of 1,
 * 2, 4, .. 128 define the whole row.
 */
#define BITS_1(x, a) (x), (x) ^ (a)
#define BITS_2(x, b, a) BITS_1(x, a), BITS_1((x) ^ (b), a)
#define BITS_3(x, c, ...) BITS_2(x, __VA_ARGS__), BITS_2((x) ^ (c), __VA_ARGS__)
#define BITS_4(x, d, ...) BITS_3(x, __VA_ARGS__), BITS_3((x) ^ (d), __VA_ARGS__)
#define BITS_5(x, e, ...) BITS_4(x, __VA_ARGS__), BITS_4((x) ^ (e), __VA_ARGS__)
#define BITS_6(x, f, ...) BITS_5(x, __VA_ARGS__), BITS_5((x) ^ (f), __VA_ARGS__)
#define BITS_7(x, g, ...) BITS_6(x, __VA_ARGS__), BITS_6((x) ^ (g), __VA_ARGS__)
#define BITS_8(x, h, ...) BITS_7(x, __VA_ARGS__), BITS_7((x) ^ (h), __VA_ARGS__)
/* From the entry of 128 down to that of 1. */
#define ROW(...)                                                                                   \
	{                                                                                          \
		BITS_8(0, __VA_ARGS__)                                                             \
	}

static const uint32_t crc32c_table[8][256] = {
	ROW(0x82f63b78, 0x417b1dbc, 0x20bd8ede, 0x105ec76f, 0x8ad958cf, 0xc79a971f, 0xe13b70f7,
		0xf26b8303),
	ROW(0xfbc3faf9, 0xff17c604, 0x7f8be302, 0x3fc5f181, 0x9d14c3b8, 0x4e8a61dc, 0x274530ee,
		0x13a29877),
	ROW(0x8b277743, 0xc76580d9, 0xe144fb14, 0x70a27d8a, 0x38513ec5, 0x9edea41a, 0x4f6f520d,
		0xa541927e),
	ROW(0x52a0c93f, 0xaba65fe7, 0xd725148b, 0xe964b13d, 0xf64463e6, 0x7b2231f3, 0xbf672381,
		0xdd45aab8),
	ROW(0x6ea2d55c, 0x37516aae, 0x1ba8b557, 0x8f2261d3, 0xc5670b91, 0xe045beb0, 0x7022df58,
		0x38116fac),
	ROW(0x1c08b7d6, 0x0e045beb, 0x85f4168d, 0xc00c303e, 0x6006181f, 0xb2f53777, 0xdb8ca0c3,
		0xef306b19),
	ROW(0xf56e0ef4, 0x7ab7077a, 0x3d5b83bd, 0x9c5bfaa6, 0x4e2dfd53, 0xa5e0c5d1, 0xd0065990,
		0x68032cc8),
	ROW(0x34019664, 0x1a00cb32, 0x0d006599, 0x847609b4, 0x423b04da, 0x211d826d, 0x9278fa4e,
		0x493c7d27),
};

/* --- checksums -------------------------------------------------------------------------------- */

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		crc ^= le32(p);
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

TARGET_CRC static uint64_t crc32c_load64(const uint8_t *p)
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
		a = _mm_crc32_u64(a, crc32c_load64(p));
		b = _mm_crc32_u64(b, crc32c_load64(p + bytes));
		c = _mm_crc32_u64(c, crc32c_load64(p + 2 * bytes));
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
		crc = _mm_crc32_u64(crc, crc32c_load64(p));
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
