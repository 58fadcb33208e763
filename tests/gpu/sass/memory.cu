/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, atomics, copies, fences. */
#include <cuda_fp16.h>

__constant__ int table[256];
__device__ int global_word;

extern "C" __global__ void widths(const char *a, char *o, int k)
{
	__shared__ int4 box[64];
	int i = threadIdx.x;

	((char *)o)[i] = a[i], ((short *)o)[i + 64] = ((const short *)a)[i + 64], ((int *)o)[i + 128] = ((const int *)a)[i + 128];
	((int2 *)o)[i + 128] = ((const int2 *)a)[i + 128], ((int4 *)o)[i + 128] = ((const int4 *)a)[i + 128];
	o[i + 8192] = (char)((const unsigned char *)a)[i + 3] + (char)((const signed char *)a)[i * 3 + 7];
	((int *)o)[i + 4096] = __ldg((const int *)a + i) + __ldcg((const int *)a + i + 1) + __ldcs((const int *)a + i + 2) + __ldlu((const int *)a + i + 3) + __ldcv((const int *)a + i + 4);
	__stcg((int *)o + i + 5000, k), __stcs((int *)o + i + 5001, k), __stwt((int *)o + i + 5002, k), __stwb((int *)o + i + 5003, k);
	((volatile int *)o)[i + 6000] = ((const volatile int *)a)[i + 6000];
	box[i] = make_int4(i, k, k + i, 3), ((char *)box)[i * 5] = (char)k, ((short *)box)[i * 7] = (short)k, ((int2 *)box)[i * 2] = make_int2(k, i);
	__syncthreads();
	int4 v = box[i ^ 1];
	((int4 *)o)[i + 600] = v, ((int *)o)[i + 7000] = ((unsigned char *)box)[i * 3] + ((short *)box)[i] + ((int *)box)[i * 3] + table[k] + table[i] + ((int2 *)box)[k].y;
	((int *)o)[i + 7100] = global_word + ((const int *)table)[(k + i) & 255];
}

extern "C" __global__ void local_array(const int *a, int *o, int n)
{
	int own[64];
	int2 pairs[8];

	for (int i = 0; i < 64; i++)
		own[i] = a[i];
	for (int i = 0; i < 8; i++)
		pairs[i] = make_int2(a[i], a[i + 1]);
	for (int i = 0; i < n; i++)
		own[(own[i & 63] + i) & 63] += a[i], pairs[own[i & 63] & 7].x ^= i;
	o[threadIdx.x] = own[n & 63] + own[(n * 7) & 63] + pairs[n & 7].y + pairs[(n + 3) & 7].x;
}

extern "C" __global__ void atomics(int *a, unsigned *b, float *f, double *d, unsigned long long *l, __half2 *h, int k)
{
	__shared__ int box[64];
	__shared__ float fbox[64];
	__shared__ unsigned long long lbox[8];
	int i = threadIdx.x;

	box[i] = k, fbox[i] = 0, lbox[i & 7] = 0;
	__syncthreads();
	a[i] = atomicAdd(&a[i + 1], k) + atomicMin(&a[i + 2], k) + atomicMax(&a[i + 3], k) + atomicCAS(&a[i + 4], k, 7) + atomicExch(&a[i + 5], k);
	atomicAdd(&b[i], 3u), atomicOr(&b[i + 1], 5u), atomicAnd(&b[i + 2], 6u), atomicXor(&b[i + 3], 9u), atomicInc(&b[i + 4], 77u), atomicDec(&b[i + 5], 78u);
	b[i + 6] = atomicInc(&b[i + 7], 99u) + atomicOr(&b[i + 8], 1u), atomicMax(&b[i + 9], 3u), atomicMin(&a[i + 9], -3);
	f[i] = atomicAdd(&f[i + 1], 1.5f), atomicAdd(&f[i + 2], 2.5f), d[i] = atomicAdd(&d[i + 1], 0.5), atomicAdd(&d[i + 2], 0.25);
	l[i] = atomicAdd(&l[i + 1], 5ull) + atomicCAS(&l[i + 2], 3ull, 4ull) + atomicExch(&l[i + 3], 1ull), atomicMax(&l[i + 4], 9ull);
	h[i] = atomicAdd(&h[i + 1], h[i + 2]);
	a[i + 64] = atomicAdd(&box[i ^ 1], k) + atomicCAS(&box[i ^ 2], 1, 2) + atomicExch(&box[i ^ 3], 3) + atomicMin(&box[i ^ 5], 2), atomicAdd(&fbox[i ^ 1], 1.0f);
	atomicOr(&box[3], 5), atomicAdd(&lbox[i & 3], 5ull), l[i + 64] = lbox[i & 7] + atomicCAS(&lbox[i & 1], 3ull, 4ull);
	atomicAdd_block(&a[i + 200], 1), atomicAdd_system(&a[i + 201], 1), f[i + 64] = fbox[i];
}

