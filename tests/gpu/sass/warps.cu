/* SPDX-License-Identifier: Apache-2.0 */
/* Shuffles, votes, barriers, special registers, control flow. */
extern "C" __global__ void exchange(int *a, unsigned *u, float *f)
{
	int i = threadIdx.x, x = a[i];

	a[i + 32] = __shfl_sync(~0u, x, 3) + __shfl_up_sync(~0u, x, 1) + __shfl_down_sync(~0u, x, 2, 16) + __shfl_xor_sync(~0u, x, i & 7);
	f[i] = __shfl_sync(0xffffu, f[i + 1], x), u[i] = __ballot_sync(~0u, x > 3) + __activemask(), a[i + 64] = __any_sync(~0u, x) + __all_sync(~0u, x < 9);
	u[i + 32] = __match_any_sync(~0u, x), a[i + 96] = __match_all_sync(~0u, x, &x);
#if __CUDA_ARCH__ >= 800
	u[i + 64] = __reduce_add_sync(~0u, u[i + 65]) + __reduce_max_sync(~0u, u[i + 66]) + __reduce_or_sync(~0u, u[i + 67]), a[i + 128] = __reduce_min_sync(~0u, x);
#endif
#if __CUDA_ARCH__ >= 900
	asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; @p add.u32 %0, %0, 1; }" : "=r"(u[i + 96]));
#endif
	__syncwarp();
}

extern "C" __global__ void barriers(int *a)
{
	int i = threadIdx.x, v;

	__syncthreads();
	a[i] = __syncthreads_count(a[i] > 3) + __syncthreads_and(a[i + 32]) + __syncthreads_or(a[i + 64]);
	asm volatile("bar.sync 1, 64; bar.arrive 2, 128; barrier.sync 3; bar.sync %0;" ::"r"(i & 7) : "memory");
	asm volatile("bar.warp.sync 0xff; barrier.sync.aligned %0, 96;" ::"r"(i & 3) : "memory");
	__nanosleep(100), __nanosleep(a[i + 1]);
	asm volatile("mov.u32 %0, %%clock;" : "=r"(v));
	a[i + 2] = v + (int)clock64();
	asm volatile("mov.u32 %0, %%smid;" : "=r"(v));
	a[i + 3] = v;
	asm volatile("{ .reg .u64 t; mov.u64 t, %%globaltimer; cvt.u32.u64 %0, t; }" : "=r"(v));
	a[i + 4] = v + blockIdx.y * gridDim.z + threadIdx.z + blockDim.y;
	asm volatile("mov.u32 %0, %%laneid;" : "=r"(v));
	a[i + 5] = v;
	asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(v));
	a[i + 6] = v;
	if (v == 12345)
		__trap();
	if (v == 12346)
		__brkpt();
}

__device__ __noinline__ int ladder(int n, int *a)
{
	return n < 2 ? a[n] : ladder(n - 1, a) + ladder(n - 2, a);
}
__device__ __noinline__ int one(int x) { return x * 3 + 1; }
__device__ __noinline__ int two(int x) { return x / 3 - 1; }
__device__ int (*const functions[2])(int) = {one, two};

extern "C" __global__ void flow(int *a, int n)
{
	int i = threadIdx.x, x = a[i];

	for (int k = 0; k < n; k++) {
		if (x & 1)
			x = x * 3 + 1;
		else
			x /= 2;
		if (x == 77)
			break;
		if (x == 99)
			continue;
		x += a[k];
	}
	switch (x % 9) {
	case 0: x = one(x); break;
	case 1: x ^= 5; break;
	case 2: x = x * x * x; break;
	case 3: x = __popc(x); break;
	case 4: a[5] = x; break;
	case 5: x = a[x & 31]; break;
	case 6: x = a[(x * 3) & 31] - 4; break;
	case 7: x = two(x); break;
	default: x = -x;
	}
	a[i + 32] = x + functions[x & 1](x) + ladder(x & 7, a);
	if (x < 0)
		return;
	do
		x = a[x & 31];
	while (__any_sync(__activemask(), x > 5));
	a[i + 64] = x;
}

/* What is the same for all lanes, so that uniform registers are used. */
extern "C" __global__ void uniform(const float *in, float *out, int n, int m, unsigned p, float s)
{
	float sum = 0;

	for (int i = 0; i < n; i++) {
		int base = (blockIdx.x * n + i) * m + (blockIdx.y >> 3) * (m & ~7) + min(n, m) * (blockIdx.z ^ p);
		for (int k = 0; k < m; k++)
			sum += in[base + k + threadIdx.x] * s;
		if (base > (int)p && __popc(base) < 5)
			sum += (float)(base << 2) + (float)(p >> (i & 31));
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
