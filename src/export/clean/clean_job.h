/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_job.h: one run, from its file to the files of the output directory: they appear together or
 * not at all. Owner: clean_job_deinit() frees all and drops what was not committed.
 */
#pragma once

#include "base/file.h"
#include "codec/insight_blocks.h"
#include "export/clean/clean.h"
#include "export/clean/clean_find.h"
#include "export/clean/clean_write.h"

struct clean_remark {
	const char *text;
	bool is_loss;
};

enum clean_file { CLEAN_TRACE, CLEAN_METRICS, CLEAN_SUMMARY, CLEAN_FILES };

struct clean_job {
	const struct clean_run *run;
	const char *dir;    /* where output goes */
	const char *prefix; /* of the names, or NULL: plain names */
	struct clean_options options;
	bool is_raw_metrics, is_copy_raw, follow_links;
	/* filled */
	struct arena arena;
	struct clean clean;
	struct file_data data;
	struct insight_blocks blocks;
	struct str api; /* payload of API_INSTR, or empty */
	uint64_t api_offset;
	bool is_bin;
	VEC(struct clean_remark) remarks;
	char *paths[CLEAN_FILES]; /* of what is written; NULL: not written */
	char *raw_path;		  /* of the copied folder */
	struct out_file out[CLEAN_FILES];
	struct clean_metrics metrics;
	uint64_t input_bytes;
	const char *evidence; /* word of what was read */
};

/* Opens the file and looks for what is copied beside the trace; then the caller reads the trace,
 * with IMPORT_TEXT as clean_job_format(), and gives it to clean_job_take(), which keeps nothing of
 * it. A run that is_other has no text: its trace is read by what it looks like. */
bool clean_job_open(struct clean_job *j, struct incore_error *e);
const char *clean_job_format(const struct clean_job *j);
bool clean_job_take(struct clean_job *j, const struct trace *t, struct incore_error *e);
/* Lays out, links and writes; nothing is visible before clean_job_commit(). */
bool clean_job_write(struct clean_job *j, struct incore_error *e);
bool clean_job_commit(struct clean_job *j, struct incore_error *e);
void clean_job_deinit(struct clean_job *j);

/* Copies the files below from to a new directory; links are left out, `but` is not entered. */
bool clean_copy_tree(const char *from, const char *to, const char *but, struct incore_error *e);
