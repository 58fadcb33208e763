/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a tile in shared memory; B has a word more in each row. */
#include "pair.h"

#define PITCH IF_B(32, 33) // CHANGED

__global__ void PAIR(bank_padding)(const float *in, float *out, int rounds)
{
	__shared__ float tile[32 * PITCH];
	unsigned lane = threadIdx.x % 32;
	float sum = 0;

	for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x)
		tile[i / 32 * PITCH + i % 32] = in[i];
	__syncthreads();
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int c = 0; c < 8; c++)
			sum = sum * 0.5f + tile[lane * PITCH + ((c + r) & 31)]; // FASTER
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(bank_padding)
{
	static float *in = device_array<float>(32 * 32, [](size_t i) { return (float)(i % 17); });
	static float *out = device_zeros<float>(132 * 256);

	PAIR(bank_padding)<<<132, 256>>>(in, out, 600);
}
