/* SPDX-License-Identifier: Apache-2.0 */
/* Four additions and a branch, again and again, one warp a scheduler; B goes round an eighth as often. */
#include "../pairs/pair.h"

__global__ void PAIR(short_loop)(unsigned *out, int rounds)
{
	constexpr int UNROLLED = IF_B(1, 8);
	unsigned v[4] = {threadIdx.x, 1, 2, 3};

#pragma unroll UNROLLED
	for (int r = 0; r < rounds; r++) // GUILTY
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = v[k] * 3u + (unsigned)r;
	out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] ^ v[1] ^ v[2] ^ v[3];
}

PAIR_RUN(short_loop)
{
	static unsigned *out = device_zeros<unsigned>(132 * 128);

	PAIR(short_loop)<<<132, 128>>>(out, 8000);
}
