/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes go round 1 to 32 times eight. Neighbours of A differ, so that a warp goes as often as its longest lane; those of B are sorted. */
#include "../pair.h"

__global__ void PAIR(trips_sorted)(const int *trips, float *out)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	int n = trips[me];
	float x = me, y = 1;

#pragma unroll 1
	for (int r = 0; r < n; r++) // FASTER
#pragma unroll
		for (int k = 0; k < 16; k++) {
			x = fmaf(x, 0.5f, 1.0f); // FASTER
			y = fmaf(y, 0.5f, 2.0f); // FASTER
		}
	out[me] = x + y;
}

PAIR_RUN(trips_sorted)
{
	const unsigned n = 132 * 32 * 256;
	static int *trips = device_array<int>(
		n, [](size_t i) { return (int)(IF_B(i * 7, i / 32) % 32 + 1) * 8; }); // CHANGED
	static float *out = device_zeros<float>(n);

	PAIR(trips_sorted)<<<n / 256, 256>>>(trips, out);
}
