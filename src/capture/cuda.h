/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.h: PC samples of the kernels of a CUDA application, taken inside its process by our own
 * library (src/cuda/). The application runs once for a survey (which kernels, how long: this
 * determines the sampling period), once with the sampler, and once more if exact counts are
 * requested. The logs of its processes become one packed capture per kernel.
 * Owner: struct cuda owns all results; cuda_init() .. cuda_deinit(). The request is borrowed.
 * Threads: one at a time. May fail: see cuda_take(); the results so far stay.
 */
#pragma once

#include "analysis/name_filter.h"
#include "answer/option.h"
#include "base/vec.h"
#include "capture/folder.h"
#include "cuda/log_types.h"
#include "import/cuda/log.h"

struct cuda_request {		      /* options first: their table is the command line's */
	const char *kernel, *exclude; /* regular expressions over names; NULL: none */
	const char *launches;	      /* "2,5-8": of each kernel; NULL: all */
	const char *mode;	      /* "continuous", "serialised" */
	uint64_t period;	      /* cycles; NO_COUNT: we choose */
	uint64_t after_ms, for_ms;    /* since the first context; for_ms 0: to the end */
	uint64_t limit_s;	      /* of each run; 0: none */
	bool is_exact, has_no_look, keeps_raw, is_list, is_dry;
	const char *cupti; /* libcupti.so; NULL: it is looked for */
	const char *dir;   /* results; must not exist, or be empty */
	struct drive drive;
};

struct cuda_run_row { /* one run of the application */
	const char *name, *command, *log;
	int64_t status;
	uint64_t wall_ms, processes, unfinished; /* unfinished: ended without closing its log */
	const char *folder;			 /* private, like what follows */
	struct job_result result;
};

struct cuda_file {	  /* one kernel of one process and device */
	const char *file; /* packed; NULL: it could not be read */
	const char *kernel;
	uint64_t process, device, samples, dropped, launches;
	const char *verdict, *health; /* of check */
	bool is_exact;
};

struct cuda_timing { /* one kernel, over all processes and devices */
	const char *kernel;
	uint64_t name; /* private: text id */
	uint64_t launches;
	double total_us, mean_us; /* from the run without the sampler, if there was one */
	double sampled_mean_us;	  /* NaN: not sampled */
	double overhead;	  /* percent, without the first launch; NaN: not known */
	bool is_chosen;
	uint64_t n[2], ns[2], rest_n[2],
		rest_ns[2]; /* private: [is sampled], rest: without first */
};

struct cuda_result {
	const char *library, *cupti, *mode, *verdict;
	struct capture_folder place;
	uint64_t period_cyc;
	const char *period_because;
	double overhead; /* percent of the time of all chosen kernels */
	VEC(struct cuda_run_row) runs;
	VEC(struct cuda_timing) kernels; /* most time first */
	VEC(struct cuda_file) captures;
	VEC(const char *) warnings;
};
extern const struct record cuda_record, cuda_timing_record;

/* The log of one process, open. */
struct cuda_process {
	const char *path;
	struct file_data file;
	struct cuda_log log;
};
struct cuda_processes {
	VEC(struct cuda_process) v; /* by start time */
};

struct cuda {
	const struct cuda_request *q;
	struct arena arena;
	struct journal journal;
	struct name_filter wanted, unwanted;
	struct cuda_result answer;
	uint32_t period_log2; /* 0: CUPTI chooses */
	int app_status;	      /* to pass on; 0: success */
	bool is_no;	      /* no capture */
};

void cuda_init(struct cuda *c, const struct cuda_request *q);
void cuda_deinit(struct cuda *c);
/*
 * The whole capture. Returns true with c->is_no if nothing was captured; error codes: "app-failed"
 * (c->app_status), "directory-used", "no-library", "no-cuda", "no-cupti", "no-rights",
 * "cupti-refused", "no-kernels", "no-such-kernel", "no-samples", "interrupted".
 */
bool cuda_take(struct cuda *c, struct incore_error *e);

/* Path in the arena; NULL: not found, or out of memory. */
const char *cuda_find_library(struct arena *a);
const char *cuda_find_cupti(struct arena *a);
