/* SPDX-License-Identifier: Apache-2.0 */
/* A quotient by a number that is known only at run time; B knows that it is a power of two and shifts. */
#include "pair.h"

__global__ void PAIR(division)(unsigned *out, int rounds, unsigned by, unsigned shift)
{
	unsigned v = blockIdx.x * blockDim.x + threadIdx.x + 1000000u;

	for (int r = 0; r < rounds; r++) {
		unsigned q = IF_B(v / by, v >> shift); // FASTER CHANGED
		v = v * 3u + q + r;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(division)
{
	static unsigned *out = device_zeros<unsigned>(132 * 4 * 256);

	PAIR(division)<<<132 * 4, 256>>>(out, 1000, 64, 6);
}
