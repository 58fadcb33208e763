/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.h: fits constants to a user's own measurements. A task is an op stream with the
 * measured busy times of its pipes; the stream yields counts, bytes, rows. Non-negative least
 * squares per pipe over the requested constants; the others keep the values of the base profile. A
 * hash of the task id decides, before anything is fitted, which tasks are held out.
 * Owner: the caller of each init; results borrow nothing. May fail: status 3 on input that does not
 * determine the requested constants.
 */
#pragma once

#include <stdio.h>

#include "model/engine/engine.h"

struct pmu_row { /* a task as the counters saw it */
	uint64_t task_id, func_id, core_id;
	enum opstream_core core;
	uint64_t total_cyc;
	uint64_t busy[ENGINE_PIPES]; /* by enum op_pipe */
	bool has[ENGINE_PIPES];
	uint32_t line; /* of the file */
};

struct pmu_rows {
	VEC(struct pmu_row) v;
};

/* Reads a counters file with one row per task. A file of zeros comes from a simulator and is
 * refused. */
bool pmu_read(struct pmu_rows *out, const char *path, struct incore_error *e);
void pmu_deinit(struct pmu_rows *r);

struct calib_task {
	uint64_t id; /* decides whether it is held out */
	const struct opstream *stream;
	uint64_t busy[ENGINE_PIPES];
	bool has[ENGINE_PIPES];
};

#define CALIB_KEYS 16

struct calib_options {
	const struct profile *base;
	enum prof_key keys[CALIB_KEYS];
	unsigned n_keys;
	unsigned hold_out_permille;
	enum prof_status status; /* of the fitted values: STATUS_DEVICE or STATUS_CAMODEL */
	const char *source;	 /* "pmu.csv" */
	/* Measured times of the tasks as a share of the fitted estimates, by enum kernel_kind; or
	 * NULL. */
	const struct prof_residual *residuals;
};

struct calib_value {
	enum prof_key key;
	enum op_pipe pipe;
	int64_t old_e4, new_e4;
	uint32_t n_fit, n_held; /* tasks */
	/* mean of |fit - measured| / measured over the tasks, of the pipe as a whole */
	unsigned residual_permille, held_permille;
	unsigned old_permille; /* of the base profile, on held-out tasks (or all tasks) */
};

struct calib_result {
	struct calib_value v[CALIB_KEYS];
	unsigned n;
};

/* Parses "gm_rd_lat,gm_ub_bw"; the error for any other name lists the constants that can be
 * fitted. */
bool calib_parse_keys(struct calib_options *o, const char *list, struct incore_error *e);
bool calib_run(const struct calib_task *tasks, size_t n, const struct calib_options *o,
	struct calib_result *out, struct incore_error *e);
/* Writes a profile with the fitted values that extends the base profile. */
bool calib_write(const struct calib_result *r, const struct calib_options *o, const char *name,
	FILE *f, struct incore_error *e);
