/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c_table.c: row k, entry b: the checksum of byte b followed by k zero bytes (CRC-32C,
 * reflected polynomial 0x82f63b78, no inversion). Eight rows process eight bytes per step. Without
 * inversion the checksum is linear: an entry is the xor of the entries of the bits of its byte, so
 * that the entries of 1, 2, 4, .. 128 define the whole row.
 */
#include "base/crc32c.h"

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

const uint32_t crc32c_table[8][256] = {
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
