/* SPDX-License-Identifier: Apache-2.0 */
/* Double precision on words of shared memory, of which two lanes want one bank: B has no two, and the pipe is as full. */
#include "pair.h"

__global__ void PAIR(shared_hidden)(double *out, int rounds, unsigned apart, double a)
{
	__shared__ float box[2048];
	double x = threadIdx.x, y = 1, z = 2, w = 3;
	unsigned at = threadIdx.x * apart;

	for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x)
		box[i] = i;
	__syncthreads();
#pragma unroll 4
	for (int r = 0; r < rounds; r++) {
		double v = box[at + r * 64 & 2047]; // FASTER
		x = fma(x, a, v);
		y = fma(y, a, x);
		z = fma(z, a, v);
		w = fma(w, a, z);
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

PAIR_RUN(shared_hidden)
{
	static double *out = device_zeros<double>(132 * 4 * 256);

	PAIR(shared_hidden)<<<132 * 4, 256>>>(out, 512, IF_B(2, 1), 0.5); // CHANGED
}
