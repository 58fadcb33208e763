/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.h: which function of a kernel source is the kernel, and what does it take?
 * Three forms exist: `kernel_entry(int64_t *args)` (arguments in slots), one function with typed
 * parameters, and a pair NAME_aic / NAME_aiv (a mixed kernel). static, inline and template
 * functions are never the kernel. Owner: strings live in the caller's arena. May fail: a source
 * without a kernel, with several, or with a parameter that cannot be read.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum kernel_form {
	KERNEL_SLOTS, /* kernel_entry(int64_t *args) */
	KERNEL_PURE,  /* one function */
	KERNEL_MIXED, /* NAME_aic and NAME_aiv */
};

struct kernel_param {
	const char *type; /* pointee or value type: "bfloat16_t" */
	const char *name; /* "" where the source gives none */
	bool is_pointer;  /* to global memory */
};

struct kernel_function {
	const char *name;
	uint32_t line;
	bool is_global; /* __global__: callable from the host as is */
	uint32_t n_params;
	struct kernel_param *params;
};

struct kernel_signature {
	enum kernel_form form;
	const char *name;	     /* of the kernel: without _aic or _aiv */
	struct kernel_function main; /* of a mixed kernel the AIC side */
	struct kernel_function aiv;  /* mixed kernels only */
};

/* `masked` comes from source_mask(); `path` is for messages. */
bool signature_read(struct arena *a, struct str masked, const char *path,
	struct kernel_signature *out, struct incore_error *e);
