/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix instructions as far as an architecture has them. */

extern "C" __global__ void mma(unsigned *u, float *f, double *d)
{
	unsigned i = threadIdx.x, a0 = u[i], a1 = u[i + 32], a2 = u[i + 64], a3 = u[i + 96], b0 = u[i + 128], b1 = u[i + 160];
	unsigned c0 = u[1], c1 = u[2], c2 = u[3], c3 = u[4];
	float x0 = f[i], x1 = f[i + 1], x2 = f[i + 2], x3 = f[i + 3];

	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3) : "r"(a0), "r"(a1), "r"(b0));
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};" : "+r"(c0), "+r"(c1) : "r"(a0), "r"(a1), "r"(b0));
	asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(c2), "+r"(c3) : "r"(a2), "r"(b1));
	asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(c2), "+r"(c3) : "r"(a2), "r"(b1));
#if __CUDA_ARCH__ >= 800
#define M16(shape, types)                                                                                                                                                          \
	asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                                           \
		: "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))
#define I16(shape, types)                                                                                                                                                          \
	asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                                           \
		: "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))
	M16("m16n8k16", "f32.f16.f16.f32");
	M16("m16n8k16", "f32.bf16.bf16.f32");
	M16("m16n8k8", "f32.tf32.tf32.f32");
	I16("m16n8k32", "s32.s8.s8.s32");
	I16("m16n8k32", "s32.u8.s8.s32");
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(c0), "+r"(c1) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
	asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
		: "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c2), "r"(c3), "r"(c0));
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d[i]), "+d"(d[i + 1]) : "d"(d[i + 64]), "d"(d[i + 96]));
#endif
#if __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 1000
	I16("m16n8k64", "s32.s4.s4.s32");
	asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
#if __CUDA_ARCH__ >= 890
	M16("m16n8k32", "f32.e4m3.e4m3.f32");
	M16("m16n8k32", "f32.e5m2.e4m3.f32");
#endif
	u[i] = c0 + c1 + c2 + c3, f[i] = x0 + x1 + x2 + x3;
}

extern "C" __global__ void matrix_loads(unsigned *u)
{
	__shared__ __align__(16) unsigned box[1024];
	unsigned at = (unsigned)__cvta_generic_to_shared(&box[threadIdx.x * 4]), r0, r1, r2, r3;

	box[threadIdx.x] = u[threadIdx.x];
	__syncthreads();
	asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r0) : "r"(at));
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r1), "=r"(r2) : "r"(at));
	u[threadIdx.x + 32] = r0 + r1 + r2;
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
	asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(r0));
#if __CUDA_ARCH__ >= 900
	asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(at));
	asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%1], {%0};" ::"r"(r0), "r"(at + 64));
	__syncthreads();
	r3 += box[threadIdx.x * 3];
#endif
	u[threadIdx.x + 64] = r0 + r1 + r2 + r3;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
extern "C" __global__ __launch_bounds__(128, 1) void warpgroups(float *f, unsigned long long da, unsigned long long db, int n)
{
	float c[4] = {f[0], f[1], f[2], f[3]};
	unsigned a[4] = {(unsigned)n, 2, 3, 4};

	asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
	for (int i = 0; i < n; i++) {
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
		asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "l"(da), "l"(db));
		asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 1;"
			: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
		asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "l"(da), "l"(db));
		asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;" ::: "memory");
	}
	asm volatile("wgmma.wait_group.sync.aligned 0; setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
	f[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL) || defined(__CUDA_ARCH_FEAT_SM110_ALL)
extern "C" __global__ void tensor_memory(float *f, unsigned long long da, unsigned long long db, unsigned idesc, int n)
{
	__shared__ unsigned long long bar;
	__shared__ unsigned base;
	unsigned b = (unsigned)__cvta_generic_to_shared(&bar), r0, r1, r2, r3;

	asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"((unsigned)__cvta_generic_to_shared(&base)) : "memory");
	asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
	__syncthreads();
	unsigned d = base;
	for (int i = 0; i < n; i++) {
		asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d), "l"(da), "l"(db), "r"(idesc), "r"(i) : "memory");
		asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(b) : "memory");
	}
	asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
	asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(d));
	asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
	asm volatile("tcgen05.st.sync.aligned.32x32b.x2.b32 [%0], {%1,%2};" ::"r"(d), "r"(r0), "r"(r1) : "memory");
	asm volatile("tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;" ::: "memory");
	asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(d), "l"(da) : "memory");
	asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(d));
	f[threadIdx.x] = __uint_as_float(r0 + r1 + r2 + r3);
}
#endif
