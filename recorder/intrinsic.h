/* SPDX-License-Identifier: Apache-2.0 */
/* intrinsic.h: the contexts that argument slots 48 and 49 point to. */
#pragma once

#include <cstddef>
#include <cstdint>

#include "incore/intrinsics.hpp" /* built into a device compiler */

struct AsyncContext {
	volatile uint32_t *completion_count;
	volatile int32_t *completion_error_code;
	void *completion_entries;
	uint32_t completion_capacity;
	uint64_t task_token;
};

using AsyncCtx = AsyncContext;

struct LocalContext {
	union {
		int32_t block_idx;
		int32_t s_block_idx;
	};
	union {
		int32_t block_num;
		int32_t s_block_num;
	};
	AsyncContext async_ctx;
};
static_assert(
	sizeof(LocalContext) == 48 && offsetof(LocalContext, async_ctx) == 8, "local context");

struct GlobalContext {
	int32_t sub_block_id;
	uint64_t dma_workspace[2];
};
static_assert(sizeof(GlobalContext) == 24, "global context");

constexpr int SLOT_LOCAL_CONTEXT = 48;
constexpr int SLOT_GLOBAL_CONTEXT = 49;

template <class A> inline int32_t get_block_idx(A *args)
{
	return reinterpret_cast<const LocalContext *>(args[SLOT_LOCAL_CONTEXT])->block_idx;
}
template <class A> inline int32_t get_block_num(A *args)
{
	return reinterpret_cast<const LocalContext *>(args[SLOT_LOCAL_CONTEXT])->block_num;
}
template <class A> inline int32_t get_sub_block_id(A *args)
{
	return reinterpret_cast<const GlobalContext *>(args[SLOT_GLOBAL_CONTEXT])->sub_block_id;
}
template <class A> inline AsyncContext get_async_ctx(A *args)
{
	return reinterpret_cast<const LocalContext *>(args[SLOT_LOCAL_CONTEXT])->async_ctx;
}

enum dma_workspace_t { DMA_WORKSPACE_SDMA, DMA_WORKSPACE_URMA };
template <class A> inline uint8_t *get_dma_workspace(A *args, int which)
{
	const GlobalContext *g = reinterpret_cast<const GlobalContext *>(args[SLOT_GLOBAL_CONTEXT]);

	return reinterpret_cast<uint8_t *>(g->dma_workspace[which]);
}
