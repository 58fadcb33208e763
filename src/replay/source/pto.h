/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pto.h: what a .pto file (MLIR text) states about a kernel: target, kind of core, parameters, and
 * how much of each pointer its views can reach. Shapes and strides are folded from constants; a
 * value without a known bound is an error that names the chain of operations, never a guess.
 * Owner: everything lives in the caller's arena. May fail: text of the wrong shape, a view whose
 * extent has no bound, memory.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum pto_kind { PTO_KIND_UNSTATED, PTO_KIND_CUBE, PTO_KIND_VECTOR };

struct pto_param {
	const char *name; /* "%arg0" */
	const char *type; /* pointee or value: "bf16", "index" */
	bool is_pointer;
	unsigned elem_bits; /* of the pointee; 0: unknown type */
	uint64_t elements;  /* reached by its views; 0: no views, or all are empty */
	uint32_t n_views;
	bool is_control; /* a pointer: elements of it are loaded as scalars */
	bool is_bound;	 /* a scalar that a size depends on: it must not exceed the bound used */
};

struct pto_func {
	const char *name;
	uint32_t line;
	enum pto_kind kind;
	uint32_t n_params;
	struct pto_param *params;
};

struct pto_module {
	const char *target; /* "a2a3", "a5"; NULL: not stated */
	uint32_t n_funcs;
	struct pto_func *funcs; /* those with a body */
};

/* What is known of the launch. A scalar parameter without a value counts as 0 .. dynamic_dim. */
struct pto_launch {
	uint32_t n_blocks;   /* 0: 1 */
	int64_t dynamic_dim; /* 0: 256 */
	/* Value of scalar parameter i of a function; false: not known. NULL: no value is known. */
	bool (*scalar)(void *ctx, uint32_t param, int64_t *value);
	void *ctx;
};

bool pto_read(struct arena *a, struct str text, const char *path, const struct pto_launch *launch,
	struct pto_module *out, struct incore_error *e);

/*
 * What values can an integer of a .pto file take? Ranges with exact bounds; an operation that may
 * leave 64 bits has no range. Pure functions.
 */

struct pto_range {
	int64_t lo, hi;
};

/* Folds `op` ("arith.muli") over its operands; false: unknown operation, or no bound. */
bool pto_fold(struct str op, struct pto_range a, struct pto_range b, struct pto_range *out);
/* Wraps to a signed integer of `bits` (1..64). */
struct pto_range pto_wrap(struct pto_range a, unsigned bits);
