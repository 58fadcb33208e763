/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h: a printf whose format is ours and whose strings may come from anywhere: what %s prints is
 * made plain (sb_plain()), so that no name can move the cursor, begin a line or pass for a style.
 * Styles, recognized by their address, are passed through.
 * It knows d i u x X o c s f g e and %, with widths and precisions; c takes no width.
 * Failures stay in the sink, as with fprintf() and with a strbuf.
 */
#pragma once

#include <stdio.h>

#include "base/str.h"

/* --- colours ---------------------------------------------------------------------------------- */

/*
 * Styles of parts of a text. Inside a page a style is a mark: one byte that no text from a file can
 * contain, because say() makes such text plain. A writer turns marks into what its medium offers.
 */

enum cell_style { CELL_PLAIN, CELL_DIM, CELL_HOT, CELL_WARM, CELL_GOOD, CELL_BAD };
#define STYLE_MARK_BASE 1 /* the mark of a style is this plus the style */
#define STYLE_MARK_END 7

const char *style_mark(enum cell_style style); /* begins the style; "" for CELL_PLAIN */
extern const char style_mark_end[];
/* Terminal escape codes for the styles. */
const char *style_code(enum cell_style style);
extern const char style_code_end[];
/* Appends text without its marks. */
void sb_unstyled(struct strbuf *out, const char *text);

/* --- text ------------------------------------------------------------------------------------- */

void say(FILE *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Append to memory instead of a stream. */
void sb_vsay(struct strbuf *out, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
