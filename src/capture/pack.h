/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h: a capture of what a tool wrote, checked as incore-check(1) does, and packed.
 * Owner: texts of the result are in the caller's arena. May fail: on the input, files and memory.
 */
#pragma once

#include "answer/answer.h"
#include "capture/drive.h"

struct pack_request {
	const char *path;   /* "report.ncu-rep#3" */
	const char *dir;    /* for the packed file */
	const char *kernel; /* for its name; NULL: that of the trace */
	const struct drive *drive;
};

struct pack_result {
	const char *file, *kernel;
	const char *verdict, *health; /* of check */
	uint64_t samples, dropped, period_cyc;
	bool has_counts; /* executions of rows */
};

/* Asks check about the capture of a path, and hands its answer on. */
bool pack_check(const char *path, const struct drive *f,
	bool (*take)(void *ctx, const struct answer *got, struct incore_error *e), void *ctx,
	struct incore_error *e);
bool pack_capture(const struct pack_request *q, struct arena *a, struct pack_result *out,
	struct incore_error *e);
