/* SPDX-License-Identifier: Apache-2.0 */
/*
 * att.h: a thread trace of one kernel, taken with rocprofv3 and judged at once. The tool leaves raw
 * streams; they are decoded, checked, and packed here. If a capture cannot be trusted, the next
 * attempt uses other settings, as the finding suggests, until one can be or the attempts are used
 * up.
 * Owner: struct att owns all results; att_init() .. att_deinit(). The request is borrowed.
 * Threads: one at a time. May fail: see att_take(); the results so far stay.
 */
#pragma once

#include "analysis/selection.h"
#include "answer/answer.h"
#include "base/arena.h"
#include "base/vec.h"
#include "capture/folder.h"
#include "capture/rocprof.h"

/* Launches of the application, as a discovery run lists them. A launch has an ordinal, counted
 * from 1 per kernel id, as in kernel_iteration_range. */
struct seen_kernel { /* of one process and id */
	const char *name;
	uint64_t id, process, launches, first_dispatch;
	uint64_t total_ns, longest_ns;
	double total_us, mean_us, longest_us, share; /* share: percent of the time of all */
	bool is_chosen;				     /* set by the caller */
	uint32_t index;				     /* private */
};

struct seen_launch {
	uint64_t process, dispatch, ns;
	uint32_t kernel;  /* index */
	uint32_t ordinal; /* of its kernel id, 1-based */
};

struct launches {
	struct arena arena;
	VEC(struct seen_kernel) kernels; /* longest total time first */
	VEC(struct seen_launch) v;	 /* by process, then dispatch */
	uint64_t n_processes;
};

struct att_request {		      /* options first: their table is the command line's */
	uint64_t attach_pid;	      /* instead of an app; NO_COUNT: none */
	const char *tool;	      /* rocprofv3; NULL: it is looked for */
	const char *dir;	      /* results; must not exist, or be empty */
	const char *kernel, *exclude; /* regular expressions over names; NULL: none */
	const char *launches; /* "6", "6,8", "5-8": ordinals per kernel id; NULL: we choose */
	uint64_t cu, se_mask, simd, buffer_mib; /* NO_COUNT: we choose */
	const char *gpus, *counters;		/* as the tool takes them; NULL: none */
	uint64_t activity;			/* NO_COUNT: none */
	uint64_t retries, limit_s;		/* limit_s 0: none */
	bool has_no_discovery, keeps_raw, is_list, is_dry;
	struct drive drive;
};

/* What one attempt asks for. */
struct att_window {
	const char *kernel; /* regular expression */
	struct number_set launches;
	uint64_t cu, se_mask;
	uint64_t simd; /* NO_COUNT: as the tool does */
	uint64_t buffer_bytes;
};

/* What one attempt showed, as far as the next depends on it. */
struct att_sight {
	bool is_empty;	   /* no dispatch, or one without a wave on the target CU */
	bool is_truncated; /* records were lost */
	bool is_early;	   /* no wave did any work */
	bool is_placed;	   /* if is_empty: waves were seen at se, cu */
	uint32_t se, cu;
	unsigned gfx_major;
};

struct att_capture {	  /* one dispatch */
	const char *file; /* packed; NULL: it could not be read */
	const char *kernel;
	int64_t agent, dispatch, launch; /* NO_VALUE: not known */
	uint64_t waves, stream_bytes;
	const char *verdict, *health; /* from check, or "unreadable" and why */
};

struct att_attempt {
	uint64_t number;     /* 0: the discovery run */
	const char *because; /* why it differs from the one before */
	const char *launches;
	uint64_t cu, se_mask, simd, buffer_bytes;
	struct rocprof_run run;
	VEC(struct att_capture) captures;
	uint32_t n_usable, n_truncated;
};

struct att_answer {
	const char *tool, *version, *repeat, *verdict;
	struct capture_folder place;
	struct rows kernels; /* seen_kernel */
	VEC(struct att_attempt) attempts;
	uint64_t chosen; /* number of the attempt whose files are the result, or 0 */
	VEC(const char *) warnings;
};
extern const struct record att_record, att_kernel_record;

struct att {
	const struct att_request *q;
	struct arena arena;
	struct rocprof tool;
	struct journal journal;
	struct launches launches;
	bool has_launches;
	struct att_window window;
	struct number_set tried; /* launches that were captured or attempted */
	struct att_answer answer;
	int app_status; /* to pass on; 0: success */
	bool is_no;	/* no capture can be trusted, or it shows something else */
};

void att_init(struct att *a, const struct att_request *q);
void att_deinit(struct att *a);

/*
 * The whole capture; only a list of the kernels, or a plan that runs nothing, if requested. Returns
 * true with a->is_no if there is no usable result; error codes: "app-failed" (a->app_status),
 * "directory-used", "no-such-kernel", "no-such-launch", "wrong-kernel", "wrong-launch", "no-room",
 * "interrupted".
 */
bool att_take(struct att *a, struct incore_error *e);

/* --- att_plan.c: runs nothing, writes nothing --- */
/* Finds the tool and makes the first window, as far as it is known without a run. */
bool att_prepare(struct att *a, struct incore_error *e);
/* Plans configuration, command and files of the next attempt or, if w is NULL, of the discovery
 * run. */
bool att_plan(struct att *a, const struct att_window *w, const char *because,
	struct att_attempt *out, struct incore_error *e);
/* The next window; false: nothing is left to try. */
bool att_steer(struct att *a, const struct att_sight *s, struct strbuf *because);
/* Chooses kernel, launch and buffer size from what was discovered. */
bool att_choose(struct att *a, struct incore_error *e);
/* "6,8-9" */
void att_put_set(const struct number_set *s, const char *range_open, const char *range_close,
	struct strbuf *out);
/* Our command line that takes the same capture again; NULL: out of memory. */
const char *att_repeat(struct att *a);

/* --- att_judge.c --- */
