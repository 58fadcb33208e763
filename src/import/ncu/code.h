/* SPDX-License-Identifier: Apache-2.0 */
/* code.h: the code of a result while it is read; private to code.c and figures.c. */
#pragma once

#include "import/ncu/ncu.h"
#include "import/sass_code.h"

struct code_build {
	struct ncu_build *b;
	struct sass_code s;
};

/* Reads executions, samples and other figures; the rows must be in the trace. */
bool ncu_read_figures(struct code_build *c, struct incore_error *e);
