/* SPDX-License-Identifier: Apache-2.0 */
/* utils.hpp: kernels of the a5 name it; what they use of it is in pto-inst.hpp. */
#pragma once

#include "pto/pto-inst.hpp"

namespace pto {

/* Where the scales of a tile lie that is in L0A or L0B: they have a buffer of their own, a sixteenth as large. */
template <class T> inline uint64_t GetScaleAddr(T *tile)
{
	return reinterpret_cast<uintptr_t>(tile) / 16;
}

}
