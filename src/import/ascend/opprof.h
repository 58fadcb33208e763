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

/* Loads a file; its bytes stay valid until the run is read, and it is opened only once. path must
 * live as long as o. */
bool opprof_load(struct opprof *o, const char *path, struct file_data *out, struct incore_error *e);
/* Turns the error of a bad file into a note; false for other errors, such as out of memory. */
bool opprof_forgive(struct opprof *o, const char *path, struct incore_error *e);
bool opprof_read_per_core(struct opprof *o, struct asc_build *b, struct incore_error *e);
/* Reads the events of the run into b, from the best file that has them. */
bool opprof_read_run(
	struct opprof *o, struct asc_build *b, bool bin_has_trace, struct incore_error *e);

/* --- opprof_compare.c --- */
/* Compares the ticks with the trace that was derived from them, and takes source lines from it. */
bool opprof_compare_ticks(
	struct opprof *o, const struct import_options *opts, struct incore_error *e);
/* Compares the events with other files of the run that should hold the same. */
bool opprof_compare_copies(
	struct opprof *o, const struct import_options *opts, struct incore_error *e);

/* --- opprof_manifest.c --- */
/* Is this a folder with a manifest that names at least one run in the folder? */
bool opprof_has_manifest(const char *dir, struct capture_cache *cache);
/* Lists the runs that the folder's manifest names and that are in the folder, in the arena. */
void opprof_list_manifest(const char *dir, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n);
/* Lists the runs of a manifest given as bytes, up to the first damaged row. */
void opprof_manifest_runs(struct capture_cache *cache, const char *dir, struct str csv,
	struct arena *a, const char ***paths, uint32_t *n);
