/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.cu: kernels to take captures of on a GPU: kernels [REPEATS [plain|graph [LOG2_N]]]. Prints
 * the time of a launch by events of the device, the first launch apart. With "graph" they run inside a
 * CUDA graph. Arrays have 2^22 elements, which fit the second level cache of an H200, or 2^LOG2_N.
 * nvcc -lineinfo -arch=sm_90 -o kernels kernels.cu
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define TILE 32

__global__ void scale_add(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = a * x[i] + y[i];
}

__global__ void gather_sum(int n, const int *index, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= n)
		return;
	for (int k = 0; k < 16; k++)
		sum += x[index[(i * 17 + k * 977) % n]];
	y[i] = sum;
}

__global__ void multiply_tiled(int n, const float *a, const float *b, float *c)
{
	__shared__ float left[TILE][TILE], right[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y;
	int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		left[y][x] = a[row * n + k + x];
		right[y][x] = b[(k + y) * n + column];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += left[y][i] * right[i][x];
		__syncthreads();
	}
	c[row * n + column] = sum;
}

__device__ __noinline__ float slow_root(float x, int steps)
{
	float y = x;

	for (int i = 0; i < steps; i++)
		y = 0.5f * (y + x / y);
	return y;
}

__global__ void roots(int n, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = slow_root(x[i] + 2.0f, 8 + (i & 3));
}

static int n;
static float *x, *y;
static int *index_of;

static void launch(int k, cudaStream_t s)
{
	if (k == 0)
		scale_add<<<n / 256, 256, 0, s>>>(n, 2, x, y);
	else if (k == 1)
		gather_sum<<<n / 256, 256, 0, s>>>(n, index_of, x, y);
	else if (k == 2)
		multiply_tiled<<<dim3(32, 32), dim3(TILE, TILE), 0, s>>>(1024, x, x, y);
	else
		roots<<<n / 256, 256, 0, s>>>(n, x, y);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"scale_add", "gather_sum", "multiply_tiled", "roots"};
	int repeats = argc > 1 ? atoi(argv[1]) : 20;
	bool is_graph = argc > 2 && !strcmp(argv[2], "graph");
	unsigned seed = 1;
	int *indices;
	cudaStream_t s;
	cudaEvent_t from, to;

	n = 1 << (argc > 3 ? atoi(argv[3]) : 22);
	indices = (int *)malloc(n * sizeof(int));
	for (int i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		indices[i] = (int)(seed >> 4) % n;
	}
	cudaMalloc(&x, n * sizeof(float));
	cudaMalloc(&y, n * sizeof(float));
	cudaMalloc(&index_of, n * sizeof(int));
	cudaMemset(x, 0, n * sizeof(float));
	cudaMemcpy(index_of, indices, n * sizeof(int), cudaMemcpyHostToDevice);
	cudaStreamCreate(&s);
	cudaEventCreate(&from);
	cudaEventCreate(&to);
	for (int k = 0; k < 4; k++) {
		cudaGraph_t graph;
		cudaGraphExec_t exec;
		float ms = 0;

		launch(k, s);
		cudaStreamSynchronize(s);
		if (is_graph) {
			cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
			for (int i = 0; i < repeats; i++)
				launch(k, s);
			cudaStreamEndCapture(s, &graph);
			cudaGraphInstantiate(&exec, graph, 0);
		}
		cudaEventRecord(from, s);
		if (is_graph)
			cudaGraphLaunch(exec, s);
		for (int i = 0; i < repeats && !is_graph; i++)
			launch(k, s);
		cudaEventRecord(to, s);
		cudaEventSynchronize(to);
		cudaEventElapsedTime(&ms, from, to);
		printf("%s %.3f us %s\n", names[k], ms * 1000 / repeats,
			cudaGetErrorString(cudaGetLastError()));
	}
	return 0;
}
