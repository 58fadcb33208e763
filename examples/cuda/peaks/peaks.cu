/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that do nothing but fill one unit, named like the unit in src/isa/rates_table.c. What they reach is the practical share
 * of the peak: tests/gpu/peaks.py runs them.
 */
#include "../run.h"

#include <mma.h>

#define BLOCKS (132 * 8)
#define THREADS 256

static float *floats(size_t n)
{
	return device_array<float>(n, [](size_t i) { return (float)(i % 7); });
}

/* Eight independent chains of one operation. */
#define CHAINS(NAME, T, FIRST, STEP)                                                                                               \
	__global__ void NAME##_peak(T *out, T a, T b, int rounds)                                                                      \
	{                                                                                                                              \
		T v[8];                                                                                                                    \
		for (int k = 0; k < 8; k++)                                                                                                \
			v[k] = FIRST;                                                                                                          \
		for (int r = 0; r < rounds; r++)                                                                                           \
			_Pragma("unroll") for (int k = 0; k < 8; k++) v[k] = STEP;                                                             \
		T sum = 0;                                                                                                                 \
		for (int k = 0; k < 8; k++)                                                                                                \
			sum += v[k];                                                                                                           \
		out[blockIdx.x * blockDim.x + threadIdx.x] = sum;                                                                          \
	}                                                                                                                              \
	RUN(NAME##_peak)                                                                                                               \
	{                                                                                                                              \
		static T *out = device_zeros<T>(BLOCKS * THREADS);                                                                         \
		NAME##_peak<<<BLOCKS, THREADS>>>(out, (T)1, (T)3, 4000);                                                                   \
	}

CHAINS(fma, float, (float)threadIdx.x + k, v[k] * a + b)
CHAINS(alu, unsigned, threadIdx.x + k, (v[k] ^ b) & ~(a << k))
CHAINS(xu, float, (float)threadIdx.x + k, __sinf(v[k]))
CHAINS(fp64, double, (double)threadIdx.x + k, v[k] * a + b)

/* Loads of 16 bytes from shared memory without conflicts. */
__global__ void l1_peak(float *out, int rounds)
{
	__shared__ float4 box[1024];
	float sum = 0;

	for (int i = threadIdx.x; i < 1024; i += blockDim.x)
		box[i] = make_float4(i, i, i, i);
	__syncthreads();
	for (int r = 0; r < rounds; r++)
#pragma unroll 16
		for (int k = 0; k < 16; k++) {
			float4 v = box[(threadIdx.x + 32 * k + r) & 1023];
			sum += v.x + v.y + v.z + v.w;
		}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
RUN(l1_peak)
{
	static float *out = device_zeros<float>(BLOCKS * THREADS);

	l1_peak<<<BLOCKS, THREADS>>>(out, 500);
}

/* The sum of an array, again and again: of one that fits into L2, and of one that does not. */
__global__ void sum_peak(const float4 *in, float *out, size_t n, int rounds)
{
	float sum = 0;

	for (int r = 0; r < rounds; r++)
		for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
			float4 v = __ldcg(&in[i]);
			sum += v.x + v.y + v.z + v.w;
		}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
RUN(l2_peak)
{
	static float *in = floats(1u << 22), *out = device_zeros<float>(BLOCKS * THREADS);

	sum_peak<<<BLOCKS, THREADS>>>((const float4 *)in, out, 1u << 20, 64);
}
RUN(dram_peak)
{
	static float *in = device_zeros<float>(1ull << 29), *out = device_zeros<float>(BLOCKS * THREADS);

	sum_peak<<<BLOCKS, THREADS>>>((const float4 *)in, out, 1u << 27, 1);
}

/* Atomics of all warps, spread over all slices of L2. */
__global__ void l2_atomics_peak(unsigned *counters, int rounds)
{
	for (int r = 0; r < rounds; r++)
		atomicAdd(&counters[(blockIdx.x * 977 + threadIdx.x + r * 4099) & 0xfffff], 1u);
}
RUN(l2_atomics_peak)
{
	static unsigned *counters = device_zeros<unsigned>(1u << 20);

	l2_atomics_peak<<<BLOCKS, THREADS>>>(counters, 400);
}

__global__ void tensor_peak(float *out, int rounds)
{
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, half, row_major> a;
	fragment<matrix_b, 16, 16, 16, half, col_major> b;
	fragment<accumulator, 16, 16, 16, float> c[4];

	fill_fragment(a, __float2half(1));
	fill_fragment(b, __float2half(1));
	for (int k = 0; k < 4; k++)
		fill_fragment(c[k], 0);
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			mma_sync(c[k], a, b, c[k]);
	for (int k = 1; k < 4; k++)
		for (int i = 0; i < c[0].num_elements; i++)
			c[0].x[i] += c[k].x[i];
	store_matrix_sync(out + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 256, c[0], 16, mem_row_major);
}
RUN(tensor_peak)
{
	static float *out = device_zeros<float>((size_t)BLOCKS * THREADS / 32 * 256);

	tensor_peak<<<BLOCKS, THREADS>>>(out, 4000);
}
