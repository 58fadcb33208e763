/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testcase.h: arguments for a kernel of a build that nobody has recorded: types and order from its
 * .cpp, sizes from the .pto beside it, values from a seed or from the user. Values that decide how
 * much the kernel does follow from the .pto (control.h); one that does not is made up and marked
 * (arg.control). Any other tensor that nobody supplies has no bytes: a kernel whose control flow
 * reads it is stopped instead of running on invented data.
 * Owner: testcase_deinit(). May fail: status 3 if source and .pto contradict each other, the .pto
 * is missing, or a size has no bound.
 */
#pragma once

#include "answer/option.h"
#include "args/args.h"
#include "model/stream/opstream.h"
#include "replay/arguments/control.h"
#include "replay/source/signature.h"

#define TESTCASE_DEFAULT_SEED 19u

struct testcase_options {     /* zero: the default; tables of options store in it */
	uint64_t dynamic_dim; /* 256: assumed value of a scalar that sizes depend on */
	uint64_t n_blocks;    /* 1 */
	uint64_t seed;
	bool fill_inputs;      /* random floats, zero integers: for backends that compute */
	struct text_list set;  /* "NAME=VALUE": a scalar, or every element of a tensor */
	struct text_list data; /* "NAME=FILE": the bytes of a tensor, all of them */
	/* NAME is a parameter's in the .cpp or in the .pto, that of its first view, or its slot.
	 * Entries "KERNEL:NAME=..." apply only to the kernel with this name or stem, and take
	 * precedence. */
	const char *kernel, *stem;
	bool is_dim_given; /* dynamic_dim is the user's choice */
	bool needs_values; /* a value that decides how much is done must be given */
	/* Value of integers that nobody set and no size depends on. free_one n > 0: only the n-th
	 * of them gets it (from 1), the others get 0. */
	int64_t free_value;
	unsigned free_one;
	const char *free_why; /* reason for this value, for the workload's line; or NULL */
};

struct testcase {
	struct arena arena;
	struct kernel_signature signature;
	struct pto_module pto;
	const char *pto_path;
	enum opstream_arch target;
	bool has_target; /* the .pto states it */
	bool has_cube, has_vector;
	uint64_t unused;   /* bit i: the source never mentions parameter i after its list */
	unsigned computes; /* its source has ops that compute: COMPUTES_CUBE, COMPUTES_VECTOR */
	const struct pto_func *func, *func_aiv; /* of the kernel; func_aiv NULL: not mixed */
	struct control control[PTO_MAX_PARAMS];
	struct args args;
	unsigned n_free;      /* integers that free_value applies to */
	const char *free_why; /* of the options */
	const char *workload; /* one line: which values were used, for the summary */
};

bool testcase_read(struct testcase *t, const char *source, const struct testcase_options *o,
	struct incore_error *e);
void testcase_deinit(struct testcase *t);
/* Rebuilds the workload's line after arguments were changed. */
bool testcase_describe(struct testcase *t, struct incore_error *e);

/* Appends, if there are any, the values that decide how much the kernel does and differ from those
 * of its full shape, with the words that set them (option: "--set "). */
bool testcase_cure(
	const struct testcase *t, const char *option, struct strbuf *out, struct incore_error *e);
/* Does a parameter have this name, as in the options? */
bool testcase_has_name(const struct testcase *t, struct str name);

/* Generates a source whose kernel_entry calls the kernel with its slots; appends nothing if the
 * kernel has one. */
bool testcase_wrapper(
	const struct testcase *t, const char *source, struct strbuf *out, struct incore_error *e);
