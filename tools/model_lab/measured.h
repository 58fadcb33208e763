/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measured.h: measurements of kernels whose op streams are available: counters of a run, or a
 * simulator's trace, as tasks for calibrate.h.
 * Owner: measured_deinit() frees, zero is empty; tasks point into its streams. May fail: status 3 on
 * input that cannot be used (all counters zero, a trace cut short, no stream that belongs to it).
 */
#pragma once

#include "model_lab/calibrate.h"
#include "verbs/model/build.h"

struct measured_file { /* op streams of one file */
	char *name;    /* without suffix: "task-7", "func-3" */
	struct opstream_set set;
};

struct measured {
	VEC(struct measured_file *) files; /* each on the heap: tasks point into them */
	VEC(struct calib_task) tasks;
	uint64_t n_skipped; /* rows without an op stream */
};

struct calibrate_params {
	struct build_params build; /* of a step; its profile is the base */
	const char *ops, *pmu, *trace, *instr_csv, *fit, *hold_out, *file;
	bool fit_half;
};

void measured_deinit(struct measured *m);
/* From --ops and --pmu, --trace or --instr-csv of the request; fills o->status and o->source. */
bool measured_load(const struct request *r, struct answer *a, struct measured *m,
	struct calib_options *o, struct incore_error *e);
/* Pipe of a lane name: "CUBE", "VECTOR", ...; OPP_NONE: not a pipe of the model. */
enum op_pipe measured_pipe(const char *lane);
