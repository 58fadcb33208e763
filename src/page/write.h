/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h: writers of pages, one per medium. A failed write stays in the stream, as with fprintf().
 */
#pragma once

#include "page/group.h"

struct text_medium {
	FILE *out;
	unsigned width; /* columns; 0: not known, nothing is cut */
	bool use_color; /* of a terminal */
};
void page_write_text(const struct page *p, const struct text_medium *m);
/* The tables alone, as RFC 4180 has it. False: out of memory. */
bool page_write_csv(const struct page *p, FILE *out);

/* Blocks as text that is cut nowhere. Failures stay in out. */
void blocks_as_text(const struct block *v, size_t n, struct strbuf *out);

/*
 * Documents, group by group; what is appended stands by itself. Failures stay in b.
 * max_lines: of a table or listing in Markdown; 0: all of them.
 */
void group_write_markdown(const struct block_group *g, unsigned max_lines, struct strbuf *b);
void markdown_heading(struct strbuf *b, struct str title);
void markdown_fenced(struct strbuf *b, struct str text); /* a fence longer than any inside */
void markdown_short(struct strbuf *b, struct str text);	 /* prose, cut where it is endless */
void group_write_html(const struct block_group *g, struct strbuf *b);
void html_text(struct strbuf *b, struct str text); /* as it stands */

/* Their parts. */
void table_write_text(const struct table *t, const struct text_medium *m);
bool table_write_csv(const struct table *t, FILE *out);
/*
 * A paragraph of at most `width` columns (0: of any): `head`, then words, further lines below the end
 * of head. A line ends it.
 */
void write_wrapped(const struct text_medium *m, const char *head, const char *text, unsigned width);
