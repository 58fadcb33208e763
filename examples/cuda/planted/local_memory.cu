/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's own array, indexed by what nobody knows before: it cannot be in registers and goes through memory. */
#include "../run.h"

__global__ void local_memory(const int *index, float *out, int rounds)
{
	float own[96];
	int at = index[threadIdx.x];

	for (int i = 0; i < 96; i++)
		own[i] = (float)(i + at);
	float sum = 0;
	for (int r = 0; r < rounds; r++) {
		at = (at * 5 + 3) % 96;
		own[at] += own[(at * 7 + r) % 96]; // GUILTY
		sum += own[at];
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

RUN(local_memory)
{
	static int *index = device_array<int>(512, [](size_t i) { return (int)(i * 37 % 96); });
	static float *out = device_zeros<float>(132 * 4 * 512);

	local_memory<<<132 * 4, 512>>>(index, out, 64);
}
