/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.h: constants from a user's own measurements. A task is an op stream and what was
 * measured of its pipes; the stream gives counts, bytes, rows; least squares per pipe, never
 * negative, over the constants asked for, the others as the base profile has them. Which tasks are
 * held out is decided by a hash of their id before anything is fitted.
 * Owner: the caller of each init; results borrow nothing. May fail: status 3 on input that does not
 * determine what is asked for.
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

/* A counters file with one row a task. All rows zero: a simulator's, refused. */
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
	/* What the tasks took as a share of the fitted estimates, or NULL; by enum kernel_kind. */
	const struct prof_residual *residuals;
};

struct calib_value {
	enum prof_key key;
	enum op_pipe pipe;
	int64_t old_e4, new_e4;
	uint32_t n_fit, n_held; /* tasks */
	/* mean of |fit - measured| / measured over the tasks, of the pipe as a whole */
	unsigned residual_permille, held_permille;
	unsigned old_permille; /* of the base profile, on the held-out tasks (all if none) */
};

struct calib_result {
	struct calib_value v[CALIB_KEYS];
	unsigned n;
};

/* "gm_rd_lat,gm_ub_bw": constants that can be fitted, else an error that lists them. */
bool calib_parse_keys(struct calib_options *o, const char *list, struct incore_error *e);
bool calib_run(const struct calib_task *tasks, size_t n, const struct calib_options *o,
	struct calib_result *out, struct incore_error *e);
/* A profile on the base with the fitted values. */
bool calib_write(const struct calib_result *r, const struct calib_options *o, const char *name,
	FILE *f, struct incore_error *e);
