/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testcase.h: arguments for a kernel of a build that nobody has recorded: types and order from its
 * .cpp, sizes from the .pto beside it, values from a seed or from the user. A tensor that nobody
 * supplies stays without bytes: a kernel whose control flow reads it is stopped, not misled.
 * Owner: testcase_deinit(). May fail: status 3 where source and .pto contradict each other, where
 * the .pto is missing, or where a size has no bound.
 */
#pragma once

#include "replay/backend.h"
#include "replay/source/pto.h"
#include "replay/source/signature.h"

#define TESTCASE_DEFAULT_ELEMENTS 1048576u /* of a pointer without a view */
#define TESTCASE_DEFAULT_SEED 19u

struct testcase_options {    /* zero: the default */
	int64_t dynamic_dim; /* 256: what a scalar that sizes depend on counts as */
	uint32_t n_blocks;   /* 1 */
	uint64_t seed;
	bool fill_inputs;	 /* floats random, integers zero: for backends that compute */
	const char *const *set;	 /* "NAME=VALUE": a scalar, or every element of a tensor */
	const char *const *data; /* "NAME=FILE": the bytes of a tensor */
	unsigned n_set, n_data;
	/* Words "KERNEL:NAME=..." are for this kernel alone, by either name, and go before the others. */
	const char *kernel, *stem;
	/* What a whole number gets that nobody set and no size depends on; the others of them get 0
	 * where it is meant for one (1: the first of them). */
	int64_t free_value;
	unsigned free_one;
	bool fill_control;    /* tensors that scalars are loaded from hold free_value, too */
	const char *free_why; /* that it is this one, for the workload's line; NULL: not said */
};

struct testcase {
	struct arena arena;
	struct kernel_signature signature;
	struct pto_module pto;
	const char *pto_path;
	enum replay_target target;
	bool has_target; /* the .pto states it */
	bool has_cube, has_vector;
	struct args args;
	unsigned n_free;      /* whole numbers that free_value is for */
	const char *free_why; /* of the options */
	const char *workload; /* one line: which values were used, for the summary */
};

bool testcase_read(struct testcase *t, const char *source, const struct testcase_options *o,
	struct incore_error *e);
void testcase_deinit(struct testcase *t);
/* Makes the workload's line anew, after arguments were changed. */
bool testcase_describe(struct testcase *t, struct incore_error *e);

/* A source with kernel_entry that calls the kernel with its slots; nothing for one that has it. */
bool testcase_wrapper(
	const struct testcase *t, const char *source, struct strbuf *out, struct incore_error *e);
