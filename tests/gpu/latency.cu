/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.cu: cycles from the issue of a load to its result, by where it finds its word, on an idle machine and with others
 * under way: what the constants of src/analysis/whatif/whatif_load.h come from.
 *
 * usage: latency      prints: what, warps of an SM, sectors of a load, mean cycles, sectors of an SM and cycle
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

static void check(cudaError_t err)
{
	if (err == cudaSuccess)
		return;
	fprintf(stderr, "%s\n", cudaGetErrorString(err));
	exit(1);
}

enum { FROM_SHARED, FROM_L1, FROM_L2, FROM_ATOMIC };

__global__ void fill(unsigned *table, unsigned mask, unsigned step)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i <= mask; i += gridDim.x * blockDim.x)
		table[i] = i + step & mask;
}

/* Each warp follows its own chain; lanes lie `apart` words from each other. */
template <int FROM> __global__ void chase(unsigned *table, unsigned long long *cycles, unsigned mask, unsigned apart, unsigned start, int steps)
{
	__shared__ unsigned box[1024];
	unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	unsigned at = ((warp + start) * 2654435761u >> 4 & ~255u) + lane * apart & mask;

	for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
		box[i] = (i + 32) % 1024;
	__syncthreads();
	if (FROM == FROM_SHARED)
		at = lane;
	long long begin = clock64();
	for (int s = 0; s < steps; s++)
		if (FROM == FROM_SHARED)
			at = box[at];
		else if (FROM == FROM_L1)
			at = __ldca(&table[at]);
		else if (FROM == FROM_L2)
			at = __ldcg(&table[at]);
		else
			at = atomicAdd(&table[at], at >> 31);
	if (lane == 0)
		atomicAdd(cycles, (unsigned long long)(clock64() - begin) + (at == 12345));
}

template <int FROM> static void measure(const char *what, unsigned words, unsigned apart, int warps, bool is_whole)
{
	const int steps = 512, sms = is_whole ? 132 : 1, blocks = warps > 32 ? 2 : 1;
	unsigned *table;
	unsigned long long *cycles, sum;
	unsigned step = words > 1u << 20 ? 256 * 7919 : 256;

	check(cudaMalloc(&table, (size_t)words * 4));
	fill<<<132 * 8, 256>>>(table, words - 1, step);
	check(cudaMalloc(&cycles, 8));
	for (int k = 0; k < 2; k++) {
		check(cudaMemset(cycles, 0, 8));
		chase<FROM><<<sms * blocks, 32 * warps / blocks>>>(table, cycles, words - 1, apart, k * 7777777, steps); /* elsewhere than before */
		check(cudaMemcpy(&sum, cycles, 8, cudaMemcpyDeviceToHost));
	}
	double mean = (double)sum / (sms * warps) / steps;
	unsigned sectors = apart >= 8 ? 32 : 4 * apart;
	printf("%s %d %u %.1f %.4f\n", what, warps, sectors, mean, warps * sectors / mean);
	check(cudaFree(table));
	check(cudaFree(cycles));
}

int main()
{
	measure<FROM_SHARED>("shared", 1 << 20, 1, 1, false);
	measure<FROM_L1>("l1", 1 << 13, 1, 1, false);
	measure<FROM_L2>("l2", 1 << 20, 1, 1, false);
	measure<FROM_L2>("l2_far", 1 << 22, 1, 1, false);
	measure<FROM_L2>("memory", 1 << 28, 1, 1, false);
	measure<FROM_ATOMIC>("atomic", 1 << 20, 1, 1, false);
	for (unsigned apart = 1; apart <= 8; apart *= 8)
		for (int warps = 1; warps <= 64; warps *= 2) {
			measure<FROM_L1>("l1_all", 1 << 13, apart, warps, true);
			measure<FROM_L2>("l2_all", 1 << 22, apart, warps, true);
			measure<FROM_L2>("memory_all", 1 << 28, apart, warps, true);
			measure<FROM_ATOMIC>("atomic_all", 1 << 22, apart, warps, true);
		}
	return 0;
}
