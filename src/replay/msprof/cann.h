/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cann.h: finds CANN, the environment it sets and the chips that its simulator supports. Nothing is
 * written into the installation. Owner: cann_deinit() frees everything. May fail: status 5 with
 * every place that was searched.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "model/stream/opstream.h"
#include "replay/means.h"

struct cann_target {		  /* facts of a platform */
	const char *soc, *arch;	  /* "dav_2201", "dav-c220" */
	unsigned cce_aicore;	  /* 220 */
	const char *arch_macro;	  /* PTO_NPU_ARCH_A2A3 */
	const char *soc_words[2]; /* names of its chips contain one of these */
};
const struct cann_target *cann_target(enum opstream_arch t);

struct cann_soc { /* a chip with a simulator library */
	const char *name, *dir;
};

struct cann {
	struct arena arena;
	const char *set_env;	   /* the script */
	const char *home;	   /* ASCEND_HOME_PATH as the script sets it */
	VEC(const char *) env;	   /* "K=V", the resulting environment; ends with NULL */
	VEC(struct cann_soc) socs; /* sorted by name */
	const char *soc;	   /* chosen */
	const char *soc_dir;
	const char *soc_note;	  /* why this one, if there was a choice; or NULL */
	const char *library_path; /* for a run of the chosen chip */
};

/* Finds the installation, reads its environment, chooses the chip. */
bool cann_open(struct cann *c, const struct cann_options *o, enum opstream_arch target,
	struct incore_error *e);
void cann_deinit(struct cann *c);
/* Sets "K=V" in its environment; the line is borrowed. False: no memory. */
bool cann_set_env(struct cann *c, const char *line);
/* Finds a program by the PATH of its environment; the result is in the arena; NULL: not found. */
const char *cann_program(struct cann *c, const char *name);

/* Index of the chip for a platform; n: no chip fits. The platform's own name is preferred, then the
 * order of names; *n_fit is how many fit. */
size_t cann_guess_soc(
	const struct cann_soc *socs, size_t n, enum opstream_arch target, size_t *n_fit);
/* May it be put into generated text unchanged? Letters, digits, '_', '.', '-'. */
bool cann_is_word(const char *s);

/* Checks that the compiler knows the tile language and the profiler has its worker. `scratch` is a
 * folder for what the probe compiles. */
bool cann_probe(struct cann *c, const char *arch, const char *scratch, struct incore_error *e);
