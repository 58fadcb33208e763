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
enum pto_launched { PTO_NOT_LAUNCHED, PTO_BLOCK_IDX, PTO_BLOCK_NUM };

struct pto_param {
	const char *name; /* "%arg0" */
	const char *type; /* pointee or value: "bf16", "index" */
	bool is_pointer;
	bool is_integer;    /* the pointee or the value */
	unsigned elem_bits; /* of the pointee; 0: unknown type */
	uint64_t elements;  /* reached by its views; 0: no views, or all are empty */
	uint32_t n_views;
	/* What its first view is called, without what a compiler appends to names: "seq_lens" for
	 * %seq_lens__ssa_v0_view; NULL: no view. */
	const char *alias;
	enum pto_launched launched; /* a scalar: the launch gives it */
	bool is_control;	    /* a pointer: elements of it are loaded as scalars */
	bool is_bound; /* a scalar that a size depends on: it must not exceed the bound used */
	/* It, or a loaded element of it, decides a trip count, a condition or a size; or places
	 * in tensors. */
	bool has_work, has_place;
	bool is_used;  /* the body mentions it */
	bool is_blind; /* it decides work through a value that has no known range */
};

#define PTO_MAX_PARAMS 64 /* an argument array has 50 slots */

struct pto_func {
	const char *name;
	uint32_t line;
	enum pto_kind kind;
	uint32_t n_params;
	struct pto_param *params;
	uint64_t n_outside; /* accesses that pto_launch.focus takes out of their view */
	uint64_t work;	    /* equal for equal trip counts, conditions and sizes, as far as known */
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
	/* Value of every element of pointer parameter i; NULL: no value is known. */
	bool (*element)(void *ctx, uint32_t param, int64_t *value);
	void *ctx;
	uint64_t focus;	    /* bit i: count the accesses outside that depend on parameter i */
	bool is_whole_grid; /* block indices go to dynamic_dim, whatever n_blocks says */
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
/* The least range that contains both. */
struct pto_range pto_either(struct pto_range a, struct pto_range b);
/* "slt" and its like as 0 or 1; 0 to 1: not known, or another word. */
struct pto_range pto_compare(struct str how, struct pto_range a, struct pto_range b);
