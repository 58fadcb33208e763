/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_text.h: the tables about pipes, as text or CSV; no figure is made here. */
#ifndef CLI_TEXT_PIPES_TEXT_H
#define CLI_TEXT_PIPES_TEXT_H

#include "analysis/pipes/pipes.h"
#include "cli/cli.h"

struct pipes_text {
	struct cli *c;
	const struct pipes *p;
	track_idx *list; /* pipes in the order to show */
	uint32_t n_list, n_shown;
	uint64_t top; /* rows of the other tables */
};

/* "9 pipes of 1 core, 345 instructions ..." and the bound. */
void pipes_print_head(const struct pipes_text *x);
/* The pipe table; all columns as CSV. */
bool pipes_print_table(const struct pipes_text *x);
/* Busy together: the work pipes of one core. */
bool pipes_print_overlap(const struct pipes_text *x, const struct pipe_core *core);
/* Who waited for whom. */
bool pipes_print_pairs(const struct pipes_text *x);
/* Awaited instruction -> wait. */
bool pipes_print_edges(const struct pipes_text *x);
/* The critical path: parts, pipes, instructions. */
bool pipes_print_path(const struct pipes_text *x);
/* Core by core: span, busy, compute. */
bool pipes_print_cores(const struct pipes_text *x);
/* The core that the bound, else the first shown pipe, is in; NULL: none. */
const struct pipe_core *pipes_main_core(const struct pipes_text *x);

#endif
