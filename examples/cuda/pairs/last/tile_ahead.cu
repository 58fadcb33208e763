/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles come to shared memory and are used by the whole block: B asks for the next tile before it uses this one. */
#include "../pair.h"

__global__ void PAIR(tile_ahead)(const float *in, float *out, unsigned mask, int rounds)
{
	__shared__ float tile[256];
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
#ifdef PAIR_B
	float next = in[me & mask];
#endif

#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
#ifdef PAIR_B
		tile[threadIdx.x] = next;
#else
		tile[threadIdx.x] = in[me + r * all & mask]; // CHANGED
#endif
		__syncthreads();
#ifdef PAIR_B
		next = in[me + (r + 1) * all & mask];
#endif
#pragma unroll
		for (int k = 0; k < 32; k++)
			sum = fmaf(sum, 0.5f, tile[threadIdx.x + k & 255]);
		__syncthreads();
	}
	out[me] = sum;
}

PAIR_RUN(tile_ahead)
{
	static float *in = device_zeros<float>(1u << 22), *out = device_zeros<float>(132 * 2 * 256);

	PAIR(tile_ahead)<<<132 * 2, 256>>>(in, out, (1u << 22) - 1, 128);
}
