/* SPDX-License-Identifier: Apache-2.0 */
/* Four words a thread, one by one, from what lies in L1; B takes them at once. */
#include "../pairs/pair.h"

__global__ void PAIR(narrow_access)(const float *in, float *out, int rounds)
{
	const float *mine = in + threadIdx.x * 4;
	float4 sum = {};

#pragma unroll 4
	for (int r = 0; r < rounds; r++) {
		const float *at = mine + (r & 3) * 4096;
		float4 v;

#ifdef PAIR_B
		v = *(const float4 *)at;
#else
		v = make_float4(at[0], at[1], at[2], at[3]); // GUILTY
#endif
		sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

PAIR_RUN(narrow_access)
{
	static float *in = device_zeros<float>(4 * 4096), *out = device_zeros<float>(132 * 1024);

	PAIR(narrow_access)<<<132, 1024>>>(in, out, 400);
}
