/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markup.h: text of others inside markup: nothing of it becomes markup. Pure; what was appended so
 * far stays where memory lacks, and b->failed says so.
 */
#pragma once

#include "base/str.h"

/* As text or an attribute of HTML; lines stay lines, other controls become U+FFFD. */
void markup_text(struct strbuf *b, struct str text);
/* As text or an attribute of XML, in one line: what is not plain (base/plain.h) as its code. */
void markup_xml(struct strbuf *b, struct str text);
/* As a line of Markdown prose, or a cell of a table. */
void markup_prose(struct strbuf *b, struct str text);
/* The same as code, where Markdown can hold it as such. */
void markup_code(struct strbuf *b, struct str text);
