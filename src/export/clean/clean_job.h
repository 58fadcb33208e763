/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_job.h: processes one run, from its file to the files of the output directory, which appear
 * together or not at all. Owner: clean_job_deinit() frees all and drops uncommitted files.
 */
#pragma once

#include "base/file.h"
#include "codec/insight_blocks.h"
#include "export/clean/clean.h"
#include "export/clean/clean_find.h"
#include "export/clean/clean_write.h"

enum clean_file { CLEAN_TRACE, CLEAN_METRICS, CLEAN_SUMMARY, CLEAN_PIPES, CLEAN_FILES };

struct clean_job {
	const struct clean_run *run;
	const char *dir;    /* output directory */
	const char *prefix; /* of file names; NULL: plain names */
	struct clean_options options;
	bool is_raw_metrics, is_copy_raw, follow_links;
	bool is_bundle; /* its folder is a new one below `dir` */
	/* filled by the functions below */
	struct arena arena;
	struct clean clean;
	struct file_data data;
	struct insight_blocks blocks;
	struct str api; /* payload of API_INSTR, or empty */
	uint64_t api_offset;
	bool is_bin;
	VEC(struct note) remarks;
	char *paths[CLEAN_FILES]; /* of written files; NULL: not written */
	char *raw_path;		  /* of the copied folder */
	struct out_file out[CLEAN_FILES];
	struct clean_metrics metrics;
	uint64_t input_bytes;
	struct clean_origin origin; /* of a bundle */
	const char *evidence;	    /* name of the input's kind of evidence */
};

/* Opens the file and reads the data that is copied beside the trace. Then the caller reads the
 * trace with IMPORT_TEXT in the format clean_job_format(), and passes it to clean_job_take(),
 * which keeps no reference to it. A run that is_other has no text: the format of its trace is
 * detected. */
bool clean_job_open(struct clean_job *j, struct incore_error *e);
const char *clean_job_format(const struct clean_job *j);
bool clean_job_take(struct clean_job *j, const struct trace *t, struct incore_error *e);
/* Makes the folder of a bundle, incore_<kernel>_<made by>_<time>, below j->dir, which becomes it: it
 * gets all files, the raw ones too. Before clean_job_write(). made_by: NULL: as files beside the
 * run say. A folder that stays empty is removed by clean_job_deinit(). */
bool clean_job_bundle(struct clean_job *j, const char *made_by, struct incore_error *e);
/* Lays out, links and writes; nothing is visible before clean_job_commit(). */
bool clean_job_write(struct clean_job *j, struct incore_error *e);
bool clean_job_commit(struct clean_job *j, struct incore_error *e);
void clean_job_deinit(struct clean_job *j);
