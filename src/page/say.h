/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h: a printf whose format is ours and whose strings may come from anywhere: what %s prints is
 * made plain (base/plain.h), so that no name can move the cursor, begin a line or pass for a style.
 * The strings of style.h, recognized by their address, are passed through.
 * It knows d i u x X o c s f g e and %, with widths and precisions; c takes no width.
 * Failures stay in the sink, as with fprintf() and with a strbuf.
 */
#pragma once

#include <stdio.h>

#include "base/str.h"

void say(FILE *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Append to memory instead of a stream. */
void sb_vsay(struct strbuf *out, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
