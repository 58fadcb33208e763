/* SPDX-License-Identifier: Apache-2.0 */
/* comm_types.hpp: signals between ranks. They are recorded and count as met at once. */
#pragma once

#include "incore/tile.hpp"

namespace pto::comm
{
enum class WaitCmp : uint8_t { EQ, NE, GT, GE, LT, LE };
enum class NotifyOp : uint8_t { AtomicAdd, Set };

struct Signal : incore::gm_base {
	template <class T> Signal(T *p)
	{
		ptr = const_cast<std::remove_cv_t<T> *>(p);
		dtype = incore::dtype_of<int32_t>();
		bits = 32;
		layout = 0;
		for (int i = 0; i < 5; i++)
			shape[i] = stride[i] = 1;
	}
};
} // namespace pto::comm
