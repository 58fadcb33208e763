/* SPDX-License-Identifier: Apache-2.0 */
/* summary_page.h: paragraphs and tables of the summary pages. */
#pragma once

#include "answer/summary.h"
#include "cli/cli.h"
#include "cli/text/table.h"

#define PAGE_TEXT_MAX 36u /* columns of an instruction's text in a table */

struct page {
	struct cli *c;
	const struct summary_answer *s; /* NULL of a trace of pipes */
	const struct trace *trace;
	FILE *out;
	bool is_failed; /* latched: a text could not be made */
};

double page_percent(uint64_t part, uint64_t whole);
/* What was put into b; latches its failure. */
const char *page_text(struct page *p, const struct strbuf *b);
/* Words of text, wrapped; the first line starts with `head`, further ones with blanks. */
void page_wrap(struct page *p, const char *head, const char *text);
void page_line(struct page *p, const char *head, const char *fmt, ...) PRINTF_LIKE(3, 4);
void page_title(struct page *p, const char *text);
/* finding_row: errors and warnings with what to do, a paragraph each. */
void page_findings(struct page *p, struct rows findings);
void page_advice(struct page *p, struct rows advice); /* advice_row */
