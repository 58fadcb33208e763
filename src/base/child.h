/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h: runs work that may crash or hang in a copy of this process. The child inherits all
 * memory, so nothing needs to be sent to it; its output comes back through a pipe. Libraries that
 * cannot be trusted with hostile bytes (disassemblers, debug info readers) are loaded only there.
 * Threads: any; the child has only the caller's thread. May fail: child_run(), for lack of
 * resources; a child that dies is a result, not a failure.
 */
#pragma once

#include "base/str.h"

enum child_end {
	CHILD_DONE,	/* its function returned true */
	CHILD_REFUSED,	/* it returned false */
	CHILD_CRASHED,	/* a signal or an unexpected exit */
	CHILD_TOO_LONG, /* killed: exceeded its time or output limit */
};

struct child_job {
	/* Runs in the child with standard streams closed; writes its output to fd (write_all). */
	bool (*work)(void *ctx, int fd);
	void *ctx;
	unsigned limit_s;     /* wall and CPU time */
	size_t max_out_bytes; /* limit of the output */
	bool is_apart;	      /* use walls_fork(), whose rules work() must then keep */
};

/* Appends the child's output to *out, up to the point where the child ended. */
bool child_run(
	const struct child_job *j, struct strbuf *out, enum child_end *end, struct incore_error *e);
