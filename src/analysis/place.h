/* SPDX-License-Identifier: Apache-2.0 */
/* place.h: where a row of code stands, in words. Failures are latched in the text. */
#pragma once

#include "trace/trace.h"

/* Appends "row 2 (0x1004, a.py:4)". */
bool place_put(const struct trace *t, code_idx code, struct strbuf *out);
/* Appends "<before>a.py:4" of a row if it has a source line; for samples of a function in another
 * file also the place in the kernel that calls it. */
void place_put_line(
	const struct trace *t, const struct code_row *r, const char *before, struct strbuf *out);
