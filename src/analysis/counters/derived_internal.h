/* SPDX-License-Identifier: Apache-2.0 */
/* derived_internal.h: shared by the files that implement derived.h. */
#pragma once

#include "analysis/counters/derived.h"

enum derived_op {
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_EQ,
	OP_LT,
	OP_GT,
	OP_LE,
	OP_GE,
	OP_AND,
	OP_OR,
	OP_MAX,
	OP_MIN
};
enum derived_fold { FOLD_SUM, FOLD_MEAN, FOLD_MIN, FOLD_MAX };

#define ALL_AXES 15u

struct derived_range { /* start, stop, step along an axis; negative start: from the end */
	int64_t start, stop, step;
	bool is_one; /* only the element at start */
};

/* Why a tensor could not be made: a word and a sentence in the derived's arena. */
struct derived_fault {
	const char *code, *message;
};

/* All return false and fill *f on failure; lack of memory has the code "no-memory". */
bool tensor_new(struct derived *d, const uint32_t dim[DERIVED_AXES], struct derived_tensor *out,
	struct derived_fault *f);
bool tensor_number(
	struct derived *d, double v, struct derived_tensor *out, struct derived_fault *f);
bool tensor_apply(struct derived *d, enum derived_op op, const struct derived_tensor ab[2],
	struct derived_tensor *out, struct derived_fault *f);
bool tensor_fold(struct derived *d, enum derived_fold fold, unsigned axes,
	const struct derived_tensor *x, struct derived_tensor *out, struct derived_fault *f);
bool tensor_select(struct derived *d, const struct derived_range *r, unsigned axis,
	struct derived_tensor *x, struct derived_fault *f);
bool tensor_remove(struct derived *d, int64_t at, unsigned axis, struct derived_tensor *x,
	struct derived_fault *f);
bool tensor_delta(
	struct derived *d, unsigned axis, struct derived_tensor *x, struct derived_fault *f);
bool tensor_linear(struct derived *d, double n, unsigned axis, struct derived_tensor *out,
	struct derived_fault *f);
bool derived_fault_set(struct derived *d, struct derived_fault *f, const char *code,
	const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Always false, for analysers to see at each call. */
#define derived_fault_set(...) err_false((derived_fault_set)(__VA_ARGS__))

/* Tensors of all counters; derived_counters.c. */
bool derived_load_counters(struct derived *d, struct incore_error *e);
const struct derived_counter *derived_find_counter(const struct derived *d, struct str name);
