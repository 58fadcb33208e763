/* SPDX-License-Identifier: Apache-2.0 */
/* Index arithmetic beside a pipe that is full of tensor work: B has less of it. */
#include "../pair.h"

__global__ void PAIR(integer_hidden)(float *out, int rounds, unsigned v)
{
	unsigned a[4] = {v, v + 1, v + 2, v + threadIdx.x}, b[2] = {v, v + threadIdx.x}, at = threadIdx.x;
	float x[4][4] = {};

	for (int r = 0; r < rounds; r++) {
#pragma unroll
		for (int k = 0; k < 4; k++)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
				     : "+f"(x[k][0]), "+f"(x[k][1]), "+f"(x[k][2]), "+f"(x[k][3])
				     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#pragma unroll
		for (int k = 0; k < IF_B(4, 1); k++)
			at = at * 5 ^ at >> 3; // FASTER CHANGED
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = x[0][0] + x[1][1] + x[2][2] + x[3][3] + at;
}

PAIR_RUN(integer_hidden)
{
	static float *out = device_zeros<float>(132 * 2 * 256);

	PAIR(integer_hidden)<<<132 * 2, 256>>>(out, 1024, 0);
}
