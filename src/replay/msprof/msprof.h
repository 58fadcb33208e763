/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof.h: replays under the vendor's simulator: generates a project that builds the kernel with
 * its recorded arguments, runs it with `msprof op simulator`, and checks the artefacts it must
 * leave.
 */
#pragma once

#include "replay/backend.h"
#include "replay/msprof/cann.h"

#define MSPROF_MAX_MINUTES 2880

struct msprof_options { /* zero: the default */
	struct cann_options cann;
	bool has_device; /* else as ACL_DEVICE_ID says, or 0 */
	uint32_t device;
	uint32_t launch_count;	  /* 1 */
	uint32_t timeout_minutes; /* of msprof itself; 120, 1..2880 */
	uint32_t step_limit_s;	  /* of cmake; 300 */
	uint32_t build_limit_s;	  /* 600 */
	uint32_t
		collect_limit_s; /* around msprof; its minutes and a margin for what it does then */
};

#define MSPROF_HOST "replay_host"    /* the program that is built */
#define MSPROF_LIB "replay_kernel"   /* lib<this>.so */
#define MSPROF_SYMBOL "replay_entry" /* the kernel in it */
#define MSPROF_DEFAULT_MINUTES 120

/* Refuses what msprof would refuse, and names that must not occur in generated text, before
 * anything is started. Status 2. */
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
