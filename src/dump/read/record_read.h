/* SPDX-License-Identifier: Apache-2.0 */
/* record_read.h: reads 128-byte device records of every layout. Their contents are untrusted. */
#pragma once

#include "dump/read/model.h"

#define DEVICE_RECORD_BYTES 128
#define DEVICE_MAX_RANK 5
#define DEVICE_MAX_FUNCS 3
#define DEVICE_BUFFER_RECORDS 256
#define DEVICE_BUFFER_BYTES 32832 /* 256 records, count u32, padding */
#define DEVICE_BUFFER_COUNT_AT 32768
#define DEVICE_NO_FUNC 0xffff

enum device_layout {
	DEVICE_G1,  /* G1, G2: raw shapes and offsets */
	DEVICE_G3,  /* strides; starts like G1 */
	DEVICE_G4,  /* G4..G6: adds kind and scalar value; no func id */
	DEVICE_G7,  /* G7, G8: adds flags */
	DEVICE_G9,  /* adds one func id */
	DEVICE_G10, /* G10, G11: three func ids */
	DEVICE_LAYOUTS,
};

struct device_record {
	uint64_t task_id;
	uint8_t role, stage, ndims, dtype, kind, flags, subtask_id;
	bool is_truncated, is_contiguous;
	uint32_t arg_index;
	uint64_t payload_offset, payload_size, scalar, start_offset;
	uint32_t shapes[DEVICE_MAX_RANK], strides[DEVICE_MAX_RANK]; /* elements */
	unsigned n_funcs;
	uint32_t funcs[DEVICE_MAX_FUNCS]; /* DEVICE_NO_FUNC: unknown */
	bool is_clamped;		  /* rank or member count exceeded its limit */
};

#define DEVICE_LAYOUT_CHOICES "g1|g3|g4|g7|g9|g10"

/* Rank and member count are clamped before anything is copied. */
void device_record_get(const uint8_t *p, enum device_layout layout, struct device_record *out);
/* Reads a file of records, or of whole record buffers (256 and a count), into d. */
bool records_read(
	struct dump *d, const uint8_t *p, size_t size, const char *layout, struct incore_error *e);
/* Then the payload: bin_offset is a position in the thread's arena until one of these is called.
 * `path` is a file with the contents of that arena. */
bool records_use_arena(struct dump *d, const char *path, struct incore_error *e);
void records_without_arena(struct dump *d);
