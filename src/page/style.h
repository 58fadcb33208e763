/* SPDX-License-Identifier: Apache-2.0 */
/*
 * style.h: styles of parts of a text. Inside a page a style is a mark: one byte that no text from a
 * file can contain, because say() makes such text plain. A writer turns marks into what its medium
 * offers.
 */
#pragma once

#include "base/str.h"

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
/* Is this one of the strings above? Compares addresses. */
bool style_is(const char *text);
