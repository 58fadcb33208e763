/* SPDX-License-Identifier: Apache-2.0 */
/* cce_aicore_intrinsics.h: the device's words as the recorder's headers know them; a host pass has none. */
#pragma once
#define __aicore__
#if defined(__DAV_CUBE__) || defined(__DAV_VEC__)
#define __gm__
#include <pto/pto-inst.hpp>
#else
#define __gm__
#define __global__
#endif
