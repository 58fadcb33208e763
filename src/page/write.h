/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h: writers of pages, one per medium. A failed write stays in the stream, as with fprintf().
 */
#pragma once

#include "page/group.h"

struct text_medium {
	FILE *out;
	unsigned width; /* columns; 0: not known, nothing is cut */
	bool use_color; /* with terminal escape codes */
};
void page_write_text(const struct page *p, const struct text_medium *m);
/* Only the tables, as in RFC 4180. False: out of memory. */
bool page_write_csv(const struct page *p, FILE *out);

/* Blocks as text that is never cut. Failures stay in out. */
void blocks_as_text(const struct page_block *v, size_t n, struct strbuf *out);

/*
 * Documents, group by group; each group appended is complete in itself. Failures stay in b.
 * max_lines: limit for a table or listing in Markdown; 0: no limit.
 */
void group_write_markdown(const struct block_group *g, unsigned max_lines, struct strbuf *b);
void markdown_heading(struct strbuf *b, struct str title);
void markdown_fenced(struct strbuf *b, struct str text); /* a fence longer than any inside */
void markdown_short(struct strbuf *b, struct str text);	 /* prose, cut if it is very long */
void group_write_html(const struct block_group *g, struct strbuf *b);
void html_text(struct strbuf *b, struct str text); /* preformatted and escaped */

/* Parts of the writers. */
void table_write_text(const struct table *t, const struct text_medium *m);
bool table_write_csv(const struct table *t, FILE *out);
