/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.hpp: tiles, views of global memory, and the operand (`arg`) that any of them becomes. The
 * templates add types only; all that is recorded lies in their plain bases.
 */
#pragma once

#include "incore/types.hpp"

namespace incore
{
struct tile_form {
	uint8_t loc, dtype, bits, blayout, slayout, pad, compact;
	uint32_t fractal, rows, cols;
};

struct tile_base {
	const tile_form *form;
	uint64_t addr;
	int32_t vrow, vcol;
};

struct gm_base {
	void *ptr;
	uint8_t dtype, bits, layout;
	int64_t shape[5], stride[5];
};

struct pipe_base;

/* One operand of a recorded op. */
struct arg {
	enum what_t : uint8_t {
		NONE,
		TILE,
		GM,
		PIPE,
		SCALAR,
		POINTER,
		LIST,
		ROUND,
		SAT,
		CMP,
		ATOMIC,
		PHASE,
		RELU,
		MASK,
		SPLIT,
		FLAG,
		IGNORED,
	};
	what_t what;
	uint8_t dtype, bits;
	const void *p;
	uint64_t value;

	arg() : what(NONE), dtype(0), bits(0), p(nullptr), value(0)
	{
	}
	arg(what_t w, uint64_t v) : what(w), dtype(0), bits(0), p(nullptr), value(v)
	{
	}
	arg(const tile_base &t) : what(TILE), dtype(0), bits(0), p(&t), value(0)
	{
	}
	arg(const gm_base &g) : what(GM), dtype(0), bits(0), p(&g), value(0)
	{
	}
	arg(const pipe_base &q) : what(PIPE), dtype(0), bits(0), p(&q), value(0)
	{
	}
	template <class T> arg(T *v) : arg(POINTER, reinterpret_cast<uintptr_t>(v))
	{
	}
	template <class T,
		std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
	arg(T v)
	    : what(SCALAR), dtype(dtype_of<T>()), bits(bits_of<T>()), p(nullptr),
	      value(static_cast<uint64_t>(v))
	{
	}
	arg(bool v) : arg(FLAG, v)
	{
	}
	arg(float v) : what(SCALAR), dtype(1), bits(32), p(nullptr), value(float_bits(v))
	{
	}
	arg(double v) : arg(static_cast<float>(v))
	{
	}
	arg(half v) : what(SCALAR), dtype(2), bits(16), p(nullptr), value(v.bits)
	{
	}
	arg(bfloat16_t v) : what(SCALAR), dtype(3), bits(16), p(nullptr), value(v.bits)
	{
	}
	arg(pto::RoundMode v) : arg(ROUND, static_cast<uint64_t>(v))
	{
	}
	arg(pto::SaturationMode v) : arg(SAT, static_cast<uint64_t>(v))
	{
	}
	arg(pto::CmpMode v) : arg(CMP, static_cast<uint64_t>(v))
	{
	}
	arg(pto::AtomicType v) : arg(ATOMIC, static_cast<uint64_t>(v))
	{
	}
	arg(pto::STPhase v) : arg(PHASE, static_cast<uint64_t>(v))
	{
	}
	arg(pto::AccPhase v) : arg(PHASE, static_cast<uint64_t>(v))
	{
	}
	arg(pto::ReluPreMode v) : arg(RELU, static_cast<uint64_t>(v))
	{
	}
	arg(pto::MaskPattern v) : arg(MASK, static_cast<uint64_t>(v))
	{
	}
	arg(pto::TileSplitAxis v) : arg(SPLIT, static_cast<uint64_t>(v))
	{
	}
	arg(const pto::MrgSortExecutedNumList &l) : what(LIST), dtype(0), bits(0), p(&l), value(0)
	{
	}
	/* Events, sessions, settings of other kinds: taken, not recorded. */
	template <class T,
		std::enable_if_t<!std::is_arithmetic_v<T> && !std::is_pointer_v<T> &&
					 !std::is_array_v<T> && !std::is_base_of_v<tile_base, T> &&
					 !std::is_base_of_v<gm_base, T> &&
					 !std::is_base_of_v<pipe_base, T> &&
					 !std::is_base_of_v<arg, T>,
			int> = 0>
	arg(const T &) : arg(IGNORED, 0)
	{
	}
};

/* The recorder proper (driver.cpp). */
void record(int op, site s, const arg *v, unsigned n);
void assign(const arg &what, const arg &where, site s);
void get_value(const tile_base &t, uint64_t index, void *out, site s);
void set_value(const tile_base &t, uint64_t index, const arg &v, site s);
} // namespace incore

