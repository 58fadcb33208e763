/* SPDX-License-Identifier: Apache-2.0 */
/* A column of a tile of 32 x 32 words: all lanes read the same bank. */
#include "../run.h"

__global__ void bank_conflicts(const float *in, float *out, int rounds)
{
	__shared__ float tile[32 * 32];
	unsigned lane = threadIdx.x % 32;
	float sum = 0;

	for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x)
		tile[i] = in[i];
	__syncthreads();
	for (int r = 0; r < rounds; r++)
#pragma unroll 8
		for (int c = 0; c < 32; c++)
			sum += tile[lane * 32 + (c ^ (r & 31))]; // GUILTY
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

RUN(bank_conflicts)
{
	static float *in = device_array<float>(32 * 32, [](size_t i) { return (float)(i % 17); });
	static float *out = device_zeros<float>(132 * 256);

	bank_conflicts<<<132, 256>>>(in, out, 64);
}
