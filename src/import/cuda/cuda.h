/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h: the trace of one kernel while it is made from a log; private to this folder. */
#pragma once

#include "import/cuda/log.h"
#include "import/sass_code.h"

struct cuda_build {
	struct trace *t;
	struct cuda_log *log;
	const struct cuda_kernel *kernel;
	struct arena scratch;
	struct sass_code code;
	VEC(uint64_t) names; /* text ids of code.functions, in the same order */
	struct cuda_reason_list reasons;
	uint64_t n_unmapped; /* samples at addresses without a row */
};

/* The row of an offset in a function of the kernel's code, or NO_CODE. */
code_idx cuda_row_at(const struct cuda_build *b, uint64_t crc, uint64_t function, uint64_t offset);

/* --- run.c --- */
/* Adds device, launches, period, evidence. */
bool cuda_put_run(struct cuda_build *b, struct incore_error *e);
/* Adds the executions of rows, if the log has them. */
bool cuda_put_counts(struct cuda_build *b, struct incore_error *e);
/* Adds notes on losses and failures. */
bool cuda_put_notes(struct cuda_build *b, struct incore_error *e);
