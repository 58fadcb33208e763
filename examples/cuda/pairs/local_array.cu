/* SPDX-License-Identifier: Apache-2.0 */
/* A small table of a thread that is indexed at run time: A has it in local memory, B in shared memory. */
#include "pair.h"

__global__ void PAIR(local_array)(const int *index, float *out, int rounds)
{
#ifdef PAIR_B
	__shared__ float table[16][256];
#define OWN(i) table[i][threadIdx.x]
#else
	float table[16];
#define OWN(i) table[i]
#endif
	int at = index[threadIdx.x];
	float sum = 0;

	for (int i = 0; i < 16; i++)
		OWN(i) = (float)(i + at);
	for (int r = 0; r < rounds; r++) {
		at = (at * 5 + r) & 15;
		OWN(at) = OWN(at) * 0.5f + sum; // FASTER CHANGED
		sum += OWN((at + 7) & 15); // FASTER CHANGED
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(local_array)
{
	static int *index = device_array<int>(256, [](size_t i) { return (int)(i % 16); });
	static float *out = device_zeros<float>(132 * 4 * 256);

	PAIR(local_array)<<<132 * 4, 256>>>(index, out, 200);
}
