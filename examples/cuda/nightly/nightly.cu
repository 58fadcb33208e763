/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a team would run every night: three kernels in two sizes, `nightly KERNEL SIZE LAUNCHES`. Each has one line that a careless change would make slower:
 * -DSLOWER_COLUMN_SUMS, -DSLOWER_TURN and -DSLOWER_POLYNOMIAL make that change. nightly.yaml beside it is the plan of a sweep.
 */
#define RUN_ALL
#include "../run.h"

#include <string>

/* The sum of each column. Slower: a thread goes along a row, so that a warp touches 32 lines at once. */
__global__ void column_sums(const float *in, float *out, unsigned width)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (unsigned k = 0; k < width; k++)
#ifdef SLOWER_COLUMN_SUMS
		sum += in[me * width + k];
#else
		sum += in[k * width + me];
#endif
	out[me] = sum;
}

/* A matrix is transposed by tiles. Slower: without the word that parts the rows of a tile, all lanes read one bank. */
#ifdef SLOWER_TURN
#define PITCH 32
#else
#define PITCH 33
#endif
__global__ void turn(const float *in, float *out, unsigned width)
{
	__shared__ float tile[32 * PITCH];
	unsigned x = blockIdx.x * 32, y = blockIdx.y * 32, lane = threadIdx.x;

	for (unsigned k = threadIdx.y; k < 32; k += 8)
		tile[k * PITCH + lane] = in[(y + k) * width + x + lane];
	__syncthreads();
	for (unsigned k = threadIdx.y; k < 32; k += 8)
		out[(x + k) * width + y + lane] = tile[lane * PITCH + k];
}

/* A polynomial of degree 64 at every point. Slower: a division in place of a product. */
__global__ void polynomial(const float *in, float *out, unsigned width)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < width * width; i += gridDim.x * blockDim.x) {
		float x = in[i], y = 1;

#pragma unroll 8
		for (int k = 0; k < 64; k++)
#ifdef SLOWER_POLYNOMIAL
			y = y / (x + 2.0f) + 0.5f;
#else
			y = y * x + 0.5f;
#endif
		out[i] = y;
	}
}

int main(int argc, char **argv)
{
	const std::string kernel = argc == 4 ? argv[1] : "";
	const unsigned width = argc == 4 ? (unsigned)atoi(argv[2]) & ~255u : 0;
	const bool is_known = kernel == "column_sums" || kernel == "turn" || kernel == "polynomial";

	if (!is_known || !width || width > 16384) {
		fprintf(stderr, "usage: nightly column_sums|turn|polynomial SIZE LAUNCHES\n");
		return 2;
	}
	float *in = device_array<float>((size_t)width * width, [](size_t i) { return (float)(i % 13) * 0.0625f; });
	float *out = device_zeros<float>((size_t)width * width);
	for (int launch = 0; launch < atoi(argv[3]); launch++)
		if (kernel == "column_sums")
			column_sums<<<width / 64, 64>>>(in, out, width);
		else if (kernel == "turn")
			turn<<<dim3(width / 32, width / 32), dim3(32, 8)>>>(in, out, width);
		else
			polynomial<<<132 * 4, 256>>>(in, out, width);
	check(cudaGetLastError(), kernel.c_str());
	check(cudaDeviceSynchronize(), kernel.c_str());
	return 0;
}
