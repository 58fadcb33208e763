/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_page.h: the tables about pipes; no figure is computed here. */
#pragma once

#include "answer/pipes_parts.h"
#include "page/page.h"

/* "9 pipes of 1 core, 345 instructions ..." and the bound. */
void put_pipe_head(struct page *p, const struct pipes_part *x, const struct trace *t);
/* The pipe table; all columns as CSV. */
void put_pipe_table(struct page *p, const struct pipes_part *x);
/* Which work pipes were busy at the same time, on the core of the bound or else of the first pipe
 * shown. */
void put_pipe_overlap(struct page *p, const struct pipes_part *x);
/* Who waited for whom. */
void put_pipe_pairs(struct page *p, const struct pipes_part *x);
/* The critical path: parts, pipes, instructions. */
void put_pipe_path(struct page *p, const struct pipes_part *x);
/* Core by core: span, busy, compute. */
void put_pipe_cores(struct page *p, struct rows cores, uint64_t top);
