/* SPDX-License-Identifier: Apache-2.0 */
/* A fence after every store: each waits until all of the warp's stores are seen by everybody. */
#include "../run.h"

__global__ void fences(float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;

	for (int r = 0; r < rounds; r++) {
		out[(me + r * all) & (n - 1)] = (float)r;
		__threadfence(); // GUILTY
	}
}

RUN(fences)
{
	static float *out = device_zeros<float>(1u << 24);

	fences<<<132, 256>>>(out, 1u << 24, 100);
}
