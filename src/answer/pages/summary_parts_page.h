/* SPDX-License-Identifier: Apache-2.0 */
/* summary_parts_page.h: what the two summary pages share. */
#pragma once

#include "answer/summary.h"
#include "page/page.h"

#define SUMMARY_WIDTH 100u /* of its paragraphs, at most */
#define PAGE_TEXT_MAX 36u  /* columns of an instruction's text in a table */

double percent_of(uint64_t part, uint64_t whole);
/* finding_row: errors and warnings with what to do about them, one paragraph each. */
void put_finding_items(struct page *p, struct rows findings);
void put_advice_items(struct page *p, struct rows advice); /* advice_row */
/* The page of a trace whose tracks are pipes. */
void summary_pipes_page(const struct summary_pipes *s, const struct trace *t, struct page *p);
