/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drive.h: what every driver receives besides its options, and a job made of it. Owner: everything
 * is borrowed. May fail: nothing here.
 */
#pragma once

#include "base/pool.h"
#include "base/progress.h"
#include "run/job.h"

struct drive {
	const char *const *app; /* NULL ends */
	int echo_fd;		/* also receives what the programs print; 0: unused */
	struct pool *pool;
	struct progress *progress;
	bool (*is_cancelled)(void *ctx);
	int (*cancel_signal)(void *ctx);
};

/* Copies the text of a buffer into the arena and frees the buffer in any case; NULL also if the
 * buffer had failed. */
const char *drive_text(struct arena *a, struct strbuf *b);
/* A job that runs the application, without a log; limit_s 0: no limit. The application gets time to
 * end by itself. */
struct job drive_job(
	const struct drive *f, const char *name, uint64_t limit_s, struct journal *journal);
