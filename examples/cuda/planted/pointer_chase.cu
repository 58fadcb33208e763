/* SPDX-License-Identifier: Apache-2.0 */
/* Every load's address is the value of the load before it: latency, nothing to overlap it with. */
#include "../run.h"

__global__ void pointer_chase(const unsigned *next, unsigned *out, int steps)
{
	unsigned at = blockIdx.x * 64 + threadIdx.x;

	for (int i = 0; i < steps; i++)
		at = next[at]; // GUILTY
	out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

RUN(pointer_chase)
{
	const unsigned n = 1u << 23; /* a full cycle: multiplier 1 mod 4, odd increment */
	static unsigned *next = device_array<unsigned>(n, [](size_t i) { return ((unsigned)i * 1664525u + 1013904223u) & (n - 1); });
	static unsigned *out = device_zeros<unsigned>(132 * 32);

	pointer_chase<<<132, 32>>>(next, out, 600);
}
