/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_record.h: one record while it is read: its keys may come in any order. */
#ifndef DUMP_READ_MANIFEST_RECORD_H
#define DUMP_READ_MANIFEST_RECORD_H

#include "dump/read/manifest_read.h"

#define RECORD_KEYS(X)                                                                             \
	X(TASK_ID, "task_id")                                                                      \
	X(SUBTASK_ID, "subtask_id")                                                                \
	X(FUNC_ID, "func_id")                                                                      \
	X(ARG_INDEX, "arg_index")                                                                  \
	X(ROLE, "role")                                                                            \
	X(STAGE, "stage")                                                                          \
	X(KIND, "kind")                                                                            \
	X(DTYPE, "dtype")                                                                          \
	X(VALUE, "value")                                                                          \
	X(IS_CONTIGUOUS, "is_contiguous")                                                          \
	X(SHAPE, "shape")                                                                          \
	X(STRIDES, "strides")                                                                      \
	X(RAW_SHAPE, "raw_shape")                                                                  \
	X(OFFSETS, "offsets")                                                                      \
	X(START_OFFSET, "start_offset")                                                            \
	X(NUMEL, "numel")                                                                          \
	X(AMBIGUOUS, "arg_index_ambiguous")                                                        \
	X(BIN_OFFSET, "bin_offset")                                                                \
	X(BIN_SIZE, "bin_size")                                                                    \
	X(TRUNCATED, "truncated")                                                                  \
	X(OVERWRITTEN, "overwritten")                                                              \
	X(DISPATCH_ID, "dispatch_id")                                                              \
	X(BLOCK_IDX, "block_idx")                                                                  \
	X(BLOCK_NUM, "block_num")                                                                  \
	X(CORE_TYPE, "core_type")                                                                  \
	X(CORE_ID, "core_id")                                                                      \
	X(KERNEL, "kernel")                                                                        \
	X(TENSOR_COUNT, "tensor_count")                                                            \
	X(SCALAR_COUNT, "scalar_count")                                                            \
	X(BUFFER_ADDR, "buffer_addr")                                                              \
	X(BUFFER_SIZE, "buffer_size")                                                              \
	X(RAW, "raw")                                                                              \
	X(CRC32C, "crc32c")                                                                        \
	X(INCOMPLETE, "incomplete")                                                                \
	X(PAYLOAD_LOST, "payload_lost")                                                            \
	X(TORN, "torn")                                                                            \
	X(SCALARS, "scalars")

#define RECORD_KEY_ENUM(name, text) KEY_##name,
enum record_key { RECORD_KEYS(RECORD_KEY_ENUM) KEY_COUNT };

enum value_type { VALUE_NONE, VALUE_INTEGER, VALUE_REAL, VALUE_BOOL, VALUE_NULL, VALUE_INFINITE };

/* A `value` as written; its dtype may follow later. */
struct raw_value {
	enum value_type type;
	bool is_negative;   /* INTEGER, INFINITE */
	uint64_t magnitude; /* INTEGER, BOOL */
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

/* Value and dtype to slot bits; false: rejected. */
bool record_scalar_bits(struct manifest_reader *m, struct raw_record *x);
/* shape, strides (or raw_shape, offsets) to one geometry index; false: rejected. */
bool record_geometry(struct manifest_reader *m, struct raw_record *x);

#endif
