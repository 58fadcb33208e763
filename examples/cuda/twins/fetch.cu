/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen warps, each in code of its own: 16 x 300 instructions, so that no fetch is shared and no line stays in the first cache. B's bodies are loops. */
#include "../pairs/pair.h"

template <int SEED> __device__ __noinline__ float body(float v)
{
	constexpr int UNROLLED = IF_B(150, 3);

#pragma unroll UNROLLED
	for (int i = 0; i < 150; i++)
		v = __int_as_float(__float_as_int(v * (1.0f + 0.0001f * (i * 17 + SEED))) ^ (i * 29 + SEED)); // GUILTY
	return v;
}

template <int N> struct pick {
	static __device__ float call(int w, float v) { return w == N ? body<N * 1000>(v) : pick<N - 1>::call(w, v); }
};
template <> struct pick<0> {
	static __device__ float call(int, float v) { return body<7>(v); }
};

__global__ void PAIR(fetch)(float *out, int rounds)
{
	int warp = (int)threadIdx.x / 32;
	float v = (float)threadIdx.x;

	for (int r = 0; r < rounds; r++)
		v = pick<15>::call((warp + r) % 16, v);
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(fetch)
{
	static float *out = device_zeros<float>(132 * 512);

	PAIR(fetch)<<<132, 512>>>(out, 48);
}
