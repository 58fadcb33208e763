/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_types.h: the repair log, args.log. Little-endian. The file begins with LOG_HEAD_BYTES; then
 * records, each a multiple of 8 bytes and at most LOG_MAX_RECORD: a head of 24 bytes (magic u32,
 * size u32, seq u64, type u16, thread u16, reserved u32), a body, zeros, and in the last 4 bytes
 * the CRC-32C of all bytes before it. Structs here are the decoded form; log_read.h and log_write.h
 * know the bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LOG_FILE "args.log"
#define LOG_FILE_MAGIC "INCDLOG" /* with its NUL: 8 bytes */
#define LOG_VERSION 1u
#define LOG_ORDER 0x01020304u
#define LOG_HEAD_BYTES 16
#define LOG_MAGIC 0x4C434E49u
#define LOG_MAX_RECORD 65536
#define LOG_MAX_RANK 8
#define LOG_MAX_FUNCS 3
#define LOG_ALL_THREADS UINT32_MAX

/* Bytes of a record before its body, and of the fixed part of each body. */
#define LOG_RECORD_HEAD 24
#define LOG_ARG_BODY 32
#define LOG_TENSOR_BODY 80 /* includes the above, excludes shape, strides, checksum */
#define LOG_TASK_BODY 46   /* without the name */
#define LOG_LOSS_BODY 28
/* Offsets, from the start of the record, of the fields that the collector fills in. */
#define LOG_AT_SEQ 8
#define LOG_AT_FLAGS (LOG_RECORD_HEAD + 24)
#define LOG_AT_BIN_OFFSET (LOG_RECORD_HEAD + 56)
#define LOG_AT_BIN_SIZE (LOG_RECORD_HEAD + 64)
#define LOG_AT_SHAPE (LOG_RECORD_HEAD + LOG_TENSOR_BODY)

enum log_type {
	LOG_TASK = 1,
	LOG_TENSOR = 2,
	LOG_SCALAR = 3,
	LOG_LOSS = 4,
	LOG_FLUSH = 5,
	LOG_CLOSE = 6,
};

enum log_flags {
	LOG_AMBIGUOUS = 1 << 0,	   /* the slot was selected by a value that was added twice */
	LOG_TRUNCATED = 1 << 1,	   /* the payload is a prefix; full_size is the whole */
	LOG_NO_PAYLOAD = 1 << 2,   /* the level excludes payloads */
	LOG_PAYLOAD_LOST = 1 << 3, /* its write failed: bin_size is 0 */
	LOG_TORN = 1 << 4,	   /* taken while the task was still running */
	LOG_MARKED = 1 << 5,	   /* selected by a mark */
	LOG_LEVEL_SHIFT = 8,	   /* two bits: the level of the dump, for repair */
};

enum log_cause {
	LOG_RING_FULL = 1,   /* no room for the record within the wait */
	LOG_ARENA_FULL = 2,  /* no room for the payload within the wait */
	LOG_NO_SPACE = 3,    /* ENOSPC, EDQUOT, EFBIG */
	LOG_WRITE_ERROR = 4, /* any other failed write */
	LOG_REFUSED = 5,     /* the record was invalid, or this generation cannot hold it */
	LOG_MARKS_FULL = 6,  /* selection table overflow */
};

struct log_task {
	uint64_t task_id, dispatch_id;
	uint32_t block_idx, block_num, core_id, tensor_count, scalar_count;
	uint8_t core_type, func_count;
	uint16_t func_ids[LOG_MAX_FUNCS]; /* 0xffff: unknown */
	uint16_t name_bytes;
	const char *name; /* borrowed, not NUL-terminated */
};

/* A tensor or a scalar. */
struct log_arg {
	uint64_t task_id, dispatch_id;
	uint32_t slot;
	uint8_t role, stage, dtype, rank;
	uint32_t flags; /* enum log_flags */
	uint32_t block_idx;
	bool is_scalar;
	uint64_t raw;	       /* scalar */
	uint64_t start_offset; /* in elements; this and what follows: tensor */
	uint64_t buffer_addr, buffer_size;
	uint64_t bin_offset, bin_size, full_size;
	uint64_t shape[LOG_MAX_RANK], strides[LOG_MAX_RANK]; /* elements */
	uint32_t crc32c;				     /* of the payload */
};

struct log_loss {
	uint64_t task_id, records, bytes;
	uint32_t cause; /* enum log_cause */
};
