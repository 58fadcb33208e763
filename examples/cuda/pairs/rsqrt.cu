/* SPDX-License-Identifier: Apache-2.0 */
/* Forces of points on each other: A has a root and a quotient, B the reciprocal root. */
#include "pair.h"

__global__ void PAIR(rsqrt)(const float4 *points, float4 *out, int n)
{
	__shared__ float4 tile[256];
	float4 me = points[blockIdx.x * blockDim.x + threadIdx.x], f = {0, 0, 0, 0};

	tile[threadIdx.x] = points[threadIdx.x];
	__syncthreads();
	for (int i = 0; i < n; i++) {
		float4 p = tile[i & 255];
		float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
		float d2 = dx * dx + dy * dy + dz * dz + 1e-3f;
		float inv = IF_B(1.0f / sqrtf(d2), rsqrtf(d2)); // FASTER CHANGED
		float s = p.w * inv * inv * inv;
		f.x += dx * s, f.y += dy * s, f.z += dz * s;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = f;
}

PAIR_RUN(rsqrt)
{
	const unsigned n = 132 * 4 * 256;
	static float4 *out = device_zeros<float4>(n),
		      *points = device_array<float4>(n, [](size_t i) {
			      float v = (float)(i % 1021);
			      return make_float4(v, v * 0.5f, v * 0.25f, 1);
		      });

	PAIR(rsqrt)<<<132 * 4, 256>>>(points, out, 600);
}
