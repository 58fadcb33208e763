/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a block in shared memory, with a meeting at each of ten steps; B meets in its warp alone where that is enough. */
#include "../pair.h"

__global__ void PAIR(scan_barrier)(float *out, int rounds)
{
	__shared__ float box[1024];
	unsigned me = threadIdx.x;
	float sum = 0;

	for (int r = 0; r < rounds; r++) {
		box[me] = me + r;
		__syncthreads();
#pragma unroll
		for (unsigned step = 1; step < 32; step *= 2) {
			float v = box[me ^ step];
#ifdef PAIR_B
			__syncwarp();
#else
			__syncthreads(); // REMOVED
#endif
			box[me] += v;
#ifdef PAIR_B
			__syncwarp();
#else
			__syncthreads(); // REMOVED
#endif
		}
		sum += box[me];
		__syncthreads();
	}
	out[blockIdx.x * blockDim.x + me] = sum;
}

PAIR_RUN(scan_barrier)
{
	static float *out = device_zeros<float>(132 * 2 * 1024);

	PAIR(scan_barrier)<<<132 * 2, 1024>>>(out, 32);
}
