/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.h: on which cores of a block does a kernel's source run? One rule for replay, profile and
 * model run; each supplies the evidence it has. Pure functions.
 */
#pragma once

#include "base/str.h"

enum kernel_core {
	KERNEL_ON_ANY, /* not stated; in an answer: not known */
	KERNEL_ON_AIC, /* cube */
	KERNEL_ON_AIV, /* vector, one lane */
	KERNEL_ON_MIX  /* AIC and both AIV lanes */
};
const char *kernel_core_name(enum kernel_core core); /* "auto", "aic", "aiv", "mix" */
/* Parses such a name; false: unknown word. */
bool kernel_core_of(struct str word, enum kernel_core *out);

enum kernel_class {
	KERNEL_CLASS_UNKNOWN,
	KERNEL_AIC_ONLY, /* cube */
	KERNEL_AIV_ONLY, /* vector */
	KERNEL_SPMD_MIX, /* uses its block or lane index: arguments for every core */
};
const char *kernel_class_name(enum kernel_class c); /* "aic-only", ... */

struct core_evidence {		   /* zero-initialise; path is needed */
	enum kernel_core said;	   /* by the user, for this source */
	bool has_kinds;		   /* the compiler states the kinds of its functions: ... */
	bool has_cube, has_vector; /* ... these */
	const char *asks;	   /* how its code reads its block or lane; NULL: not at all */
	enum kernel_core recorded; /* by the dump, for its task */
	const char *path;	   /* may contain a folder named aic, aiv or mix */
	struct str text;	   /* source text to guess from; empty: no guessing */
};

struct core_answer {
	enum kernel_core core;
	enum kernel_class kernel_class;
	const char *reason; /* one line: the rule that decided the class */
};

struct core_answer cores_decide(const struct core_evidence *v);
