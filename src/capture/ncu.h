/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncu.h: profiles kernels with NVIDIA's Nsight Compute, if installed: its settings, its report, and
 * a packed capture of each result in the report.
 * Owner: struct ncu owns all results; ncu_init() .. ncu_deinit(). The request is borrowed. Threads:
 * one at a time. May fail: see ncu_take(); the results so far stay.
 */
#pragma once

#include "answer/option.h"
#include "base/vec.h"
#include "capture/folder.h"

struct ncu_request {	    /* options first: their table is the command line's */
	const char *kernel; /* regular expression over demangled names; NULL: all */
	uint64_t skip, count;
	const char *sections; /* identifiers, separated by commas; NULL: those our verbs use */
	const char *set;      /* instead of sections, or NULL */
	const char *clock;    /* "none", "base" */
	const char *cache;    /* "all", "none" */
	const char *tool;     /* ncu; NULL: it is looked for */
	uint64_t limit_s;     /* 0: none */
	bool keeps_raw, is_dry;
	const char *dir;
	struct drive drive;
};

struct ncu_file { /* one result of the report */
	const char *file, *kernel, *verdict, *health;
	uint64_t result, samples;
};

struct ncu_answer {
	const char *tool, *version, *command, *log, *verdict;
	struct capture_folder place;
	int64_t status;
	VEC(struct ncu_file) captures;
	VEC(const char *) warnings;
};
extern const struct record ncu_record;

struct ncu {
	const struct ncu_request *q;
	struct arena arena;
	struct journal journal;
	const char *report;
	VEC(const char *) argv;
	struct ncu_answer answer;
	int app_status; /* to pass on; 0: success */
	bool is_no;	/* nothing was profiled */
};

void ncu_init(struct ncu *n, const struct ncu_request *q);
void ncu_deinit(struct ncu *n);
/* Returns true with n->is_no if ncu profiled nothing. Error codes: "no-ncu", "tool-failed",
 * "app-failed" (n->app_status), "no-rights", "directory-used", "interrupted". */
bool ncu_take(struct ncu *n, struct incore_error *e);
