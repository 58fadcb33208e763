/* SPDX-License-Identifier: Apache-2.0 */
/* A value is added to one of eight words, and what was there is used; B adds up for itself and once at its end to the word. */
#include "../pairs/pair.h"

__global__ void PAIR(atomics)(unsigned *counters, unsigned *out, int rounds)
{
	unsigned v = blockIdx.x * blockDim.x + threadIdx.x + 1, sum = 0;

	for (int r = 0; r < rounds; r++) {
#pragma unroll
		for (int k = 0; k < 8; k++) { /* a value to add */
			v ^= v << 13;
			v ^= v >> 17;
			v ^= v << 5;
		}
		sum += IF_B(atomicAdd(&counters[threadIdx.x & 7], v >> 16), v >> 16); // GUILTY
	}
	IF_B((void)0, atomicAdd(&counters[threadIdx.x & 7], sum));
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(atomics)
{
	static unsigned *counters = device_zeros<unsigned>(8), *out = device_zeros<unsigned>(132 * 4 * 256);

	PAIR(atomics)<<<132 * 4, 256>>>(counters, out, 50);
}
