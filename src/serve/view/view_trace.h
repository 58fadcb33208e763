/* SPDX-License-Identifier: Apache-2.0 */
/* view_trace.h: writes members of the answer `trace` into an open object. From track `from` on;
 * lists other than tracks are only on the first page. False on lack of memory. */
#pragma once

#include "analysis/waves/causes.h"
#include "serve/view/view.h"

bool view_trace(const struct view *v, uint32_t from, struct json_writer *w);
