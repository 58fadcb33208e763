/* SPDX-License-Identifier: Apache-2.0 */
/* Every word of a small table names the next one: A has it in L2, B in shared memory. */
#include "pair.h"

#define WORDS 4096u

__global__ void PAIR(chase_shared)(const unsigned *table, unsigned *out, int steps)
{
	unsigned at = threadIdx.x;
#ifdef PAIR_B
	__shared__ unsigned box[WORDS];

	for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)
		box[i] = table[i];
	__syncthreads();
#endif
#pragma unroll 4
	for (int s = 0; s < steps; s++)
		at = IF_B(__ldcg(&table[at]), box[at]); // FASTER CHANGED
	out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

PAIR_RUN(chase_shared)
{
	static unsigned *table = device_array<unsigned>(WORDS, [](size_t i) { return (unsigned)(i + 32 * 17) % WORDS; });
	static unsigned *out = device_zeros<unsigned>(132 * 2 * 128);

	PAIR(chase_shared)<<<132 * 2, 128>>>(table, out, 800);
}
