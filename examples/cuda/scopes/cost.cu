/* SPDX-License-Identifier: Apache-2.0 */
/* What an event costs: cycles of a warp for a pair of begin and end around one addition, less those of the addition, for 1 to 32 warps an SM. */
#include <incore/cuda.h>

#define PAIRS 512

__global__ void cost(incore_scopes_device scopes, uint32_t *cycles, uint32_t *sink)
{
	INCORE_WARP(scopes);
	uint32_t v = threadIdx.x;
	__syncthreads();
	long long from = clock64();

#pragma unroll 1
	for (int i = 0; i < PAIRS; i++) {
		INCORE_SCOPE("step");
		asm volatile("add.u32 %0, %0, 1;" : "+r"(v));
	}
	long long to = clock64();
	if (threadIdx.x == 0)
		cycles[blockIdx.x] = (uint32_t)(to - from);
	sink[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

static uint32_t run(incore_scopes_device scopes, int warps, int blocks)
{
	uint32_t *cycles, *sink, host[132], most = 0;

	cudaMalloc(&cycles, sizeof(host));
	cudaMalloc(&sink, 132 * 1024 * 4);
	cost<<<blocks, warps * 32>>>(scopes, cycles, sink);
	if (cudaMemcpy(host, cycles, (size_t)blocks * 4, cudaMemcpyDeviceToHost) != cudaSuccess)
		exit(1);
	for (int i = 0; i < blocks; i++)
		most = host[i] > most ? host[i] : most;
	cudaFree(cycles);
	cudaFree(sink);
	return most;
}

int main(void)
{
	static const int n_warps[] = {1, 4, 8, 16, 32}, n_blocks[] = {1, 132};
	incore_scopes scopes;
	incore_scopes_device nothing = {};

	if (incore_scopes_open(&scopes, 132 * 32, 2 * PAIRS))
		return 1;
	for (int b = 0; b < 2; b++)
		for (int w = 0; w < 5; w++) {
			uint32_t with = 0, without = 0;

			for (int k = 0; k < 5; k++) {
				incore_scopes_reset(&scopes);
				without = run(nothing, n_warps[w], n_blocks[b]);
				with = run(scopes.device, n_warps[w], n_blocks[b]);
			}
			printf("%3d blocks of %2d warps: %.1f cycles an event\n", n_blocks[b], n_warps[w], ((double)with - without) / (2 * PAIRS));
		}
	incore_scopes_close(&scopes);
	return 0;
}
