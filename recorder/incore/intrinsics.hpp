/* SPDX-License-Identifier: Apache-2.0 */
/* intrinsics.hpp: flags, barriers, cross-core flags and the scalar registers. */
#pragma once

#include "incore/types.hpp"

namespace incore
{
void flag(bool is_set, int src, int dst, int id, site s);
void barrier(int pipe, site s);
/* A scalar op of that name; the words are recorded as its operands. */
void scalar(const char *name, site s, unsigned n = 0, uint64_t v0 = 0, uint64_t v1 = 0);
/* The same with a place in global memory. */
void scalar_at(const char *name, site s, const void *p);
void cross_set(int pipe, int id, int mode, const char *name, site s);
void cross_wait(int pipe, int id, int mode, const char *name, site s);
int block_idx();
int block_num();
int lane();
int lane_count(); /* vector lanes of the kernel; 1 of a plain one */
uint64_t sys_cnt();
} // namespace incore

#define INCORE_SITE ::incore::site s = INCORE_HERE

inline void set_flag(pipe_t src, pipe_t dst, int id, INCORE_SITE)
{
	incore::flag(true, src, dst, id, s);
}
inline void wait_flag(pipe_t src, pipe_t dst, int id, INCORE_SITE)
{
	incore::flag(false, src, dst, id, s);
}
inline void pipe_barrier(pipe_t p, INCORE_SITE)
{
	incore::barrier(p, s);
}

/* Numbers rather than enums: sources define such names as they please. */
template <class P> inline void dcci(P p, int line, int dst = 0, INCORE_SITE)
{
	(void)line;
	(void)dst;
	incore::scalar_at("dcci", s, (const void *)p);
}
inline void dsb(int kind, INCORE_SITE)
{
	incore::scalar("dsb", s, 1, static_cast<uint64_t>(kind));
}
inline void set_mask_norm(INCORE_SITE)
{
	incore::scalar("set_mask_norm", s);
}
inline void set_mask_count(INCORE_SITE)
{
	incore::scalar("set_mask_count", s);
}
inline void set_vector_mask(uint64_t high, uint64_t low, INCORE_SITE)
{
	incore::scalar("set_vector_mask", s, 2, high, low);
}
inline void set_ffts_base_addr(uint64_t address, INCORE_SITE)
{
	incore::scalar("set_ffts_base_addr", s, 1, address);
}
#define INCORE_ATOMIC(NAME)                                                                        \
	inline void set_atomic_##NAME(INCORE_SITE)                                                 \
	{                                                                                          \
		incore::scalar("set_atomic_" #NAME, s);                                            \
	}
INCORE_ATOMIC(none)
INCORE_ATOMIC(add)
INCORE_ATOMIC(max)
INCORE_ATOMIC(min)
INCORE_ATOMIC(f32)
INCORE_ATOMIC(f16)
INCORE_ATOMIC(bf16)
INCORE_ATOMIC(s8)
INCORE_ATOMIC(s16)
INCORE_ATOMIC(s32)
#undef INCORE_ATOMIC

/* config: bit 0 set, mode in bits 4 and 5, flag in bits 8 to 11 */
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t config, INCORE_SITE)
{
	incore::cross_set(pipe, static_cast<int>(config >> 8 & 15),
		static_cast<int>(config >> 4 & 3), "ffts_cross_core_sync", s);
}
inline void wait_flag_dev(int id, INCORE_SITE)
{
	incore::cross_wait(PIPE_S, id, 0, "wait_flag_dev", s);
}
inline void set_intra_block(pipe_t pipe, int id, INCORE_SITE)
{
	incore::cross_set(pipe, id, 4, "set_intra_block", s);
}
inline void wait_intra_block(pipe_t pipe, int id, INCORE_SITE)
{
	incore::cross_wait(pipe, id, 4, "wait_intra_block", s);
}

/* The raw registers. Under the runtime both lanes read sub-block 0; alone, as here, it is right. */
#ifndef get_subblockid
inline int get_subblockid()
{
	return incore::lane();
}
#endif
inline int get_subblockdim()
{
	return incore::lane_count();
}
inline int get_coreid()
{
	return incore::block_idx();
}
inline int get_block_idx()
{
	return incore::block_idx();
}
inline int get_block_num()
{
	return incore::block_num();
}
inline uint64_t get_sys_cnt()
{
	return incore::sys_cnt();
}
