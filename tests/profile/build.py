# SPDX-License-Identifier: Apache-2.0
"""A build directory as a compiler of PTO programs leaves it: kernels with their .pto files, made by us."""
import os

HEAD = '#include "pto/pto-inst.hpp"\nusing namespace pto;\nstatic AICORE inline void aux(int x) { (void)x; }\n'
VECTOR = HEAD + """
%(mark)sAICORE void %(name)s(__gm__ float* v1, __gm__ %(const)sfloat* v2, __gm__ float* v3, int32_t v4)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, %(rows)d, 64>, Stride<1, 1, 1, 64, 1>>;
	using T = Tile<TileType::Vec, float, %(rows)d, 64>;
	T a, b, c;

	TASSIGN(a, 0x0);
	TASSIGN(b, 0x4000);
	TASSIGN(c, 0x8000);
	for (int i = 0; i < v4 / 64; i++) {
		G ga(v1 + i * %(rows)d * 64), gb((__gm__ float *)v2 + i * %(rows)d * 64), gc(v3 + i * %(rows)d * 64);

		if (i)
			wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
		TLOAD(a, ga);
		TLOAD(b, gb);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		if (i)
			wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
		%(op)s(c, a, b);
		if (i + 1 < v4 / 64)
			set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		TSTORE(gc, c);
		if (i + 1 < v4 / 64)
			set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
	}
	pipe_barrier(PIPE_ALL);
}
"""
VECTOR_PTO = """module attributes {pto.target_arch = "%(target)s"} {
  func.func @%(name)s(%%arg0: !pto.ptr<f32>, %%gm_b: !pto.ptr<f32>, %%arg2: !pto.ptr<f32>, %%arg3: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%c64 = arith.constant 64 : index
    %%c7 = arith.constant %(rows)d : index // the name says 7, the value counts
    %%c1 = arith.constant 1 : index
    %%n = arith.index_cast %%arg3 : i32 to index
    %%m = arith.muli %%n, %%c7 : index
    %%v0 = pto.make_tensor_view %%arg0, shape = [%%m, %%c64], strides = [%%c64, %%c1] : !pto.tensor_view<?x?xf32>
    %%v1 = pto.make_tensor_view %%gm_b, shape = [%%m, %%c64],
      strides = [%%c64, %%c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32> loc("k.py":3:1)
    %%v2 = pto.make_tensor_view %%arg2, shape = [%%m, %%c64], strides = [%%c64, %%c1] : !pto.tensor_view<?x?xf32>
    return
  }
}
"""
CUBE = HEAD + """
extern "C" __global__ AICORE void %(name)s(__gm__ half* a, __gm__ half* b, __gm__ float* c)
{
	using G = GlobalTensor<half, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 64, 1>>;
	using O = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 64, 1>>;
	using L1 = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
	L1 a1, b1;
	TileLeft<half, 64, 64> a0;
	TileRight<half, 64, 64> b0;
	TileAcc<float, 64, 64> acc;
	G ga(a), gb(b);
	O gc(c);

	TASSIGN(a1, 0x0);
	TASSIGN(b1, 0x4000);
	TASSIGN(a0, 0x0);
	TASSIGN(b0, 0x0);
	TASSIGN(acc, 0x0);
	TLOAD(a1, ga);
	TLOAD(b1, gb);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TMOV(a0, a1);
	TMOV(b0, b1);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	TMATMUL(acc, a0, b0);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gc, acc);
	pipe_barrier(PIPE_ALL);
}
"""
CUBE_PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s(%%arg0: !pto.ptr<f16>, %%arg1: !pto.ptr<f16>, %%arg2: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %%c64 = arith.constant 64 : index
    %%c1 = arith.constant 1 : index
    %%v0 = pto.make_tensor_view %%arg0, shape = [%%c64, %%c64], strides = [%%c64, %%c1] : !pto.tensor_view<?x?xf16>
    %%v1 = pto.make_tensor_view %%arg1, shape = [%%c64, %%c64], strides = [%%c64, %%c1] : !pto.tensor_view<?x?xf16>
    %%v2 = pto.make_tensor_view %%arg2, shape = [%%c64, %%c64], strides = [%%c64, %%c1] : !pto.tensor_view<?x?xf32>
    return
  }
}
"""
MIXED = HEAD + """
#if defined(__DAV_CUBE__)
AICORE void %(name)s_aic(__gm__ float* a, int32_t n) { (void)a; (void)n; pipe_barrier(PIPE_ALL); }
AICORE void %(name)s_aiv(__gm__ float* a, int32_t n, int32_t lane);
#else
AICORE void %(name)s_aic(__gm__ float* a, int32_t n);
AICORE void %(name)s_aiv(__gm__ float* a, int32_t n, int32_t lane)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>>;
	Tile<TileType::Vec, float, 16, 64> t;
	G g(a + get_subblockid() * 1024);

	TASSIGN(t, 0x0);
	TLOAD(t, g);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TMULS(t, t, 2.0f);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(g, t);
	pipe_barrier(PIPE_ALL);
	(void)n;
	(void)lane;
}
#endif
"""
MIXED_PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s_aic(%%a: !pto.ptr<f32>, %%n: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    return
  }
  func.func @%(name)s_aiv(%%a: !pto.ptr<f32>, %%n: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%0 = arith.constant 2048 : index
    %%1 = arith.constant 1 : index
    %%v = pto.make_tensor_view %%a, shape = [%%0], strides = [%%1] : !pto.tensor_view<?xf32>
    return
  }
}
"""
CONTROL = HEAD + """
extern "C" __global__ AICORE void %(name)s(__gm__ int32_t* len, __gm__ float* x)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>>;
	Tile<TileType::Vec, float, 1, 64> t;

	TASSIGN(t, 0x0);
	for (int i = 0; i < len[0]; i++) {
		G g(x + i * 64);

		TLOAD(t, g);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		TEXP(t, t);
		pipe_barrier(PIPE_ALL);
	}
}
"""
CONTROL_PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s(%%len: !pto.ptr<i32>, %%x: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%1 = arith.constant 1 : index
    %%512 = arith.constant 512 : index
    %%v = pto.make_tensor_view %%len, shape = [%%1], strides = [%%1] : !pto.tensor_view<?xi32>
    %%w = pto.make_tensor_view %%x, shape = [%%512], strides = [%%1] : !pto.tensor_view<?xf32>
    return
  }
}
"""


def put(folder, name, source, pto, **values):
    os.makedirs(folder, exist_ok=True)
    values = {"name": name, "mark": 'extern "C" __global__ ', "const": "", "rows": 32, "op": "TADD", "target": "a2a3", **values}
    with open(os.path.join(folder, name + ".cpp"), "w") as f:
        f.write(source % values)
    if pto is not None:
        with open(os.path.join(folder, name + ".pto"), "w") as f:
            f.write(pto % values)


def vectors(folder, n):
    """n kernels that differ in their text."""
    ops = ("TADD", "TSUB", "TMUL", "TMAX")
    for i in range(n):
        put(folder, f"vector_{i:03d}", VECTOR, VECTOR_PTO, op=ops[i % 4], rows=8 + 8 * (i % 7))
