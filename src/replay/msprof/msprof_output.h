/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_output.h: what a run of msprof left in its output folder. The folder was new when the run
 * began, so whatever lies there is the run's. Judged by files, never by what was printed.
 * Owner: paths are on the arena given. NULL: not there (or no memory).
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

/* A new folder <dir>/<name>, of this user alone; <name>_2 and on where that is taken. */
const char *msprof_new_dir(
	struct arena *a, const char *dir, const char *name, struct incore_error *e);

/* The complete simulator directory of the newest OPPROF_*: right in it, or device<N>/<kernel>/
 * <launch>/simulator, the lowest launch of `kernel` first. *n_found: how many there are. */
const char *msprof_find_simulator(
	struct arena *a, const char *dir, const char *kernel, unsigned *n_found);

/* <OPPROF>/simulator is the place that readers look at: where the directory lies deeper, a link to
 * it stands there. Returns that place. */
const char *msprof_settle_simulator(struct arena *a, const char *simulator, struct incore_error *e);

/* Did a run on the device leave its OPPROF_*, with a visualize_data.bin in it or up to three folders
 * below? */
bool msprof_has_run(struct arena *a, const char *dir);

/* The dump that an older msprof leaves for its export. */
const char *msprof_find_dump(struct arena *a, const char *dir);
/* The export wants the kernel's start address beside the dump. */
bool msprof_copy_start_address(struct arena *a, const char *dump, struct incore_error *e);
