/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof.h: replay under the vendor's simulator: a generated project that builds the kernel with its
 * recorded arguments, `msprof op simulator` to run it, and the artefacts it must leave.
 */
#ifndef REPLAY_MSPROF_H
#define REPLAY_MSPROF_H

#include "replay/backend.h"
#include "replay/cann.h"

#define MSPROF_MAX_MINUTES 2880

struct msprof_options { /* zero: the default */
	struct cann_options cann;
	uint32_t launch_count;	  /* 1 */
	uint32_t timeout_minutes; /* of msprof itself; 120, 1..2880 */
	uint32_t step_limit_s;	  /* of cmake; 300 */
	uint32_t build_limit_s;	  /* 600 */
};

#define MSPROF_HOST "replay_host"    /* the program that is built */
#define MSPROF_LIB "replay_kernel"   /* lib<this>.so */
#define MSPROF_SYMBOL "replay_entry" /* the kernel in it */

/* Refuses what msprof would refuse, before anything is started. Status 2. */
bool msprof_check_options(const struct msprof_options *o, struct incore_error *e);

/* Writes the six files of the project into the workspace. `c` may be NULL (a dry run without CANN):
 * then the scripts name what they expect. */
bool msprof_write_project(const struct replay_job *job, const struct msprof_options *o,
	const struct cann *c, struct incore_error *e);

/* Text of single files, for tests; false: a path or name that may not enter generated text. */
bool msprof_kernel_text(const struct replay_job *job, struct strbuf *out, struct incore_error *e);
bool msprof_host_text(const struct replay_job *job, struct strbuf *out, struct incore_error *e);

#endif
