/* SPDX-License-Identifier: Apache-2.0 */
/* pipe_sync.h: waits for the last stores at the end of a kernel. */
#pragma once

#include "incore/intrinsics.hpp"

inline void pipe_sync(INCORE_SITE)
{
#if defined(__DAV_CUBE__)
	set_flag(PIPE_FIX, PIPE_S, EVENT_ID7, s);
	wait_flag(PIPE_FIX, PIPE_S, EVENT_ID7, s);
#else
	set_flag(PIPE_MTE3, PIPE_S, EVENT_ID7, s);
	wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID7, s);
#endif
}
