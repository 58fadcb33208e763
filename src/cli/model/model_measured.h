/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_measured.h: measurements of kernels whose op streams are available: counters of a run, or a
 * simulator's trace, as tasks for calibrate.h.
 * Owner: measured_init() .. measured_deinit(); tasks point into its streams. May fail: status 3 on
 * input that cannot be used (all counters zero, a trace cut short, no stream that belongs to it).
 */
#pragma once

#include "cli/cli.h"
#include "model/lab/calibrate.h"

struct measured_file { /* op streams of one file */
	char *name;    /* without suffix: "task-7", "func-3" */
	struct opstream_set set;
};

struct measured {
	VEC(struct measured_file *) files; /* each on the heap: tasks point into them */
	VEC(struct calib_task) tasks;
	uint64_t n_skipped; /* rows without an op stream */
};

void measured_init(struct measured *m);
void measured_deinit(struct measured *m);
/* From --ops and --pmu, --trace or --instr-csv; fills o->status and o->source. */
bool measured_load(struct cli *c, struct measured *m, struct calib_options *o);
/* Pipe of a lane name: "CUBE", "VECTOR", ...; OPP_NONE: not a pipe of the model. */
enum op_pipe measured_pipe(const char *lane);
