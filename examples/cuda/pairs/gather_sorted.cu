/* SPDX-License-Identifier: Apache-2.0 */
/* Words are fetched by a list of places: A's list is shuffled, B's has the same places in order. */
#include "pair.h"

__global__ void PAIR(gather_sorted)(const unsigned *place, const float *in, float *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;
	float sum = 0;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all)
		sum += in[place[i]]; // FASTER
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(gather_sorted)
{
	const unsigned n = 1u << 22;
	static float *in = device_zeros<float>(n), *out = device_zeros<float>(132 * 8 * 256);
	static unsigned *place = device_array<unsigned>(n, [](size_t i) {
		return IF_B((unsigned)(i * 2654435761u) & (n - 1), (unsigned)i); // CHANGED
	});

	PAIR(gather_sorted)<<<132 * 8, 256>>>(place, in, out, n);
}
