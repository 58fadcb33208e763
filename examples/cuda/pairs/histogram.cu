/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of 64 bins: A adds to the device's memory, B to shared memory, and once in the end to the device's. */
#include "pair.h"

__global__ void PAIR(histogram)(unsigned *bins, const unsigned *in, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;
#ifdef PAIR_B
	__shared__ unsigned own[64];

	if (threadIdx.x < 64)
		own[threadIdx.x] = 0;
	__syncthreads();
#else
	unsigned *own = bins;
#endif
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all)
		atomicAdd(&own[in[i] & 63], 1u); // FASTER
#ifdef PAIR_B
	__syncthreads();
	if (threadIdx.x < 64)
		atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
#endif
}

PAIR_RUN(histogram)
{
	const unsigned n = 132 * 4 * 256 * 16;
	static unsigned *bins = device_zeros<unsigned>(64);
	static unsigned *in = device_array<unsigned>(
		n, [](size_t i) { return (unsigned)(i * 2654435761u) >> 13; });

	PAIR(histogram)<<<132 * 4, 256>>>(bins, in, n);
}
