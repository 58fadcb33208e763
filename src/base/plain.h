/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h: text of others, made fit for a terminal and for one line. Kernel names, instructions and
 * paths come from files that anyone may have made: in them a control character would move the
 * cursor, set the title or forge a line of ours, and a bidi control would show a name that is
 * another. Such characters are shown by their codes (\n, \x1b, \u202e), as are bytes that are no
 * UTF-8. A tab is plain. Pure.
 */
#pragma once

#include "base/str.h"

bool str_is_plain(struct str s);
/* Appends s; what is not plain in it as its code. */
bool sb_plain(struct strbuf *b, struct str s);
