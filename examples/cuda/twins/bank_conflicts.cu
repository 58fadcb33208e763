/* SPDX-License-Identifier: Apache-2.0 */
/* A column of a tile of 32 x 32 words: all lanes read the same bank. B's rows have one word more. */
#include "../pairs/pair.h"

#define ROW IF_B(32, 33)

__global__ void PAIR(bank_conflicts)(const float *in, float *out, int rounds)
{
	__shared__ float tile[32 * ROW];
	unsigned lane = threadIdx.x % 32;
	float sum = 0;

	for (int i = threadIdx.x; i < 32 * ROW; i += blockDim.x)
		tile[i] = in[i];
	__syncthreads();
	for (int r = 0; r < rounds; r++)
#pragma unroll 8
		for (int c = 0; c < 32; c++)
			sum += tile[lane * ROW + (c ^ (r & 31))]; // GUILTY
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(bank_conflicts)
{
	static float *in = device_zeros<float>(32 * 33), *out = device_zeros<float>(132 * 1024);

	PAIR(bank_conflicts)<<<132, 1024>>>(in, out, 48);
}
