/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies, one tile ahead of nothing: each is waited for right after it was started. */
#include "../run.h"

__global__ void shallow_copies(const float4 *in, float *out, unsigned n, int tiles)
{
	__shared__ float4 tile[128];
	unsigned me = threadIdx.x, to = (unsigned)__cvta_generic_to_shared(&tile[me]);
	float sum = 0;

	for (int t = 0; t < tiles; t++) {
		const float4 *from = in + (((unsigned)t * gridDim.x + blockIdx.x) * 128 + me) % n;
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory"); // the copy
		asm volatile("cp.async.commit_group;");
		asm volatile("cp.async.wait_group 0;" ::: "memory"); // GUILTY
		__syncthreads();
		float4 v = tile[me ^ 1];
		sum += v.x + v.y + v.z + v.w;
		__syncthreads();
	}
	out[blockIdx.x * blockDim.x + me] = sum;
}

RUN(shallow_copies)
{
	static float4 *in = device_array<float4>(1u << 22, [](size_t i) { return make_float4((float)(i % 7), 1, 2, 3); });
	static float *out = device_zeros<float>(132 * 2 * 128);

	shallow_copies<<<132 * 2, 128>>>(in, out, 1u << 22, 100);
}
