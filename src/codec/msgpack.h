/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msgpack.h: reads MessagePack values one after the other, and with them the metadata of the
 * kernels in a code object (NT_AMDGPU_METADATA). Strings are borrowed from the bytes. A failed
 * read latches.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum msgpack_type {
	MSGPACK_NONE, /* end of input, or damage */
	MSGPACK_NIL,
	MSGPACK_BOOL,
	MSGPACK_INT,
	MSGPACK_FLOAT,
	MSGPACK_STRING, /* also binary */
	MSGPACK_ARRAY,	/* n elements follow */
	MSGPACK_MAP,	/* n pairs follow */
};

struct msgpack_value {
	enum msgpack_type type;
	int64_t number; /* clamped to INT64_MAX */
	uint64_t bits;	/* of an integer, not clamped */
	struct str text;
	uint32_t n;
};

struct msgpack {
	const uint8_t *start, *p, *end;
	bool is_failed;
};

void msgpack_init(struct msgpack *m, struct str bytes);
/* The next value; the values after a container are its elements. */
struct msgpack_value msgpack_next(struct msgpack *m);
/* Skips the next value with its content; false on damage or too deep nesting. */
bool msgpack_skip(struct msgpack *m);

/* Metadata of one kernel; -1: not stated. */
struct kernel_facts {
	const char *name;   /* ".name" */
	const char *symbol; /* ".symbol": the descriptor, "<name>.kd" */
	int64_t vgprs, agprs, sgprs, lds_bytes, scratch_bytes, kernarg_bytes, wave_size,
		max_workgroup;
	int64_t workgroup[3]; /* ".reqd_workgroup_size" */
};

struct code_facts {
	const char *target; /* "gfx950", or NULL */
	uint32_t n_kernels;
	struct kernel_facts *kernels; /* of a pipeline: its hardware stages */
	uint64_t pipeline_hash[2];    /* of a graphics driver's pipeline; 0, 0: not stated */
};

/* Strings and tables in the arena. False on damage (code "bad-metadata", offset in the note). */
bool code_facts_read(struct code_facts *f, struct str note, const char *path, struct arena *a,
	struct incore_error *e);
