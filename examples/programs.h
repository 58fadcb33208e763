/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h: the small kernels that make_capture can run, and the sources they claim to come from.
 */
#ifndef EXAMPLES_PROGRAMS_H
#define EXAMPLES_PROGRAMS_H

#include "ui_write.h"

struct program_text {
	const char *kernel;
	const struct sim_row *rows;
	unsigned n;
	const struct ui_source *sources; /* or NULL */
};

extern const struct program_text program_add, program_gemm, program_inline, program_gfx11,
	program_gfx12, program_collapsed;
/* A prologue that leaves early, then a long body of matrix rows that no idle wave reaches. */
const struct program_text *program_early_exit(void);

#endif
