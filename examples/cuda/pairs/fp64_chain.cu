/* SPDX-License-Identifier: Apache-2.0 */
/* Double precision, one step behind the other: B has two chains of half the length. */
#include "pair.h"

__global__ void PAIR(fp64_chain)(double *out, int rounds, double a, double b)
{
	double x = threadIdx.x;
	double y = blockIdx.x; // CHANGED

#pragma unroll 8
	for (int r = 0; r < rounds; r += IF_B(1, 2)) {
		x = fma(x, a, b); // FASTER
#ifdef PAIR_B
		y = fma(y, a, b);
#endif
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}

PAIR_RUN(fp64_chain)
{
	static double *out = device_zeros<double>(132 * 128);

	PAIR(fp64_chain)<<<132, 128>>>(out, 16384, 0.999, 0.5);
}
