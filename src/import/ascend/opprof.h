/* SPDX-License-Identifier: Apache-2.0 */
/* opprof.h: the files of one run of msprof op: finding, reading and comparing them. */
#pragma once

#include "import/ascend/ascend.h"

struct run_file {
	char *path;
	const char *unit; /* of a per-core file or CSV, or NULL */
};
struct run_files {
	struct run_file *v;
	size_t n, cap;
};

struct loaded_file {
	const char *path; /* borrowed from struct opprof */
	struct file_data data;
};

struct opprof {
	struct asc_build *b;
	char *bin, *trace;	   /* paths, or NULL */
	struct run_files per_core; /* trace.json of one core */
	struct run_files instr, code, logs;
	VEC(char *) dumps; /* directories with logs */
	uint64_t n_other;
	VEC(struct loaded_file) loaded;
	const char *time_source;
};

/* --- a folder of many kernels --- */
/* Lists the runs that the folder's manifest names and that are in the folder, in the arena. */
void opprof_list_manifest(const char *dir, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n);
/* Lists the runs of a manifest given as bytes, up to the first damaged row. */
void opprof_manifest_runs(struct capture_cache *cache, const char *dir, struct str csv,
	struct arena *a, const char ***paths, uint32_t *n);
