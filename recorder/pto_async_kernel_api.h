/* SPDX-License-Identifier: Apache-2.0 */
/* pto_async_kernel_api.h: what outlives the kernel, or waits for others; recorded where it is asked
 * for. */
#pragma once

#include "intrinsic.h"
#include "pto/comm/pto_comm_inst.hpp"

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