namespace pto
{
template <TileType L, class T, int R, int C, BLayout B = BLayout::RowMajor, int VR = R, int VC = C,
	SLayout S = SLayout::NoneBox, int F = 512, PadValue P = PadValue::Null,
	CompactMode M = CompactMode::Null>
struct Tile : incore::tile_base {
	using DType = T;
	using TileDType = T *;
	static constexpr TileType Loc = L;
	static constexpr int Rows = R, Cols = C, Numel = R * C;
	static constexpr int ValidRow = VR, ValidCol = VC;
	static constexpr int RowStride = B == BLayout::RowMajor ? C : 1;
	static constexpr int ColStride = B == BLayout::RowMajor ? 1 : R;
	static constexpr BLayout BFractal = B;
	static constexpr SLayout SFractal = S;
	static constexpr int SFractalSize = F;
	static constexpr PadValue PadVal = P;
	static constexpr CompactMode Compact = M;
	static constexpr bool isRowMajor = B == BLayout::RowMajor;
	static constexpr bool isBoxedLayout = S != SLayout::NoneBox;
	static constexpr incore::tile_form FORM = {static_cast<uint8_t>(L), incore::dtype_of<T>(),
		incore::bits_of<T>(), static_cast<uint8_t>(B), static_cast<uint8_t>(S),
		static_cast<uint8_t>(P), static_cast<uint8_t>(M), F, R, C};

