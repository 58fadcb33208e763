/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h: on which cores of a block does a kernel's source run? One rule for replay, profile and
 * model run; each gives the evidence that it has. Pure functions.
 */
#pragma once

#include "base/str.h"

enum kernel_core {
	KERNEL_ON_ANY, /* not stated; as an answer: not known */
	KERNEL_ON_AIC, /* cube */
	KERNEL_ON_AIV, /* vector, one lane */
	KERNEL_ON_MIX  /* AIC and both AIV lanes */
};
const char *kernel_core_name(enum kernel_core core); /* "auto", "aic", "aiv", "mix" */
/* The core of such a word; false: it is none. */
bool kernel_core_of(struct str word, enum kernel_core *out);

enum kernel_class {
	KERNEL_CLASS_UNKNOWN,
	KERNEL_AIC_ONLY, /* cube */
	KERNEL_AIV_ONLY, /* vector */
	KERNEL_SPMD_MIX, /* uses its block or lane: rows of arguments for every core */
};
const char *kernel_class_name(enum kernel_class c); /* "aic-only", ... */

struct core_evidence {		   /* zero-initialise; path is needed */
	enum kernel_core said;	   /* by the user, of this source */
	bool has_kinds;		   /* the compiler says of what kind its functions are: ... */
	bool has_cube, has_vector; /* ... these */
	const char *asks;	   /* how its code asks for its block or lane; NULL: it does not */
	enum kernel_core recorded; /* by the dump, of its task */
	const char *path;	   /* a folder on it may be named aic, aiv or mix */
	struct str text;	   /* what may be guessed from; empty: there is no guessing */
};

struct core_answer {
	enum kernel_core core;
	enum kernel_class kernel_class;
	const char *reason; /* one line: the rule that decided the class */
};

struct core_answer cores_decide(const struct core_evidence *v);
