/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.h: compares the model with published measurements: our own kernels of the published
 * shapes (recorder/validate) and single ops, each row with the measured value, the estimate and its
 * signed error. FIT rows may have been used to set constants, CHECK rows were not, OP rows test the
 * prices.
 * Owner: validate_deinit(). May fail: as record_kernel() does. Figures are thousandths.
 */
#pragma once

#include "model/engine/engine.h"
#include "model/record/record.h"

enum validate_role { ROW_FIT, ROW_CHECK, ROW_OP, ROW_ROLES };
const char *validate_role_name(enum validate_role r); /* "FIT", ... */

struct validate_row {
	const char *id;	     /* "F1" */
	const char *name;    /* "vector add, 8 cores, 40 KiB tiles" */
	const char *what;    /* "total", "V busy", "TADD i32 64x64" */
	const char *unit;    /* "us", "%", "cyc" */
	const char *profile; /* in the arena */
	enum validate_role role;
	const char *remark;		 /* "seen", "blind", "tiny", "sets constants", or "" */
	int64_t published, published_to; /* equal unless a range was published */
	int64_t estimate;
	int64_t error_permille; /* signed, to the nearer end of a range; 0 inside it */
	unsigned gate_permille; /* 0: none */
	bool is_met;		/* is the gate met? */
};

struct validate_options {
	const char *profile; /* NULL: each row's own; else used for all rows of its architecture */
	const char *recorder_dir, *cache_dir, *compiler; /* as in record_options */
	bool ops_only;					 /* no kernels: needs no compiler */
	bool is_unsafe;					 /* as in record_options */
	void (*progress)(void *ctx, const char *id);
	void *progress_ctx;
};

struct validate_result {
	struct arena arena;
	VEC(struct validate_row) rows; /* in the order of the tables: FIT, CHECK, OP */
	unsigned n_gates, n_missed;
	uint64_t n_kernels, n_ops; /* number timed; engine_us: time the engine took */
	uint64_t engine_us;
	uint64_t n_findings; /* in the kernels: must be 0 */
};

bool validate_run(
	const struct validate_options *o, struct validate_result *out, struct incore_error *e);
void validate_deinit(struct validate_result *r);
