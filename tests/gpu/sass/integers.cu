/* SPDX-License-Identifier: Apache-2.0 */
/* Integer instructions of every kind; compiled for each architecture, disassembled, compared with our decoder. Never run. */
#include <cstdint>

extern "C" __global__ void arithmetic(const int *a, const unsigned *b, int *o, unsigned *u)
{
	int i = threadIdx.x, x = a[i], y = a[i + 32], z = a[i + 64];
	unsigned p = b[i], q = b[i + 32], r = b[i + 64];

	o[i] = x + y * z;
	o[i + 32] = x / y, o[i + 64] = x % y, u[i] = p / q, u[i + 32] = p % r;
	o[i + 96] = min(x, y) + max(y, z) + abs(z), u[i + 64] = min(p, q) ^ max(q, r);
	o[i + 128] = x << (y & 31), o[i + 160] = x >> (z & 31), u[i + 96] = p >> (q & 31);
	u[i + 128] = __funnelshift_l(p, q, r), u[i + 160] = __funnelshift_rc(p, q, r);
	u[i + 192] = __popc(p) + __clz(x) + __brev(q) + __ffs(y);
	u[i + 224] = __byte_perm(p, q, 0x5140) ^ __byte_perm(p, q, r);
	u[i + 256] = __umulhi(p, q) + __mulhi(x, y) + __umul24(p, r) + __mul24(x, z);
	u[i + 288] = __dp4a(x, y, z) + __dp4a(p, q, r) + __dp2a_lo(x, y, z);
	u[i + 320] = __sad(x, y, r) + __usad(p, q, r) + __uhadd(p, q) + __rhadd(x, y);
	u[i + 352] = (p & q) | (~r & 0xff00ff), u[i + 384] = (p ^ q) & (q | r) & ~0x1234u;
	u[i + 416] = __vabs2(p) + __vadd4(p, q) + __vmaxs2(p, r) + __vcmpeq4(p, q) + __vimax_s32_relu(x, y) + __viaddmax_s32(x, y, z);
	o[i + 448] = x * 7 + y * 12 - z * 1000003;
	u[i + 480] = (p >> 5 & 0x3f) | (q << 9 & 0x7e00);
}

extern "C" __global__ void wide(const long long *a, const unsigned long long *b, long long *o, unsigned long long *u)
{
	int i = threadIdx.x;
	long long x = a[i], y = a[i + 32];
	unsigned long long p = b[i], q = b[i + 32];

	o[i] = x + y, o[i + 32] = x - y, o[i + 64] = x * y, o[i + 96] = x / y, u[i] = p % q;
	o[i + 128] = x << (int)(y & 63), o[i + 160] = x >> (int)(y & 63), u[i + 32] = p >> (q & 63);
	o[i + 192] = min(x, y), u[i + 64] = max(p, q), u[i + 96] = __umul64hi(p, q), o[i + 224] = __mul64hi(x, y);
	o[i + 256] = x < y ? x : -y, u[i + 128] = p & ~q, u[i + 160] = __popcll(p) + __clzll(x) + __brevll(q) + __ffsll(y);
	u[i + 192] = p == q, u[i + 224] = p != 0 && q > 77;
}

extern "C" __global__ void compare(const int *a, const unsigned char *c, const short *s, int *o, signed char *oc, short *os)
{
	int i = threadIdx.x, x = a[i], y = a[i + 32];
	bool f = x < y && c[i] > 3, g = x == 5 || s[i] != y, h = f ^ g;

	if (h && !(x & 4))
		o[i] = f ? x : y;
	if ((unsigned)x >= (unsigned)y)
		o[i + 32] = g ? 3 : x;
	oc[i] = (signed char)(x + c[i]), os[i] = (short)(y * s[i]);
	o[i + 64] = (x > 0) + (y <= 7) + (x != y) + (x >= s[i]);
	asm volatile("{ .reg .pred p, q; setp.lt.and.s32 p|q, %1, %2, 1; @p add.s32 %0, %0, 1; @!q sub.s32 %0, %0, 3; }" : "+r"(o[i + 96]) : "r"(x), "r"(y));
	asm volatile("{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, t, %1; }" : "=r"(x) : "r"(x), "r"(y));
	asm volatile("bfe.s32 %0, %0, %1, 5; bfi.b32 %0, %1, %0, 3, 9; bfind.u32 %1, %0; lop3.b32 %0, %0, %1, 77, 0xca; bmsk.clamp.b32 %1, %0, 3; szext.wrap.s32 %0, %1, 11;"
		: "+r"(x), "+r"(y));
	o[i + 128] = x ^ y;
}
