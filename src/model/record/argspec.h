/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argspec.h: the arguments of one kernel: tensors and scalars by slot, from an arg-spec file (JSON)
 * or from words of a command line. Nothing here touches payload files; a spec names them.
 * Owner: argspec_init()/argspec_deinit(); strings live in its arena. May fail: reading, status 3.
 */
#ifndef MODEL_RECORD_ARGSPEC_H
#define MODEL_RECORD_ARGSPEC_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/stream/opstream_types.h"

enum arg_fill {
	FILL_ZERO,
	FILL_RANDOM, /* from fill_seed; the same bytes on every machine */
	FILL_VALUE,  /* fill_value in every element */
	FILL_NONE,   /* nobody supplies them: reading one stops the run */
};

#define ARG_OWN_BUFFER UINT32_MAX

struct arg_slot {
	bool is_tensor;
	bool is_input;	     /* role "input" or "inout" */
	bool is_output;	     /* role "output": zeroed and writable */
	bool is_filled;	     /* the spec said how: fill or data */
	bool is_size_stated; /* buffer_bytes was given */
	bool is_size_known;  /* buffer_bytes was given, or is the view's own extent */
	uint8_t dtype;	     /* enum op_dtype */
	uint32_t slot;
	const char *name; /* "" if none */
	uint64_t value;	  /* scalar: the bits of the slot */
	uint32_t ndims;
	uint32_t shape[5], stride[5]; /* elements */
	uint64_t start_offset;	      /* elements */
	uint64_t bytes;		      /* of the buffer */
	uint32_t buffer; /* tensors with the same number share one; ARG_OWN_BUFFER: none */
	enum arg_fill fill;
	uint64_t fill_seed;
	double fill_value;
	const char *data_path;	       /* NULL: none; relative to the spec's folder */
	uint64_t data_off, data_bytes; /* data_bytes 0: as many as the buffer has */
};

struct argspec {
	struct arena arena;
	VEC(struct arg_slot) slots; /* by slot index */
	enum opstream_origin origin;
};

void argspec_init(struct argspec *a);
void argspec_deinit(struct argspec *a);
/* {"args": [...]} or a bare list. */
bool argspec_load(struct argspec *a, const char *path, struct incore_error *e);
bool argspec_read(
	struct argspec *a, const void *json, size_t n, const char *path, struct incore_error *e);
/* One word "SLOT=VALUE": a tensor "0=f16[128,64]", "0=f16[128,64]:zero", ":random", ":random7",
 * ":value3", ":none", ":out"; a scalar "4=i64:128" or "4=f32:1.5". */
bool argspec_add_word(struct argspec *a, const char *word, struct incore_error *e);
/* Slot or NULL. */
const struct arg_slot *argspec_find(const struct argspec *a, uint32_t slot);
/* The first tensor that has the buffer of `s`: itself where it shares none. */
const struct arg_slot *argspec_owner(const struct argspec *a, const struct arg_slot *s);

#endif
