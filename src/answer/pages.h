/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h: answers laid out as pages for people. No figure is computed here. A page requested as
 * CSV is one table of the answer with all its columns.
 */
#pragma once

#include "answer/answer.h"
#include "page/page.h"

void advise_page(const struct answer *a, struct page *p);
void check_page(const struct answer *a, struct page *p);
void diff_page(const struct answer *a, struct page *p);
void hot_page(const struct answer *a, struct page *p);
void info_page(const struct answer *a, struct page *p);
void isa_page(const struct answer *a, struct page *p);
void occupancy_page(const struct answer *a, struct page *p);
void summary_page(const struct answer *a, struct page *p);
struct verdict_screen;
/* The lines of the first screen, which other pages begin with too. */
void verdict_put_screen(struct page *p, const struct verdict_screen *s);
void verdict_page(const struct answer *a, struct page *p);
void waves_page(const struct answer *a, struct page *p);
void whatif_page(const struct answer *a, struct page *p);
void why_page(const struct answer *a, struct page *p);
