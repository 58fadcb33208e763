/* SPDX-License-Identifier: Apache-2.0 */
/* clean_write.h: writes the files of clean: the trace, the metrics, the summary. */
#pragma once

#include <stdio.h>

#include "export/clean/clean.h"

struct clean_about { /* facts on the input for the summary; strings may be NULL */
	const char *kernel, *input, *evidence, *clock;
	const char *source, *workload; /* of the kernel */
	uint64_t input_bytes;
};

bool clean_write_trace(
	struct clean *c, const struct clean_about *a, FILE *f, struct incore_error *e);
bool clean_write_summary(
	const struct clean *c, const struct clean_about *a, FILE *f, struct incore_error *e);

/* The table of the pipes, tab-separated, with a line of names. */
bool clean_write_pipes(const struct clean *c, FILE *f, struct incore_error *e);

struct clean_metrics {
	uint32_t n_cores;
	uint64_t n_rows, n_short_lists;
};
/* Writes the table of instructions of one API_INSTR block, core by core. */
bool clean_write_metrics(struct str api, const char *path, uint64_t offset, FILE *f,
	struct clean_metrics *out, struct incore_error *e);
