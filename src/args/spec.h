/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.h: arguments written by a person: an arg-spec file (JSON) or words of a command line. Both
 * describe the content of tensors without reading payload files; args_fill() makes the bytes.
 * May fail: reading a file, status 3; a word, status 2. A slot that is given twice is an error; a
 * slot of a dump is replaced.
 */
#pragma once

#include "args/args.h"

/* {"args": [...]} or a bare list; replaces slots that are there. */
bool args_load_spec(struct args *a, const char *path, struct incore_error *e);
bool args_read_spec(
	struct args *a, const void *json, size_t n, const char *path, struct incore_error *e);
/* One word "SLOT=VALUE": a tensor "0=f16[128,64]", "0=f16[128,64]:zero", ":random", ":random7",
 * ":value3", ":none", ":out"; a scalar "4=i64:128" or "4=f32:1.5". */
bool args_add_word(struct args *a, const char *word, struct incore_error *e);

/* For the two readers: an argument with nothing set yet. */
#define SPEC_ARG                                                                                   \
	(struct arg)                                                                               \
	{                                                                                          \
		.is_used = true, .origin = ARG_SPEC, .name = "", .is_read = true,                  \
		.before = ARG_NONE, .after = ARG_NONE                                              \
	}
