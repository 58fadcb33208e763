/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof.h: an application below `msprof op simulator`, or on the device below `msprof op`, with the
 * steps that a replay takes too (replay/msprof/msprof_steps.h). What msprof left is judged by its
 * files, read, and packed, a file a launch.
 * Owner: struct msprof_capture owns all results; msprof_capture_init() .. _deinit(). The request is
 * borrowed. May fail: as said at msprof_take(); the results so far stay.
 */
#pragma once

#include "answer/answer.h"
#include "capture/folder.h"
#include "replay/msprof/cann.h"

struct msprof_request {
	const char *dir;    /* results; must not be there, or be empty */
	const char *kernel; /* as msprof takes it; NULL: whatever is launched */
	unsigned target;    /* enum replay_target */
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
	struct folder place;
	int64_t status;	 /* of msprof */
	bool is_partial; /* its time was up: never to be used for total time */
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
	bool is_no; /* nothing that can be used came of it */
};

void msprof_capture_init(struct msprof_capture *x, const struct msprof_request *q);
void msprof_capture_deinit(struct msprof_capture *x);
/* Codes: "no-cann", "no-simulator", "bad-application", "directory-used", "collect-failed",
 * "no-trace", "interrupted". */
bool msprof_take(struct msprof_capture *x, struct incore_error *e);
