/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by columns, with tiles in shared memory: B reads the tile of rows four words at a time. */
#include "../pair.h"

#define TILE 32

__global__ void PAIR(matmul_tile)(const float *a, const float *b, float *c, int n)
{
	__shared__ __align__(16) float rows[TILE][TILE], columns[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		rows[y][x] = a[row * n + k + x];
		columns[y][x] = b[(k + y) * n + column];
		__syncthreads();
#pragma unroll
		for (int j = 0; j < TILE; j += 4) {
#ifdef PAIR_B
			float4 v = *(const float4 *)&rows[y][j];
#else
			volatile float *from = &rows[y][j];
			float4 v = make_float4(from[0], from[1], from[2], from[3]); // FASTER CHANGED
#endif
			sum += v.x * columns[j][x] + v.y * columns[j + 1][x] + v.z * columns[j + 2][x] + v.w * columns[j + 3][x];
		}
		__syncthreads();
	}
	c[row * n + column] = sum;
}

PAIR_RUN(matmul_tile)
{
	const int n = 1024;
	static float *a = device_zeros<float>(n * n), *b = device_zeros<float>(n * n), *c = device_zeros<float>(n * n);

	PAIR(matmul_tile)<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n);
}
