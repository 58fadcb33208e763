/* SPDX-License-Identifier: Apache-2.0 */
/* All threads count in eight words, and each wants the value that it found. */
#include "../run.h"

__global__ void contended_atomics(unsigned *counters, unsigned *out, int rounds)
{
	unsigned sum = threadIdx.x;

	for (int r = 0; r < rounds; r++)
		sum += atomicAdd(&counters[sum & 7], 1u); // GUILTY
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

RUN(contended_atomics)
{
	static unsigned *counters = device_zeros<unsigned>(8);
	static unsigned *out = device_zeros<unsigned>(132 * 256);

	contended_atomics<<<132, 256>>>(counters, out, 12);
}
