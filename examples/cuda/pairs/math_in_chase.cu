/* SPDX-License-Identifier: Apache-2.0 */
/* A chase of pointers with an exponential of each value beside it; B has an addition instead. The chase is what holds it. */
#include "pair.h"

__global__ void PAIR(math_in_chase)(const unsigned *next, float *out, int steps)
{
	unsigned at = blockIdx.x * 64 + threadIdx.x;
	float sum = 0;

	for (int i = 0; i < steps; i++) {
		at = next[at];
		sum += IF_B(exp2f((float)at * 1e-8f), (float)at * 1e-8f); // FASTER CHANGED
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(math_in_chase)
{
	const unsigned n = 1u << 23;
	static unsigned *next = device_array<unsigned>(n, [](size_t i) { return ((unsigned)i * 1664525u + 1013904223u) & (n - 1); });
	static float *out = device_zeros<float>(132 * 4 * 32);

	PAIR(math_in_chase)<<<132 * 4, 32>>>(next, out, 400);
}
