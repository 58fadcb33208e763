/* SPDX-License-Identifier: Apache-2.0 */
/* code.h: the code of a result while it is read; shared by code.c and figures.c alone. */
#pragma once

#include "import/ncu/ncu.h"
#include "import/sass_code.h"

struct code_build {
	struct ncu_build *b;
	struct sass_code s;
};

/* Executions, samples and other figures, once the rows are in the trace. */
bool ncu_read_figures(struct code_build *c, struct incore_error *e);
