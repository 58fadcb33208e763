/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_record.h: one record while it is being read; its keys may come in any order. */
#pragma once

#include "dump/read/manifest_read.h"

/* Every key, in the order in which producers write them. */
enum record_key {
	KEY_TASK_ID,
	KEY_SUBTASK_ID,
	KEY_FUNC_ID,
	KEY_ARG_INDEX,
	KEY_ROLE,
	KEY_STAGE,
	KEY_KIND,
	KEY_DTYPE,
	KEY_VALUE,
	KEY_IS_CONTIGUOUS,
	KEY_SHAPE,
	KEY_STRIDES,
	KEY_RAW_SHAPE,
	KEY_OFFSETS,
	KEY_START_OFFSET,
	KEY_NUMEL,
	KEY_AMBIGUOUS,
	KEY_BIN_OFFSET,
	KEY_BIN_SIZE,
	KEY_TRUNCATED,
	KEY_OVERWRITTEN,
	KEY_DISPATCH_ID,
	KEY_BLOCK_IDX,
	KEY_BLOCK_NUM,
	KEY_CORE_TYPE,
	KEY_CORE_ID,
	KEY_KERNEL,
	KEY_TENSOR_COUNT,
	KEY_SCALAR_COUNT,
	KEY_BUFFER_ADDR,
	KEY_BUFFER_SIZE,
	KEY_RAW,
	KEY_CRC32C,
	KEY_INCOMPLETE,
	KEY_PAYLOAD_LOST,
	KEY_TORN,
	KEY_SCALARS,
	KEY_COUNT
};

enum value_type {
	VALUE_NONE,
	VALUE_INTEGER,
	VALUE_REAL,
	VALUE_BOOL,
	VALUE_NULL,
	VALUE_INFINITE,
	VALUE_BITS
};

/* A `value` as written; its dtype may follow later. */
struct raw_value {
	enum value_type type;
	bool is_negative;   /* INTEGER, INFINITE */
	uint64_t magnitude; /* INTEGER, BOOL, BITS */
	double real;
};

struct raw_dims {
	unsigned n;
	uint64_t v[DUMP_MAX_RANK];
};

struct raw_record {
	struct dump_record rec;
	struct dump_extra extra;
	struct raw_value value;
	struct raw_dims shape, strides, raw_shape, offsets;
	uint64_t numel, raw;
	uint64_t seen; /* bit per record_key */
	enum record_key last_key;
	bool has_extra;
	VEC(uint64_t) scalars; /* X1 */
};

/* Converts value and dtype to slot bits; false: rejected. */
bool record_scalar_bits(struct manifest_reader *m, struct raw_record *x);
/* Converts shape, strides (or raw_shape, offsets) to one geometry index; false: rejected. */
bool record_geometry(struct manifest_reader *m, struct raw_record *x);
