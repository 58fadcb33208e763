/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.hpp: element types, the enums of the tile language and the words that recorded operands are
 * made of. Nothing computes: a tile is a place and a shape.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef AICORE
#define AICORE
#endif
#define __global__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __tf__
#define __in__
#define __out__
#define PTO_INST
#define PTO_INTERNAL inline

namespace incore
{
/* Where in the source an op stands: as a default argument here() is the place of the call. */
struct site {
	int line = 0;
	const char *file = "";

	site() = default;
	constexpr site(int l, const char *f) : line(l), file(f)
	{
	}
	static constexpr site here(int l = __builtin_LINE(), const char *f = __builtin_FILE())
	{
		return site(l, f);
	}
};
} // namespace incore
#define INCORE_HERE ::incore::site::here()

/* --- element types: storage and conversion, no arithmetic of their own --- */

namespace incore
{
inline uint32_t float_bits(float v)
{
	uint32_t u;

	std::memcpy(&u, &v, 4);
	return u;
}

inline float bits_float(uint32_t u)
{
	float v;

	std::memcpy(&v, &u, 4);
	return v;
}

/* Round to nearest even; a signalling NaN becomes a quiet one. */
inline uint16_t to_f16(float f)
{
	uint32_t x = float_bits(f), sign = x >> 16 & 0x8000, a = x & 0x7fffffff;

	if (a > 0x7f800000)
		return static_cast<uint16_t>(sign | 0x7e00);
	if (a >= 0x477ff000)
		return static_cast<uint16_t>(sign | 0x7c00);
	if (a < 0x38800000) { /* subnormal: let the float unit round */
		float m = bits_float(a) + 0.5f;

		return static_cast<uint16_t>(sign | (float_bits(m) - float_bits(0.5f)));
	}
	a += 0xc8000fff + (a >> 13 & 1);
	return static_cast<uint16_t>(sign | a >> 13);
}

inline float from_f16(uint16_t h)
{
	uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;

	if (e == 31)
		return bits_float(sign | 0x7f800000 | m << 13);
	if (e)
		return bits_float(sign | (e + 112) << 23 | m << 13);
	return bits_float(sign | float_bits(static_cast<float>(m) * 0x1p-24f));
}

inline uint16_t to_bf16(float f)
{
	uint32_t x = float_bits(f);

	if ((x & 0x7fffffff) > 0x7f800000)
		return static_cast<uint16_t>(x >> 16 | 0x40);
	return static_cast<uint16_t>((x + 0x7fff + (x >> 16 & 1)) >> 16);
}
} // namespace incore

#define INCORE_FLOAT16(NAME, TO, FROM)                                                             \
	struct NAME {                                                                              \
		uint16_t bits;                                                                     \
		NAME() = default;                                                                  \
		template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>              \
		NAME(T v) : bits(TO(static_cast<float>(v)))                                        \
		{                                                                                  \
		}                                                                                  \
		operator float() const                                                             \
		{                                                                                  \
			return FROM;                                                               \
		}                                                                                  \
	}
INCORE_FLOAT16(half, ::incore::to_f16, ::incore::from_f16(bits));
INCORE_FLOAT16(
	bfloat16_t, ::incore::to_bf16, ::incore::bits_float(static_cast<uint32_t>(bits) << 16));
#undef INCORE_FLOAT16
using float16_t = half;
using float32_t = float;

/* Eight bits or fewer: carried, never read as numbers. */
#define INCORE_SMALL(NAME)                                                                         \
	struct NAME {                                                                              \
		uint8_t bits;                                                                      \
		NAME() = default;                                                                  \
		template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>              \
		explicit NAME(T v) : bits(static_cast<uint8_t>(v))                                 \
		{                                                                                  \
		}                                                                                  \
	}
INCORE_SMALL(float8_e4m3_t);
INCORE_SMALL(float8_e5m2_t);
INCORE_SMALL(float8_e8m0_t);
INCORE_SMALL(hifloat8_t);
INCORE_SMALL(float4_e2m1x2_t);
INCORE_SMALL(float4_e1m2x2_t);
#undef INCORE_SMALL

/* --- enums of the machine --- */

enum pipe_t {
	PIPE_S = 0,
	PIPE_V = 1,
	PIPE_MTE1 = 2,
	PIPE_MTE2 = 3,
	PIPE_MTE3 = 4,
	PIPE_M = 5,
	PIPE_ALL = 6,
	PIPE_FIX = 7,
};
enum event_t {
	EVENT_ID0,
	EVENT_ID1,
	EVENT_ID2,
	EVENT_ID3,
	EVENT_ID4,
	EVENT_ID5,
	EVENT_ID6,
	EVENT_ID7,
};
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB };

