/* SPDX-License-Identifier: Apache-2.0 */
/* Floating point of every width. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void single(const float *a, float *o, int *n)
{
	int i = threadIdx.x;
	float x = a[i], y = a[i + 32], z = a[i + 64];

	o[i] = x * y + z, o[i + 32] = x / y, o[i + 64] = sqrtf(x), o[i + 96] = rsqrtf(y), o[i + 128] = sinf(x), o[i + 160] = expf(y);
	o[i + 192] = __sinf(x) + __cosf(y) + __expf(z) + __logf(x) + __fdividef(x, y) + tanhf(z);
	o[i + 224] = __fadd_rd(x, y) + __fmul_ru(y, z) + __fmaf_rz(x, y, z) + __frcp_rn(x) + __fsqrt_rz(y);
	o[i + 256] = fminf(x, y) + fmaxf(fabsf(y), -z) + __saturatef(x) + copysignf(x, y) + fmodf(x, y);
	o[i + 288] = floorf(x) + ceilf(y) + truncf(z) + rintf(x) + roundf(y);
	n[i] = __float2int_rn(x) + __float2int_rz(y) + __float2uint_ru(z) + (int)__float2ll_rd(x) + (isnan(x) ? 3 : 4) + (isinf(y) ? 1 : 0);
	o[i + 320] = __int2float_rn(n[i + 32]) + __uint2float_rz((unsigned)n[i + 64]) + (float)(long long)n[i] + (float)(unsigned char)n[i + 1] + (float)(short)n[i + 2];
	o[i + 352] = x < y ? x : z, o[i + 384] = x > 2.5f && !(y <= z) ? -x : 0.125f, o[i + 416] = ldexpf(x, n[i + 3]) + powf(x, y) + cbrtf(z) + erff(x);
	o[i + 448] = fmaxf(x, fmaxf(y, z)) + fminf(fminf(x, y), z);
	asm volatile("tanh.approx.f32 %0, %0; fma.rn.ftz.sat.f32 %0, %0, %1, 0f3FC00000; min.ftz.f32 %0, %0, %1; set.gt.u32.f32 %2, %0, %1;"
		: "+f"(x), "+f"(y), "=r"(n[i + 5]));
	o[i + 480] = x;
}

extern "C" __global__ void dbl(const double *a, double *o, float *f, int *n, long long *m)
{
	int i = threadIdx.x;
	double x = a[i], y = a[i + 32], z = a[i + 64];

	o[i] = x * y + z, o[i + 32] = x / y, o[i + 64] = sqrt(x), o[i + 96] = x + y, o[i + 128] = x * z, o[i + 160] = exp(x);
	o[i + 192] = fmin(x, y) + fmax(y, z) + fabs(z) + rint(x) + floor(y), f[i] = (float)x, o[i + 224] = f[i + 32], n[i] = (int)y, o[i + 256] = n[i + 1];
	m[i] = (long long)x + __double2ll_rn(y), o[i + 288] = (double)m[i + 1] + (double)(unsigned)n[i + 2], o[i + 320] = x < y ? z : -x, o[i + 352] = rsqrt(x) + log(y);
	o[i + 384] = __dadd_ru(x, y) + __fma_rz(x, y, z) + __dmul_rd(x, z), n[i + 3] = x == y || z != 0.5 || isnan(x);
}

extern "C" __global__ void half_(const __half2 *a, __half2 *o, __half *h, float *f, unsigned *u)
{
	int i = threadIdx.x;
	__half2 x = a[i], y = a[i + 32], z = a[i + 64];

	o[i] = __hfma2(x, y, z), o[i + 32] = __hadd2(x, y), o[i + 64] = __hmul2(x, z), o[i + 96] = h2exp2(x), o[i + 128] = __hneg2(x), o[i + 160] = __habs2(y);
	o[i + 192] = __lowhigh2highlow(x), o[i + 224] = __halves2half2(__low2half(x), __high2half(y)), o[i + 256] = __hmul2(x, __float2half2_rn(1.5f));
	o[i + 288] = __hfma2(x, __floats2half2_rn(2.0f, 0.25f), y), o[i + 320] = __hadd2_sat(x, y), o[i + 352] = h2rsqrt(z), o[i + 384] = h2sqrt(y);
	h[i] = __hadd(h[i + 32], h[i + 64]), h[i + 96] = __hmul(h[i + 1], h[i + 2]), h[i + 128] = __hfma(h[i + 3], h[i + 4], h[i + 5]), h[i + 160] = __float2half(f[i]);
	f[i + 32] = __half2float(h[i + 6]), h[i + 192] = hsin(h[i + 7]), h[i + 224] = __int2half_rn((int)u[i]), u[i + 32] = (unsigned)__half2int_rz(h[i + 8]);
	u[i + 64] = __hgt(h[i], h[i + 1]) ? 3 : 5, u[i + 96] = __hbeq2(x, y), o[i + 416] = __hlt2(x, y), o[i + 448] = __hsub2(x, z), o[i + 480] = __h2div(x, y);
#if __CUDA_ARCH__ >= 800
	o[i + 512] = __hmin2(x, y), o[i + 544] = __hmax2_nan(x, z), o[i + 576] = __hfma2_relu(x, y, z);
#endif
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void bfloat(const __nv_bfloat162 *a, __nv_bfloat162 *o, __nv_bfloat16 *h, float *f)
{
	int i = threadIdx.x;
	__nv_bfloat162 x = a[i], y = a[i + 32], z = a[i + 64];

	o[i] = __hfma2(x, y, z), o[i + 32] = __hadd2(x, y), o[i + 64] = __hmul2(x, z), o[i + 96] = __hmax2(x, y), o[i + 128] = __floats2bfloat162_rn(f[i], f[i + 1]);
	h[i] = __float2bfloat16(f[i + 2]), f[i + 3] = __bfloat162float(h[i + 4]), h[i + 32] = __hadd(h[i + 5], h[i + 6]), o[i + 160] = __hfma2_relu(x, y, z);
}
#endif

#if __CUDA_ARCH__ >= 890
extern "C" __global__ void eights(const float2 *a, __nv_fp8x2_storage_t *o, __half2_raw *h)
{
	int i = threadIdx.x;

	o[i] = __nv_cvt_float2_to_fp8x2(a[i], __NV_SATFINITE, __NV_E4M3), o[i + 32] = __nv_cvt_float2_to_fp8x2(a[i + 1], __NV_SATFINITE, __NV_E5M2);
	h[i] = __nv_cvt_fp8x2_to_halfraw2(o[i + 64], __NV_E4M3), h[i + 32] = __nv_cvt_fp8x2_to_halfraw2(o[i + 65], __NV_E5M2);
}
#endif
