/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roc.h: the jobs of rocprofv3 other than thread traces: counters in as many passes as needed
 * (pmc.c), PC samples (pcs.c), the timeline of a run (sys.c). A job is one or more runs of the
 * application under rocprofv3; each has a folder with its input.yaml, which is kept, and a log.
 * Exit status 0 of the tool proves nothing: the files it left are read.
 * Owner: struct roc owns all results; roc_init() .. roc_deinit(). The request is borrowed.
 * Threads: one at a time. May fail: see roc_take_pmc(); the results so far stay.
 */
#pragma once

#include "answer/answer.h"
#include "capture/folder.h"
#include "capture/rocprof.h"

struct roc_request {		      /* options first: their table is the command line's */
	const char *tool;	      /* rocprofv3; NULL: it is looked for */
	const char *dir;	      /* results; must not exist, or be empty */
	const char *kernel, *exclude; /* regular expressions over names; NULL: none */
	const char *counters;	      /* pmc */
	const char *method;	      /* pcs: "stochastic", "host_trap"; NULL: what is available */
	uint64_t interval;	      /* pcs: cycles, or microseconds of host_trap; NO_COUNT */
	const char *trace;	      /* sys: "all", "runtime", or words with commas */
	const char *formats;	      /* sys: beside rocpd: "csv,pftrace"; NULL: none */
	uint64_t retries, limit_s;    /* limit_s 0: none */
	bool keeps_raw, is_dry;
	struct drive drive;
};

struct roc_run {
	const char *because, *counters; /* counters: of a pass, or NULL */
	struct rocprof_run run;
};

struct roc_capture { /* what incore reads */
	const char *file, *kernel;
	uint64_t samples, launches, slices;
	const char *health;
};

struct roc_counter { /* of a kernel */
	const char *kernel, *counter;
	uint64_t pass, launches;
	double sum, mean, least, most;
};

struct roc_answer {
	const char *tool, *version, *verdict;
	struct capture_folder place;
	const char *method, *table; /* of samples; file of counters; or NULL */
	uint64_t interval;
	VEC(struct roc_run) runs;
	VEC(struct roc_capture) captures;
	VEC(struct roc_counter) counters;
	VEC(const char *) refused; /* counters that were not taken */
	VEC(const char *) files;   /* in other formats than rocpd */
	VEC(const char *) warnings;
};
extern const struct record roc_record, roc_counter_record;

struct roc {
	const struct roc_request *q;
	struct arena arena;
	struct rocprof tool;
	struct journal journal;
	struct roc_answer answer;
	int app_status; /* to pass on; 0: success */
	bool is_no;	/* no usable result */
};

void roc_init(struct roc *r, const struct roc_request *q);
void roc_deinit(struct roc *r);
/* Each runs one kind of job or, with q->is_dry, only plans its first run. Error codes: "app-failed"
 * (app_status), "directory-used", "tool-too-old", "unknown-counter", "interrupted". */
bool roc_take_pmc(struct roc *r, struct incore_error *e);
bool roc_take_pcs(struct roc *r, struct incore_error *e);
bool roc_take_sys(struct roc *r, struct incore_error *e);
