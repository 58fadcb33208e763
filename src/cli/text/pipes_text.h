/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_text.h: the tables about pipes, as text or CSV; no figure is made here. */
#pragma once

#include "answer/pipes_parts.h"
#include "cli/cli.h"

/* "9 pipes of 1 core, 345 instructions ..." and the bound. */
void pipes_print_head(struct cli *c, const struct pipes_part *p, const struct trace *t);
/* The pipe table; all columns as CSV. */
bool pipes_print_table(struct cli *c, const struct pipes_part *p);
/* Busy together: the work pipes of the core that the bound, else the first shown pipe, is in. */
bool pipes_print_overlap(struct cli *c, const struct pipes_part *p);
/* Who waited for whom. */
bool pipes_print_pairs(struct cli *c, const struct pipes_part *p);
/* The critical path: parts, pipes, instructions. */
bool pipes_print_path(struct cli *c, const struct pipes_part *p);
/* Core by core: span, busy, compute. */
bool pipes_print_cores(struct cli *c, struct rows cores, uint64_t top);