extern "C" __global__ void orders(int *a, int *o, const char *p)
{
	int i = threadIdx.x, v, w;

	asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(a + i) : "memory");
	asm volatile("ld.relaxed.sys.global.b32 %0, [%1];" : "=r"(w) : "l"(a + i + 1) : "memory");
	asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(o + i), "r"(v) : "memory");
	asm volatile("st.relaxed.cta.global.b32 [%0], %1;" ::"l"(o + i + 1), "r"(w) : "memory");
	asm volatile("atom.add.release.gpu.global.s32 %0, [%1], 3;" : "=r"(v) : "l"(a + i + 2) : "memory");
	asm volatile("red.add.relaxed.sys.global.s32 [%0], %1;" ::"l"(a + i + 3), "r"(v) : "memory");
	__threadfence();
	__threadfence_block();
	__threadfence_system();
	asm volatile("fence.acq_rel.gpu; fence.sc.cta; fence.sc.gpu;" ::: "memory");
	asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0];" ::"l"(p + i * 128));
#if __CUDA_ARCH__ >= 800
	asm volatile("ld.global.L2::128B.b32 %0, [%1];" : "=r"(v) : "l"(a + i + 8));
	asm volatile("ld.global.L1::no_allocate.L2::256B.b32 %0, [%1];" : "=r"(w) : "l"(a + i + 9));
	asm volatile("ld.global.nc.L1::evict_last.b32 %0, [%1];" : "=r"(v) : "l"(a + i + 10));
	o[i + 32] = v + w;
#endif
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void copies(const int4 *in, int *o, int n)
{
	__shared__ int4 box[2][128];
	unsigned to = (unsigned)__cvta_generic_to_shared(&box[0][threadIdx.x]);

	for (int i = 0; i < n; i++) {
		asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + i));
		asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to + 2048), "l"(in + i + 1));
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + i + 2), "r"(i & 16));
		asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to + 2048), "l"(in + i + 3));
		asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
		__syncthreads();
	}
	asm volatile("cp.async.wait_all;" ::: "memory");
	o[threadIdx.x] = box[n & 1][threadIdx.x].x;
}

extern "C" __global__ void mbarriers(int *o, int n)
{
	__shared__ unsigned long long bar[2];
	unsigned b = (unsigned)__cvta_generic_to_shared(&bar[0]), done = 0;
	unsigned long long state;

	asm volatile("mbarrier.init.shared.b64 [%0], 32; mbarrier.init.shared.b64 [%0+8], 1;" ::"r"(b));
	__syncthreads();
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b));
	asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 3;" : "=l"(state) : "r"(b + 8));
	asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b));
	while (!done)
		asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "l"(state) : "memory");
	asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b));
	o[threadIdx.x] = (int)done;
}
#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void bulk(const char *in, char *out, int n, const __grid_constant__ int4 map, float *f)
{
	extern __shared__ __align__(128) char box[];
	__shared__ unsigned long long bar;
	unsigned b = (unsigned)__cvta_generic_to_shared(&bar), s = (unsigned)__cvta_generic_to_shared(box), done = 0;

	asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(b));
	asm volatile("fence.proxy.async.shared::cta;");
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(n));
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s), "l"(in), "r"(n), "r"(b) : "memory");
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(s + 1024), "l"(&map), "r"(n), "r"(3), "r"(b) : "memory");
		asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(n));
		asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
	}
	while (!done)
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "r"(0) : "memory");
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(s), "r"(n) : "memory");
	asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(f), "r"(s), "r"(n) : "memory");
	asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(n), "r"(4), "r"(s) : "memory");
	asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void clusters(int *o)
{
	__shared__ int box[32];
	unsigned at = (unsigned)__cvta_generic_to_shared(&box[threadIdx.x]), there, rank, v;

	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank ^ 1));
	asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
	asm volatile("st.shared::cluster.u32 [%0], %1;" : : "r"(there), "r"(rank));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
	asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(rank) : "r"(there) : "memory");
	asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory");
	o[threadIdx.x] = (int)(v + rank) + box[threadIdx.x];
}
#endif
