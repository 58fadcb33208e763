/* SPDX-License-Identifier: Apache-2.0 */
/* An activation of a long array, with the hyperbolic tangent of the library; B takes that of the hardware. Memory is what holds it. */
#include "../pair.h"

#ifdef PAIR_B
static __device__ float tanh_hardware(float v)
{
	float t;

	asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(v));
	return t;
}
#endif

__global__ void PAIR(gelu_stream)(const float *in, float *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;

#pragma unroll 4
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float v = in[i], u = 0.79788456f * (v + 0.044715f * v * v * v);
		float t = IF_B(tanhf(u), tanh_hardware(u)); // FASTER CHANGED
		out[i] = 0.5f * v * (1 + t);
	}
}

PAIR_RUN(gelu_stream)
{
	const unsigned n = 132 * 8 * 256 * 64;
	static float *in = device_array<float>(
			     n, [](size_t i) { return (float)(i % 97) * 0.05f - 2.4f; }),
		     *out = device_zeros<float>(n);

	PAIR(gelu_stream)<<<132 * 8, 256>>>(in, out, n);
}
