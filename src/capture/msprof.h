/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof.h: an application run under `msprof op simulator`, or on the device under `msprof op`,
 * with the same steps as a replay (replay/msprof/msprof_steps.h). The result is judged by the files
 * that msprof left; they are read and packed, one file per launch.
 * Owner: struct msprof_capture owns all results; msprof_capture_init() .. _deinit(). The request is
 * borrowed. May fail: see msprof_take(); the results so far stay.
 */
#pragma once

#include "answer/answer.h"
#include "capture/folder.h"
#include "replay/msprof/cann.h"

struct msprof_request {
	const char *dir;    /* results; must not exist, or be empty */
	const char *kernel; /* in msprof's syntax; NULL: any kernel */
	unsigned target;    /* enum opstream_arch */
	const char *home, *set_env, *soc;
	uint64_t launches, minutes;
	bool is_on_device, keeps_raw, is_dry;
	struct drive drive;
};

struct msprof_file {
	const char *file, *kernel, *evidence;
	uint64_t tracks;
};

struct msprof_answer {
	const char *cann, *soc, *application, *log, *verdict;
	struct capture_folder place;
	int64_t status;	 /* of msprof */
	bool is_partial; /* its time limit ended it: never use it for total time */
	VEC(struct msprof_file) captures;
	VEC(const char *) warnings;
};
extern const struct record msprof_record;

struct msprof_capture {
	const struct msprof_request *q;
	struct arena arena;
	struct cann cann;
	struct journal journal;
	struct msprof_answer answer;
	bool is_no; /* no usable result */
};

void msprof_capture_init(struct msprof_capture *x, const struct msprof_request *q);
void msprof_capture_deinit(struct msprof_capture *x);
/* Codes: "no-cann", "no-simulator", "bad-application", "directory-used", "collect-failed",
 * "no-trace", "interrupted". */
bool msprof_take(struct msprof_capture *x, struct incore_error *e);
