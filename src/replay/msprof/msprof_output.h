/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_output.h: what a run of msprof left in its output folder. The folder was new when the run
 * began, so everything in it belongs to the run. Files decide, never what was printed. Owner: paths
 * are in the given arena. NULL: not found (or no memory).
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

/* Creates a folder <dir>/<name> that only this user can access; <name>_2 and so on if that
 * exists. */
const char *msprof_new_dir(
	struct arena *a, const char *dir, const char *name, struct incore_error *e);

/* The complete simulator directory of the newest OPPROF_*: right in it, or device<N>/<kernel>/
 * <launch>/simulator, the lowest launch of `kernel` first. *n_found: how many there are. */
const char *msprof_find_simulator(
	struct arena *a, const char *dir, const char *kernel, unsigned *n_found);

/* Readers look for <OPPROF>/simulator: if the directory lies deeper, this creates a link to it
 * there. Returns that path. */
const char *msprof_settle_simulator(struct arena *a, const char *simulator, struct incore_error *e);

/* Did a run on the device leave its OPPROF_*, with a visualize_data.bin in it or up to three folders
 * below? */
bool msprof_has_run(struct arena *a, const char *dir);

/* Finds the dump that an older msprof leaves for its export. */
const char *msprof_find_dump(struct arena *a, const char *dir);
/* Copies the kernel's start address beside the dump, where the export needs it. */
bool msprof_copy_start_address(struct arena *a, const char *dump, struct incore_error *e);
