/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h: checks what a tool wrote as incore-check(1) does, and packs it into a capture.
 * Owner: texts of the result are in the caller's arena. May fail: on the input, files and memory.
 */
#pragma once

#include "answer/answer.h"
#include "capture/drive.h"

struct pack_request {
	const char *path;   /* "report.ncu-rep#3" */
	const char *dir;    /* for the packed file */
	const char *kernel; /* for the file name; NULL: the trace's kernel */
	const struct drive *drive;
};

struct pack_result {
	const char *file, *kernel;
	const char *verdict, *health; /* from check */
	uint64_t samples, dropped, period_cyc;
	bool has_counts; /* executions of rows */
};

/* Runs check on the capture at a path and passes its answer to `take`. */
bool pack_check(const char *path, const struct drive *f,
	bool (*take)(void *ctx, const struct answer *got, struct incore_error *e), void *ctx,
	struct incore_error *e);
bool pack_capture(const struct pack_request *q, struct arena *a, struct pack_result *out,
	struct incore_error *e);
