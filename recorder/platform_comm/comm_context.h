/* SPDX-License-Identifier: Apache-2.0 */
/* comm_context.h: addresses of the memory windows of the other ranks. */
#pragma once

#include <cstddef>
#include <cstdint>

struct CommContext {
	uint64_t workSpace;
	uint64_t workSpaceSize;
	uint32_t rankId;
	uint32_t rankNum;
	uint64_t winSize;
	uint64_t windowsIn[64];
	uint64_t windowsOut[64];
};
static_assert(
	sizeof(CommContext) == 1056 && offsetof(CommContext, windowsOut) == 544, "comm context");
