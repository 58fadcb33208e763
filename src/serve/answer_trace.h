/* SPDX-License-Identifier: Apache-2.0 */
/* answer_trace.h: members of the answer `trace`, into an open object. From track `from` on; lists
 * other than tracks stand on the first page alone. False on lack of memory. */
#ifndef SERVE_ANSWER_TRACE_H
#define SERVE_ANSWER_TRACE_H

#include "analysis/causes.h"
#include "serve/view.h"

bool answer_trace(const struct view *v, uint32_t from, struct json_writer *w);

#endif
