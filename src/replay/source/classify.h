/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify.h: what kind of kernel is a slot-argument source, and which slots does its code read?
 * Answered from masked text (source_text.h) and the path, never from comments. Pure functions.
 */
#ifndef REPLAY_SOURCE_CLASSIFY_H
#define REPLAY_SOURCE_CLASSIFY_H

#include "base/str.h"

enum kernel_class {
	KERNEL_CLASS_UNKNOWN,
	KERNEL_AIC_ONLY, /* cube */
	KERNEL_AIV_ONLY, /* vector */
	KERNEL_SPMD_MIX, /* uses its block or lane: rows of arguments for every core */
};
const char *kernel_class_name(enum kernel_class c); /* "aic-only", ... */

enum kernel_core {     /* MIX is a statement only: a member of a task runs on one of them */
	KERNEL_ON_ANY, /* not stated */
	KERNEL_ON_AIC,
	KERNEL_ON_AIV,
	KERNEL_ON_MIX
};

struct kernel_class_answer {
	enum kernel_class kernel_class;
	const char *reason; /* one line: the rule that decided */
};

/* `stated` is what the run or its configuration says. */
struct kernel_class_answer kernel_classify(
	struct str masked, const char *path, enum kernel_core stated);

/* True where the source has kernel_entry with a slot array. */
bool kernel_has_entry(struct str masked);

/* Bit i: the code reads args[i] by a literal index (i < 64; context slots too). */
uint64_t kernel_slots_read(struct str masked);

#endif
