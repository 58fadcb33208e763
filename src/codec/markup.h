/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markup.h: escapes foreign text, so that none of it acts as markup. Pure; when out of memory the
 * text appended so far stays and b->failed is set.
 */
#pragma once

#include "base/str.h"

/* For HTML text or attributes; line breaks stay, other control characters become U+FFFD. */
void markup_text(struct strbuf *b, struct str text);
/* For XML text or attributes, in one line: characters that are not plain (str_is_plain()) are written
 * as codes. */
void markup_xml(struct strbuf *b, struct str text);
/* For a line of Markdown prose or a table cell. */
void markup_prose(struct strbuf *b, struct str text);
/* Like markup_prose(), but as a code span where Markdown allows it. */
void markup_code(struct strbuf *b, struct str text);
