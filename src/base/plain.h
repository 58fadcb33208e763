/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h: makes untrusted text safe for a terminal and for one line. Kernel names, instructions
 * and paths come from files that anyone may have made: a control character in them would move the
 * cursor, set the title or forge a line of ours, and a bidi control would disguise a name. Such
 * characters are shown as codes (\n, \x1b, \u202e), and so are bytes that are not UTF-8. A tab is
 * plain. Pure functions.
 */
#pragma once

#include "base/str.h"

bool str_is_plain(struct str s);
/* Appends s, with codes for what is not plain in it. */
bool sb_plain(struct strbuf *b, struct str s);
