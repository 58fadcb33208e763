/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread adds to one of a few words; B adds up in its warp first and one lane adds for all. */
#include "pair.h"

__global__ void PAIR(atomics)(unsigned *counters, const unsigned *in, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		unsigned v = in[i] + i;
#ifdef PAIR_B
		v = __reduce_add_sync(~0u, v);
		if (threadIdx.x % 32 == 0)
#endif
			atomicAdd(&counters[(i / 32 & 15) * 32 + IF_B(threadIdx.x % 32, 0)], v); // FASTER CHANGED
	}
}

PAIR_RUN(atomics)
{
	const unsigned n = 132 * 8 * 256 * 4;
	static unsigned *counters = device_zeros<unsigned>(16 * 32), *in = device_zeros<unsigned>(n);

	PAIR(atomics)<<<132 * 8, 256>>>(counters, in, n);
}
