/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h: writers of pages, one per medium. A failed write stays in the stream, as with fprintf().
 */
#pragma once

#include "page/page.h"

struct text_medium {
	FILE *out;
	unsigned width;	 /* columns; 0: not known, nothing is cut */
	bool use_color;	 /* of a terminal */
	bool is_endless; /* paragraphs are one line each: their reader breaks them */
};
void page_write_text(const struct page *p, const struct text_medium *m);
/* The tables alone, as RFC 4180 has it. False: out of memory. */
bool page_write_csv(const struct page *p, FILE *out);

/* Their parts. */
void table_write_text(const struct table *t, const struct text_medium *m);
bool table_write_csv(const struct table *t, FILE *out);
/*
 * A paragraph of at most `width` columns (0: of any): `head`, then words, further lines below the end
 * of head. A line ends it.
 */
void write_wrapped(const struct text_medium *m, const char *head, const char *text, unsigned width);