namespace pto
{
enum class TileType : uint8_t {
	Vec,
	Mat,
	Left,
	Right,
	Acc,
	Bias,
	Scaling,
	ScaleLeft,
	ScaleRight,
	Ctrl,
};
enum class BLayout : uint8_t { RowMajor, ColMajor };
enum class SLayout : uint8_t { NoneBox, RowMajor, ColMajor };
enum class PadValue : uint8_t { Null, Zero, Max, Min };
enum class CompactMode : uint8_t { Null, Normal, RowPlusOne, RowAlignedPadding };
enum class Layout : uint8_t {
	ND,
	DN,
	NZ,
	MX_A_ZZ,
	MX_A_ND,
	MX_A_DN,
	MX_B_NN,
	MX_B_ND,
	MX_B_DN,
	NC1HWC0,
	FRACTAL_Z,
	FRACTAL_Z_S16S8,
	NDC1HWC0,
	FRACTAL_Z_3D,
	NHWC,
	NCHW,
	SCALE,
	MAX,
};
enum class RoundMode : uint8_t {
	CAST_NONE,
	CAST_RINT,
	CAST_ROUND,
	CAST_FLOOR,
	CAST_CEIL,
	CAST_TRUNC,
	CAST_ODD,
};
enum class SaturationMode : uint8_t { ON, OFF };
enum class AtomicType : uint8_t { AtomicNone, AtomicAdd, AtomicMax, AtomicMin };
enum class CmpMode : uint8_t { EQ, NE, LT, LE, GT, GE };
enum class STPhase : uint8_t { Unspecified, Partial, Final };
enum class AccPhase : uint8_t { Unspecified, Partial, Final };
enum class ReluPreMode : uint8_t { NoRelu, NormalRelu };
enum class MaskPattern : uint8_t {
	P0101 = 1,
	P1010 = 2,
	P0001 = 3,
	P0010 = 4,
	P0100 = 5,
	P1000 = 6,
	P1111 = 7,
};
enum class TileSplitAxis : uint8_t {
	TILE_NO_SPLIT,
	TILE_UP_DOWN,
	TILE_LEFT_RIGHT,
	TILE_UP_DOWN_ODD,
	TILE_LEFT_RIGHT_ODD,
};
enum Direction : uint8_t {
	DIR_C2V = 1,
	DIR_V2C = 2,
	DIR_BOTH = 3,
	DIR_V2C_CTRL = 4,
	DIR_C2V_GM = 5,
	DIR_V2C_GM = 6,
	DIR_BOTH_GM = 7,
};

constexpr int DYNAMIC = -1;
constexpr int C0_SIZE_BYTE = 32;
constexpr int BLOCK_BYTE_SIZE = 32;
constexpr int FRACTAL_NZ_ROW = 16;
constexpr int CUBE_BLOCK_SIZE = 512;

struct MrgSortExecutedNumList {
	uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
};

/* What an op gives back; ordering by such values is not modelled, flags are. */
struct RecordEvent {
	template <class... A> bool Wait(A &&...) const
	{
		return true;
	}
	template <class... A> bool Test(A &&...) const
	{
		return true;
	}
};
namespace comm
{
using AsyncEvent = RecordEvent;
}

/* Where an asynchronous prefetch keeps its state. */
struct PrefetchAsyncContext {
	void *session;

	explicit PrefetchAsyncContext(void *workspace) : session(workspace)
	{
	}
};
} // namespace pto

/* --- element types as the op stream names them --- */

namespace incore
{
template <class T> constexpr uint8_t dtype_of()
{
	using U = std::remove_cv_t<T>;

	if constexpr (std::is_same_v<U, float>)
		return 1;
	else if constexpr (std::is_same_v<U, half>)
		return 2;
	else if constexpr (std::is_same_v<U, bfloat16_t>)
		return 3;
	else if constexpr (std::is_same_v<U, float8_e4m3_t>)
		return 12;
	else if constexpr (std::is_same_v<U, float8_e5m2_t>)
		return 13;
	else if constexpr (std::is_same_v<U, float8_e8m0_t>)
		return 14;
	else if constexpr (std::is_same_v<U, hifloat8_t>)
		return 15;
	else if constexpr (std::is_same_v<U, float4_e2m1x2_t>)
		return 16;
	else if constexpr (std::is_same_v<U, float4_e1m2x2_t>)
		return 17;
	else if constexpr (std::is_same_v<U, double>)
		return 18;
	else if constexpr (std::is_same_v<U, bool>)
		return 19;
	else if constexpr (std::is_integral_v<U>)
		return static_cast<uint8_t>((sizeof(U) == 1	     ? 4
						    : sizeof(U) == 2 ? 6
						    : sizeof(U) == 4 ? 8
								     : 10) +
					    std::is_unsigned_v<U>);
	else
		return 0;
}

template <class T> constexpr uint8_t bits_of()
{
	return dtype_of<T>() == 16 || dtype_of<T>() == 17 ? 4 : static_cast<uint8_t>(8 * sizeof(T));
}
} // namespace incore
