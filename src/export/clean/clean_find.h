/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_find.h: finds the simulator runs below a path and names them. Owner: clean_runs_deinit().
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct clean_run {
	const char *path;   /* of the .bin or .json file; for dumps: their folder */
	const char *root;   /* searched folder, which no link may leave; NULL: the user named it */
	const char *kernel; /* safe as part of a file name */
	const char *launch; /* "0", or NULL */
	const char *folder; /* with files of ours about its kernel; or NULL */
	bool is_bin;
	bool is_other; /* neither .bin nor .json: read it as a trace */
};

struct clean_runs {
	struct arena arena;
	VEC(struct clean_run) v;
	unsigned n_unreadable; /* folders that could not be listed: runs in them are missing */
};

/* Adds the runs at path: a file, or all visualize_data.bin and trace.json below a directory (at
 * most 8 levels, links are not followed). A path without runs is added as is_other. */
bool clean_find(struct clean_runs *r, const char *path, struct incore_error *e);
/* Like clean_find(), but if the folder has a list of its runs, adds only those: each run is stored
 * twice in such a folder. */
bool clean_find_listed(struct clean_runs *r, const char *path, struct incore_error *e);
/* What the files in a run's folder say; NULL where they are silent. */
struct clean_origin {
	const char *kernel, *source, *workload;
	const char
		*made_by; /* the script or build that the kernel is of: one component of a path */
};
/* Reads them; strings in the arena. False on lack of memory. */
bool clean_origin_read(struct arena *a, const struct clean_run *run, struct clean_origin *out,
	struct incore_error *e);
/* Makes unique file names, <kernel>[.<launch>][.<k>], for all runs; in the arena of the runs. NULL:
 * no memory. */
char **clean_name_runs(struct clean_runs *r);
void clean_runs_deinit(struct clean_runs *r);
