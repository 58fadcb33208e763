/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.h: what a run of a kernel left: how long it took, what limits it, and whether it did the
 * work that its shape says. A run is degenerate if it did less: nothing at all, or no op of a unit
 * whose ops its source has. A kernel whose source computes nothing is not degenerate by that.
 * Owner: texts live in the caller's arena. May fail: a trace that cannot be read; memory.
 */
#pragma once

#include "args/args.h"
#include "replay/backend.h"
#include "trace/trace.h"

struct look_wants {		   /* what the kernel is expected to do */
	unsigned computes;	   /* COMPUTES_* of classify.h */
	bool has_cube, has_vector; /* cores that it runs on */
	const struct args *args;
	uint64_t steers;  /* bit i: scalar code reads slot i, as far as the backend sees it */
	const char *cure; /* values that differ from those of its full shape, and what sets them */
	const char *option; /* sets a value: "--set" */
};

struct look {
	uint64_t cycles;	/* of its longest core; 0: not known */
	const char *bound;	/* what limits it: "X-bound PIPE"; "" */
	const char *degenerate; /* why, and what cures it; NULL: it is not */
	uint32_t n_core_traces, n_csv;
};

/* Looks at a trace, or at the simulator directory of a run. */
bool look_at_trace(struct arena *a, const struct trace *t, const struct look_wants *w,
	struct look *out, struct incore_error *e);
bool look_at_run(struct arena *a, const char *simulator, const struct look_wants *w,
	struct look *out, struct incore_error *e);
