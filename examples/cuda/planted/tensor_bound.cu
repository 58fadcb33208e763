/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix instructions from registers, eight sums at once in sixteen warps: the tensor pipe is full. */
#include "../run.h"

__global__ void tensor_bound(float *out, int rounds)
{
	float c[8][4] = {};
	unsigned a[4], b[2];

	for (int i = 0; i < 4; i++)
		a[i] = threadIdx.x * 0x00010001u + i;
	b[0] = threadIdx.x;
	b[1] = threadIdx.x + 1;
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int i = 0; i < 8; i++)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" // GUILTY
				: "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
				: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	float sum = 0;
	for (int i = 0; i < 8; i++)
		sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

RUN(tensor_bound)
{
	static float *out = device_zeros<float>(132 * 512);

	tensor_bound<<<132, 512>>>(out, 400);
}
