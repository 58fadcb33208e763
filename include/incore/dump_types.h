/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_types.h: what a caller passes to the args dump: options, tasks, tensors, scalars. Plain data
 * that the caller owns; zero-initialise it. The numeric codes are those used in the files. Include
 * incore/dump.h.
 */
#ifndef INCORE_DUMP_TYPES_H
#define INCORE_DUMP_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INCORE_DUMP_MAX_RANK 8
#define INCORE_DUMP_MAX_FUNCS 3
#define INCORE_DUMP_MAX_MARKED_SLOT 63
#define INCORE_DUMP_ALL_SLOTS UINT32_MAX
#define INCORE_DUMP_NO_FUNC 0xffffu /* a func id that is not known */

enum incore_dump_level {
	INCORE_DUMP_OFF = 0,	  /* every call does nothing and returns 0 */
	INCORE_DUMP_SELECTED = 1, /* marked arguments only */
	INCORE_DUMP_FULL = 2,	  /* everything; marks are ignored */
	INCORE_DUMP_HYBRID = 3,	  /* all records, payload of marked tensors only */
};

enum incore_dump_dtype {
	INCORE_DUMP_FLOAT32 = 0,
	INCORE_DUMP_FLOAT16 = 1,
	INCORE_DUMP_INT32 = 2,
	INCORE_DUMP_INT16 = 3,
	INCORE_DUMP_INT8 = 4,
	INCORE_DUMP_UINT8 = 5,
	INCORE_DUMP_BFLOAT16 = 6,
	INCORE_DUMP_INT64 = 7,
	INCORE_DUMP_UINT64 = 8,
	INCORE_DUMP_UINT16 = 9,
	INCORE_DUMP_UINT32 = 10,
	INCORE_DUMP_BOOL = 11,
	INCORE_DUMP_FP8E4M3FN = 12,
	INCORE_DUMP_FP8E8M0 = 13,
	INCORE_DUMP_FP4E2M1 = 14, /* an element is a byte with two values */
};

enum incore_dump_role { INCORE_DUMP_INPUT = 0, INCORE_DUMP_OUTPUT = 1, INCORE_DUMP_INOUT = 2 };
/* Inputs are recorded before, outputs after, inouts both times, scalars before. */
enum incore_dump_stage { INCORE_DUMP_BEFORE = 0, INCORE_DUMP_AFTER = 1 };
enum incore_dump_core {
	INCORE_DUMP_CORE_UNKNOWN = 0,
	INCORE_DUMP_CORE_AIC = 1,
	INCORE_DUMP_CORE_AIV = 2,
	INCORE_DUMP_CORE_MIX = 3,
};

struct incore_dump_options {
	uint32_t level;		    /* enum incore_dump_level */
	bool is_older;		    /* tensor_dump.json + tensor_dump.bin, rank up to 5 */
	bool sync;		    /* flushes also survive power loss */
	uint32_t wait_ms;	    /* how long a full ring or arena is waited for; 0: drop */
	uint32_t flush_ms;	    /* how long a flush or close waits for the collector */
	uint32_t max_writers;	    /* attached over the life of the dump, at most 65,535 */
	size_t ring_bytes;	    /* records per writer, a power of two */
	size_t arena_bytes;	    /* payload per writer, a power of two */
	uint64_t max_payload_bytes; /* of one tensor, the rest is cut and marked; 0: no limit */
	uint32_t max_marked_tasks;
	size_t sort_bytes; /* at close */
};

struct incore_dump_task {
	uint64_t task_id, dispatch_id;
	uint32_t block_idx, block_num;
	uint32_t core_id;
	uint32_t tensor_count, scalar_count; /* arguments: slots 0 .. T-1, then T .. T+S-1 */
	uint8_t core_type;		     /* enum incore_dump_core */
	uint8_t func_count;
	uint16_t func_ids[INCORE_DUMP_MAX_FUNCS]; /* the members of a mix, in slot order */
	const char *kernel;			  /* or NULL */
};

/* Which argument of which dispatch. */
struct incore_dump_slot {
	uint64_t task_id, dispatch_id;
	uint32_t block_idx;
	uint32_t index;
	bool is_ambiguous; /* selected by a value that was passed twice */
	bool is_torn;	   /* taken while the task was still running */
};

struct incore_dump_tensor {
	struct incore_dump_slot slot;
	uint8_t role, stage, dtype, rank;
	const void *data;	 /* the buffer, as this process reads it */
	uint64_t buffer_addr;	 /* where the device sees it; 0: as data */
	uint64_t buffer_size;	 /* bytes; a view that leaves it is refused; 0: not known */
	uint64_t start_offset;	 /* elements from the buffer's start */
	const uint64_t *shape;	 /* [rank] */
	const uint64_t *strides; /* [rank], elements, > 0; NULL: dense row-major */
};

struct incore_dump_scalar {
	struct incore_dump_slot slot;
	uint8_t dtype;
	uint64_t raw; /* the value's bytes, zero-extended: incore_dump_bits() */
};

struct incore_dump_stats {		 /* of one writer, or of all */
	uint64_t records, payload_bytes; /* written */
	uint64_t truncated;
	uint64_t dropped_records, dropped_bytes; /* lost, for whatever reason */
	int write_error;			 /* errno of the first failed write, or 0 */
};

#ifdef __cplusplus
}
#endif
#endif
