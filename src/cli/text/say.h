/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h: the one way of text to a terminal. Formats are ours; what stands for %s comes from anywhere
 * and is made plain (base/plain.h): no name can move the cursor or begin a line. The codes of
 * style_on() and style_off() pass as they are, told by their address.
 * Failures stay in the stream, as with printf.
 */
#ifndef CLI_TEXT_SAY_H
#define CLI_TEXT_SAY_H

#include <stdio.h>

#include "base/error.h"

/* fprintf() with plain strings; knows d i u x X o c s f g e and %, widths and precisions; c without a width. */
void say(FILE *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
void say_text(FILE *out, const char *text); /* one plain text, as it is otherwise */

#endif
