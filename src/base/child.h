/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h: work that may crash or hang, done in a copy of this process. The child inherits all
 * memory, so that nothing is sent to it; what it says comes back through a pipe. Libraries that
 * cannot be trusted with hostile bytes (disassemblers, debug info readers) are loaded there alone.
 * Threads: any; the child has only the caller's thread. May fail: child_run(), on resources; a
 * child that dies is an answer, not a failure.
 */
#pragma once

#include "base/str.h"

enum child_end {
	CHILD_DONE,	/* its function returned true */
	CHILD_REFUSED,	/* it returned false */
	CHILD_CRASHED,	/* a signal, or an exit it was not asked for */
	CHILD_TOO_LONG, /* killed: over its time or its output */
};

struct child_job {
	/* Runs in the child, its standard streams closed; writes its answer to fd (write_all). */
	bool (*work)(void *ctx, int fd);
	void *ctx;
	unsigned limit_s;     /* wall and CPU time */
	size_t max_out_bytes; /* of the answer */
	bool is_apart;	      /* by walls_fork(), whose rules work() then keeps */
};

/* Appends the child's answer to *out, up to where it ended. */
bool child_run(
	const struct child_job *j, struct strbuf *out, enum child_end *end, struct incore_error *e);
