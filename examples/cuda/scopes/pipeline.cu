/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp-specialised kernel that records itself: warp 0 of a block brings tiles into shared memory with bulk copies (TMA), four warps
 * add them up; barriers in memory (mbarrier) say when a stage is full and when it is empty. sm_90 and later.
 *
 *	nvcc -arch=sm_90 -O3 -I../../../include pipeline.cu -o pipeline && ./pipeline pipeline.scopes
 *	incore summary pipeline.scopes; incore view pipeline.scopes
 */
#include <incore/cuda.h>

#define STAGES 3
#define CONSUMERS 4
#define TILE_WORDS 4096
#define TILE_BYTES (TILE_WORDS * 4u)

struct block_memory {
	float tile[STAGES][TILE_WORDS];
	uint64_t full[STAGES], empty[STAGES];
};

static __device__ uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}
static __device__ void barrier_init(uint64_t *bar, uint32_t arrivals)
{
	asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals));
}
static __device__ void barrier_arrive(uint64_t *bar)
{
	asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}
static __device__ void barrier_wait(uint64_t *bar, uint32_t parity)
{
	uint32_t done = 0;

	while (!done)
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(shared_address(bar)), "r"(parity) : "memory");
}
static __device__ void copy_tile(float *to, const float *from, uint64_t *bar)
{
	asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(TILE_BYTES) : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(TILE_BYTES),
		"r"(shared_address(bar))
		: "memory");
}

static __device__ void produce(incore_recorder &incore_here, block_memory *m, const float *in, int tiles)
{
	for (int t = 0; t < tiles; t++) {
		int stage = t % STAGES;
		{
			INCORE_WAIT("wait empty");
			barrier_wait(&m->empty[stage], (t / STAGES & 1) ^ 1);
		}
		INCORE_VALUE("stage", stage);
		INCORE_SCOPE("start copy", INCORE_COPY);
		copy_tile(m->tile[stage], in + ((size_t)t * gridDim.x + blockIdx.x) * TILE_WORDS, &m->full[stage]);
	}
}

static __device__ float consume(incore_recorder &incore_here, block_memory *m, int tiles, int work)
{
	float sum = 0;

	for (int t = 0; t < tiles; t++) {
		int stage = t % STAGES;
		INCORE_SCOPE("tile");
		{
			INCORE_WAIT("wait full");
			barrier_wait(&m->full[stage], t / STAGES & 1);
		}
		{
			INCORE_SCOPE("add up", INCORE_MATRIX);
			for (int i = (int)threadIdx.x - 32; i < TILE_WORDS; i += CONSUMERS * 32) {
				float v = m->tile[stage][i];
				for (int k = 0; k < work; k++)
					v = v * 0.99f + 0.01f;
				sum += v;
			}
		}
		__syncwarp();
		if (threadIdx.x % 32 == 0)
			barrier_arrive(&m->empty[stage]);
		INCORE_INSTANT("stage free");
	}
	return sum;
}

__global__ void pipeline(incore_scopes_device scopes, const float *in, float *out, int tiles, int work)
{
	extern __shared__ __align__(128) char memory[];
	block_memory *m = (block_memory *)memory;
	INCORE_WARP(scopes);

	if (threadIdx.x == 0) {
		INCORE_SCOPE("set up");
		for (int i = 0; i < STAGES; i++) {
			barrier_init(&m->full[i], 1);
			barrier_init(&m->empty[i], CONSUMERS);
		}
		asm volatile("fence.mbarrier_init.release.cluster;");
	}
	{
		INCORE_WAIT("block");
		__syncthreads();
	}
	if (threadIdx.x < 32) {
		if (threadIdx.x == 0)
			produce(incore_here, m, in, tiles);
	} else {
		float sum = consume(incore_here, m, tiles, work);
		INCORE_SCOPE("write", INCORE_STORE);
		out[blockIdx.x * CONSUMERS * 32 + threadIdx.x - 32] = sum;
	}
}

static void must(const char *wrong, const char *what)
{
	if (!wrong)
		return;
	fprintf(stderr, "%s: %s\n", what, wrong);
	exit(1);
}
static void must(cudaError_t err, const char *what)
{
	must(err == cudaSuccess ? NULL : cudaGetErrorString(err), what);
}

/* pipeline [FILE [WORK [TILES [BLOCKS]]]] */
int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "pipeline.scopes";
	int work = argc > 2 ? atoi(argv[2]) : 8, tiles = argc > 3 ? atoi(argv[3]) : 24, blocks = argc > 4 ? atoi(argv[4]) : 264;
	incore_scopes scopes;
	incore_scopes_device nothing = {};
	float *in, *out, ms[2];
	cudaEvent_t a, b;

	must(cudaMalloc(&in, (size_t)tiles * blocks * TILE_BYTES), "input");
	must(cudaMemset(in, 0, (size_t)tiles * blocks * TILE_BYTES), "input");
	must(cudaMalloc(&out, (size_t)blocks * CONSUMERS * 32 * 4), "output");
	must(cudaFuncSetAttribute(pipeline, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(block_memory)), "shared memory");
	must(incore_scopes_open(&scopes, (uint32_t)blocks * (CONSUMERS + 1), 1024), "scopes");
	must(cudaEventCreate(&a), "event");
	must(cudaEventCreate(&b), "event");
	for (int round = 0; round < 6; round++) { /* the last of each kind counts: without, with */
		must(incore_scopes_reset(&scopes), "scopes");
		must(cudaEventRecord(a), "event");
		pipeline<<<blocks, (CONSUMERS + 1) * 32, sizeof(block_memory)>>>(round % 2 ? scopes.device : nothing, in, out, tiles, work);
		must(cudaEventRecord(b), "event");
		must(cudaEventSynchronize(b), "kernel");
		must(cudaEventElapsedTime(&ms[round % 2], a, b), "event");
	}
	must(incore_scopes_write(&scopes, path, "pipeline"), path);
	printf("%s: %.1f us without records, %.1f us with\n", path, ms[0] * 1000, ms[1] * 1000);
	incore_scopes_close(&scopes);
	return 0;
}
