/* SPDX-License-Identifier: Apache-2.0 */
/* record_kernel.cpp: a kernel that does what CASE says; test_record.c knows what must come of each.
 */
#include <cstdint>
#include <cstdio>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "intrinsic.h"
#include "pipe_sync.h"

template <class T> static __gm__ T *at(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);

	return reinterpret_cast<__gm__ T *>(t->buffer.addr) + t->start_offset;
}

using Gm = GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<512, 512, 512, 64, 1>>;
using Ub = Tile<TileType::Vec, float, 8, 64>;

extern "C" void kernel_entry(__gm__ int64_t *args)
{
	Gm x(at<float>(args, 0)), z(at<float>(args, 1));
	Ub a, b;
	float n = 1;

	TASSIGN(a, 0x0);
	TASSIGN(b, 0x1000);
	TLOAD(a, x);
#if CASE == 1 /* loaded from supplied memory: known */
	n = a.GetValue(70);
#elif CASE == 2 /* set: known */
	TADD(b, a, a);
	b.SetValue(5, 4.0f);
	n = b.GetValue(5);
#elif CASE == 3 /* made by an op */
	TADD(b, a, a);
	n = b.GetValue(5);
#elif CASE == 4 /* stored by an op, read by scalar code */
	TSTORE(z, a);
	n = at<float>(args, 1)[511];
#elif CASE == 5 /* an output that no op has stored to */
	n = at<float>(args, 1)[0] + 2;
#elif CASE == 6 /* beside what was stored */
	TSTORE(z, a);
	at<float>(args, 1)[512] = 5;
	n = at<float>(args, 1)[512];
#elif CASE == 7 /* behind the buffer */
	n = at<float>(args, 1)[100000];
#elif CASE == 8
	n = static_cast<float>(args[7]);
#elif CASE == 9 /* an address of the chip */
	n = b.data()[3];
#elif CASE == 10
	for (;;)
		;
#elif CASE == 11
	n = std::fopen("/dev/null", "r") ? 1 : 3;
#elif CASE == 12
	z.SetAddr(nullptr);
	TSTORE(z, a);
#elif CASE == 13
	n = static_cast<float>(
		get_block_idx(args) * 10 + get_block_num(args) + get_sub_block_id(args));
#elif CASE == 14
	pto::TFOO(a, b);
#endif
#ifndef __DAV_CUBE__ /* which has no vector pipe */
	for (float i = 0; i < n; i++)
		TADDS(b, a, 1.0f); // pto: %sum
#endif
}

#if CASE == 90 /* a compiler is busy with this for longer than it lives */
template <int N, int M> struct Twice {
	static constexpr int v = Twice<N - 1, 2 * M>::v + Twice<N - 1, 2 * M + 1>::v;
};
template <int M> struct Twice<0, M> {
	static constexpr int v = 1;
};
static const int bomb = Twice<24, 0>::v;
#endif
