/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof.h: replays under the vendor's simulator: generates a project that builds the kernel with
 * its recorded arguments, runs it with `msprof op simulator`, and checks the artefacts it must
 * leave.
 */
#pragma once

#include "replay/backend.h"
#include "replay/msprof/cann.h"

#define MSPROF_HOST "replay_host"    /* the program that is built */
#define MSPROF_LIB "replay_kernel"   /* lib<this>.so */
#define MSPROF_SYMBOL "replay_entry" /* the kernel in it */

/* Refuses what msprof would refuse, and names that must not occur in generated text, before
 * anything is started. Status 2, with the option that is wrong. */
bool msprof_check_options(const struct msprof_options *o, struct incore_error *e);

/* Writes the six files of the project into the workspace. `c` may be NULL (a dry run without CANN):
 * then the scripts name what they expect. */
bool msprof_write_project(const struct replay_job *job, const struct msprof_options *o,
	const struct cann *c, struct incore_error *e);

/* Checks a path that is quoted in C++, CMake and shell: nothing in it may end the quotes. */
bool msprof_check_path(const char *path, struct incore_error *e);
/* The compiler's architecture, and the chip, that will be used; "": not known. `c` may be NULL. */
const char *msprof_arch(const struct replay_job *job, const struct msprof_options *o);
/* Include folders of the job and of pto-isa: full paths separated by ';', as CMake expects. */
bool msprof_include_dirs(const struct replay_job *job, const struct msprof_options *o,
	struct strbuf *out, struct incore_error *e);
