/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix is transposed: A writes its columns word by word, B turns a tile in shared memory and writes rows. */
#include "pair.h"

__global__ void PAIR(transpose)(const float *in, float *out, unsigned width)
{
	unsigned x = blockIdx.x * 32, y = blockIdx.y * 32, lane = threadIdx.x;
#ifdef PAIR_B
	__shared__ float tile[32][33];

#pragma unroll
	for (unsigned k = threadIdx.y; k < 32; k += 8)
		tile[k][lane] = in[(y + k) * width + x + lane];
	__syncthreads();
#pragma unroll
	for (unsigned k = threadIdx.y; k < 32; k += 8)
		out[(x + k) * width + y + lane] = tile[lane][k];
#else
#pragma unroll
	for (unsigned k = threadIdx.y; k < 32; k += 8)
		out[(x + lane) * width + y + k] = in[(y + k) * width + x + lane]; // FASTER CHANGED
#endif
}

PAIR_RUN(transpose)
{
	const unsigned width = 4096;
	static float *in = device_zeros<float>(width * width),
		     *out = device_zeros<float>(width * width);

	PAIR(transpose)<<<dim3(width / 32, width / 32), dim3(32, 8)>>>(in, out, width);
}
