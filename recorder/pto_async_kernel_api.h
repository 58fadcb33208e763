/* SPDX-License-Identifier: Apache-2.0 */
/* pto_async_kernel_api.h: operations that outlive the kernel, or wait for others; recorded where
 * they are requested. */
#pragma once

#include "intrinsic.h"
#include "pto/comm/pto_comm_inst.hpp"

/* Conditions that the scheduler polls after the kernel: they take no time in it. */
struct CompletionToken {
	uint64_t addr;
	uint32_t expected_value, engine;
	int32_t completion_type;
	uint64_t backend_cookie;
};

constexpr int32_t MAX_COMPLETIONS_PER_TASK = 64;
constexpr uint32_t COMPLETION_ENGINE_SDMA = 0;
constexpr int32_t COMPLETION_TYPE_COUNTER = 0;
constexpr int32_t PTO2_ERROR_ASYNC_COMPLETION_INVALID = 101, PTO2_ERROR_ASYNC_WAIT_OVERFLOW = 102;

inline bool register_completion_condition(const AsyncContext &, const CompletionToken &)
{
	return true;
}

namespace pto2::detail
{
inline void defer_error(const AsyncContext &, int32_t)
{
}
inline void defer_flush(const AsyncContext &)
{
}
} // namespace pto2::detail

template <class C, class V>
inline void send_notification(
	const C &counter, V value, pto::comm::NotifyOp op, incore::site s = INCORE_HERE)
{
	incore::put(incore::OP_TNOTIFY, s, {counter, value, op, {}, {}, {}, {}, {}});
}

template <class P, class V>
inline void save_expected_notification_counter(
	const AsyncContext &, P *counter, V expected, incore::site s = INCORE_HERE)
{
	incore::put(incore::OP_TWAIT, s, {counter, expected, {}, {}, {}, {}, {}, {}});
}
