/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drive.h: what every driver is given besides its options, and a job of it.
 * Owner: all is borrowed. May fail: nothing here.
 */
#pragma once

#include "base/pool.h"
#include "base/progress.h"
#include "run/job.h"

struct drive {
	const char *const *app; /* NULL ends */
	int echo_fd;		/* what the programs print goes there too; 0: nowhere */
	struct pool *pool;
	struct progress *progress;
	bool (*is_cancelled)(void *ctx);
	int (*cancel_signal)(void *ctx);
};

/* The text of a buffer, which is freed whatever happens; NULL also where the buffer had failed. */
const char *drive_text(struct arena *a, struct strbuf *b);
/* The application, without a log; limit_s 0: none. It has time to end in its own way. */
struct job drive_job(
	const struct drive *f, const char *name, uint64_t limit_s, struct journal *journal);
