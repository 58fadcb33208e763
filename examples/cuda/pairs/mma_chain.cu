/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor instructions, one behind the other: B has two chains of half the length. */
#include "pair.h"

static __device__ void step(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" // FASTER
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void PAIR(mma_chain)(float *out, int rounds, unsigned v)
{
	unsigned a[4] = {v, v + 1, v + 2, v + threadIdx.x}, b[2] = {v, v + threadIdx.x};
	float x[4] = {}, y[4] = {};

#pragma unroll 8
	for (int r = 0; r < rounds; r += IF_B(1, 2)) { // CHANGED
		step(x, a, b);
#ifdef PAIR_B
		step(y, a, b);
#endif
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[1] + x[2] + x[3] + y[0] + y[1] + y[2] + y[3];
}

PAIR_RUN(mma_chain)
{
	static float *out = device_zeros<float>(132 * 128);

	PAIR(mma_chain)<<<132, 128>>>(out, 4096, 0);
}