	Tile() : incore::tile_base{&FORM, 0, VR == DYNAMIC ? R : VR, VC == DYNAMIC ? C : VC}
	{
	}
	template <class I, class J> Tile(I row, J col) : Tile()
	{
		if (VR == DYNAMIC)
			vrow = static_cast<int32_t>(row);
		if (VC == DYNAMIC)
			vcol = static_cast<int32_t>(col);
	}
	template <class I, class = std::enable_if_t<std::is_arithmetic_v<I>>>
	explicit Tile(I v) : Tile()
	{
		if (VR == DYNAMIC)
			vrow = static_cast<int32_t>(v);
		else if (VC == DYNAMIC)
			vcol = static_cast<int32_t>(v);
	}
	int GetValidRow() const
	{
		return vrow;
	}
	int GetValidCol() const
	{
		return vcol;
	}
	template <class I, class J> void SetValidShape(I row, J col)
	{
		vrow = static_cast<int32_t>(row);
		vcol = static_cast<int32_t>(col);
	}
	template <class I> void SetValidRow(I row)
	{
		vrow = static_cast<int32_t>(row);
	}
	template <class I> void SetValidCol(I col)
	{
		vcol = static_cast<int32_t>(col);
	}
	template <class I> T GetValue(I index, incore::site s = INCORE_HERE) const
	{
		T v;

		incore::get_value(*this, static_cast<uint64_t>(index), &v, s);
		return v;
	}
	template <class I, class V> void SetValue(I index, V v, incore::site s = INCORE_HERE)
	{
		incore::set_value(
			*this, static_cast<uint64_t>(index), incore::arg(static_cast<T>(v)), s);
	}
	/* An address of the chip: it can be passed on, not followed. */
	T *data() const
	{
		return reinterpret_cast<T *>(static_cast<uintptr_t>(addr));
	}
};

#ifdef PTO_NPU_ARCH_A5
#define INCORE_LEFT_LAYOUT BLayout::ColMajor
#else
#define INCORE_LEFT_LAYOUT BLayout::RowMajor
#endif
template <class T, int R, int C, int VR = R, int VC = C>
using TileLeft = Tile<TileType::Left, T, R, C, INCORE_LEFT_LAYOUT, VR, VC, SLayout::RowMajor, 512>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileRight = Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileAcc = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileLeftCompact = Tile<TileType::Left, T, R, C, INCORE_LEFT_LAYOUT, VR, VC, SLayout::RowMajor,
	512, PadValue::Null, CompactMode::Normal>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileRightCompact = Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC,
	SLayout::ColMajor, 512, PadValue::Null, CompactMode::Normal>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileAccCompact = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor,
	1024, PadValue::Null, CompactMode::Normal>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileLeftScale =
	Tile<TileType::ScaleLeft, T, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileRightScale =
	Tile<TileType::ScaleRight, T, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32>;
#undef INCORE_LEFT_LAYOUT

/* Five numbers, some of them known when compiled; Shape and Stride differ in name only. */
#define INCORE_FIVE(NAME, FIELD)                                                                   \
	template <int64_t A = 1, int64_t B = 1, int64_t C = 1, int64_t D = 1, int64_t E = 1>       \
	struct NAME {                                                                              \
		static constexpr int64_t FIXED[5] = {A, B, C, D, E};                               \
		static constexpr int64_t FIELD##0 = A, FIELD##1 = B, FIELD##2 = C, FIELD##3 = D,   \
					 FIELD##4 = E;                                             \
		int64_t FIELD[5] = {A, B, C, D, E};                                                \
		NAME()                                                                             \
		{                                                                                  \
			for (int64_t & v : FIELD)                                                  \
				v = v == DYNAMIC ? 1 : v;                                          \
		}                                                                                  \
		template <class... I,                                                              \
			class = std::enable_if_t<(sizeof...(I) > 0) &&                             \
						 (std::is_convertible_v<I, int64_t> && ...)>>      \
		NAME(I... given)                                                                   \
		{                                                                                  \
			const int64_t all[] = {static_cast<int64_t>(given)...};                    \
			unsigned next = 0;                                                         \
                                                                                                   \
			for (unsigned i = 0; i < 5; i++) {                                         \
				if (sizeof...(I) == 5)                                             \
					FIELD[i] = FIXED[i] == DYNAMIC ? all[i] : FIXED[i];        \
				else if (FIXED[i] == DYNAMIC)                                      \
					FIELD[i] = next < sizeof...(I) ? all[next++] : 1;          \
			}                                                                          \
		}                                                                                  \
	}
INCORE_FIVE(Shape, shape);
INCORE_FIVE(Stride, stride);
#undef INCORE_FIVE

namespace detail
{
constexpr int64_t times(int64_t a, int64_t b)
{
	return a == DYNAMIC || b == DYNAMIC ? DYNAMIC : a * b;
}
/* Column fractals of NZ: C0 elements wide. */
template <class T> constexpr int64_t c0()
{
	return C0_SIZE_BYTE * 8 / incore::bits_of<T>();
}
template <class T, int R, int C, Layout L> struct shape_2d {
	using type = Shape<1, 1, 1, R, C>;
};
template <class T, int R, int C> struct shape_2d<T, R, C, Layout::NZ> {
	using type = Shape<1, C == DYNAMIC ? DYNAMIC : C / c0<T>(), R == DYNAMIC ? DYNAMIC : R / 16,
		16, c0<T>()>;
};
template <class T, int R, int C, Layout L> struct stride_2d {
	using type = Stride<times(R, C), times(R, C), times(R, C), C, 1>;
};
template <class T, int R, int C> struct stride_2d<T, R, C, Layout::DN> {
	using type = Stride<times(R, C), times(R, C), times(R, C), 1, R>;
};
template <class T, int R, int C> struct stride_2d<T, R, C, Layout::NZ> {
	using type = Stride<times(R, C), times(R, c0<T>()), 16 * c0<T>(), c0<T>(), 1>;
};
} // namespace detail

template <class T, int R, int C, Layout L = Layout::ND>
struct TileShape2D : detail::shape_2d<T, R, C, L>::type {
	TileShape2D() = default;
	template <class I, class J> TileShape2D(I rows, J cols)
	{
		this->shape[L == Layout::NZ ? 2 : 3] = L == Layout::NZ ? rows / 16 : rows;
		this->shape[L == Layout::NZ ? 1 : 4] =
			L == Layout::NZ ? cols / detail::c0<T>() : cols;
	}
};

template <class T, int R, int C, Layout L = Layout::ND>
struct BaseShape2D : detail::stride_2d<T, R, C, L>::type {
	BaseShape2D() = default;
	template <class I, class J> BaseShape2D(I rows, J cols)
	{
		const int64_t r = rows, c = cols, n = r * c;
		const int64_t nd[5] = {n, n, n, c, 1}, dn[5] = {n, n, n, 1, r};
		const int64_t nz[5] = {
			n, r * detail::c0<T>(), 16 * detail::c0<T>(), detail::c0<T>(), 1};
		const int64_t *from = L == Layout::DN ? dn : L == Layout::NZ ? nz : nd;

		for (int i = 0; i < 5; i++)
			this->stride[i] = from[i];
	}
};

template <class T, class Sh, class St, Layout L = Layout::ND>
struct GlobalTensor : incore::gm_base {
	using DType = T;
	using RawDType = std::remove_cv_t<T>;
	using ShapeType = Sh;
	using StrideType = St;
	static constexpr Layout layout = L;

	GlobalTensor(T *p = nullptr, const Sh &sh = Sh(), const St &st = St())
	{
		ptr = const_cast<RawDType *>(p);
		dtype = incore::dtype_of<T>();
		bits = incore::bits_of<T>();
		incore::gm_base::layout = static_cast<uint8_t>(L);
		for (int i = 0; i < 5; i++) {
			incore::gm_base::shape[i] = sh.shape[i];
			incore::gm_base::stride[i] = st.stride[i];
		}
	}
	T *data() const
	{
		return static_cast<T *>(ptr);
	}
	void SetAddr(T *p)
	{
		ptr = const_cast<RawDType *>(p);
	}
	template <class I> int64_t GetShape(I i) const
	{
		return incore::gm_base::shape[i];
	}
	template <class I> int64_t GetStride(I i) const
	{
		return incore::gm_base::stride[i];
	}
	template <int I> int64_t GetShape() const
	{
		return incore::gm_base::shape[I];
	}
	template <int I> int64_t GetStride() const
	{
		return incore::gm_base::stride[I];
	}
};
} // namespace pto
