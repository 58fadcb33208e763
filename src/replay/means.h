/* SPDX-License-Identifier: Apache-2.0 */
/*
 * means.h: how a kernel is compiled and run, whichever kernel it is: the part of a request that the
 * replay of one kernel and the run of a whole build have in common. Tables of options store in it.
 * Owner: the request; strings are borrowed.
 */
#pragma once

#include "answer/option.h"

#define REPLAY_BACKENDS "model|msprof|simpler|ptoas" /* the words of enum replay_backend */
enum replay_backend {
	REPLAY_MODEL,
	REPLAY_MSPROF,
	REPLAY_SIMPLER, /* msprof; the source has kernel_entry(int64_t *args) */
	REPLAY_PTOAS,	/* msprof; the source has typed parameters and a .pto */
};

struct cann_options {	     /* NULL: detected */
	const char *home;    /* --cann-home */
	const char *set_env; /* --cann-set-env */
	const char *soc;     /* --soc-version */
	const char *arch;    /* --aicore-arch */
	const char *pto_isa; /* --pto-isa-root */
	bool is_on_device;   /* needs no simulator, chooses no chip */
};

#define MSPROF_MAX_MINUTES 2880
#define MSPROF_MAX_LAUNCHES 5000

struct msprof_options {
	struct cann_options cann;
	uint64_t device;	  /* NO_COUNT: as ACL_DEVICE_ID says, or 0 */
	uint64_t launch_count;	  /* 1 .. MSPROF_MAX_LAUNCHES */
	uint64_t timeout_minutes; /* of msprof itself, 1 .. MSPROF_MAX_MINUTES */
	/* Limits of steps in seconds; 0: the default. */
	uint32_t step_limit_s;	/* of cmake; 300 */
	uint32_t build_limit_s; /* 600 */
	uint32_t
		collect_limit_s; /* around msprof; its minutes and a margin for what it does then */
};

struct replay_means {
	unsigned backend;	       /* enum replay_backend */
	const char *profile;	       /* of the model: name or file; NULL: the default */
	bool allow_unknown;	       /* the model times unknown ops with a guess */
	bool is_unsafe;		       /* the kernel runs without walls (record.h) */
	struct msprof_options msprof;  /* of the other backends */
	struct text_list defines;      /* "NAME" or "NAME=VALUE" */
	struct text_list include_dirs; /* headers of the kernel */
	bool is_dry;		       /* only write what would be run */
	bool has_debug_lines;
	bool no_sources;		 /* model: no text of sources in visualize_data.bin */
	bool (*is_cancelled)(void *ctx); /* or NULL */
	void *cancel_ctx;
};
