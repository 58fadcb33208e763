/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_read.h: the records of a repair log, up to the first damaged one. Bytes are borrowed; nothing
 * is allocated. Threads: each reader belongs to one thread. May fail: only log_reader_init(), on
 * the file header.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "dump/log_types.h"

struct log_record {
	uint64_t off; /* in the file */
	uint64_t seq;
	uint32_t size;
	uint16_t type, thread;
	const uint8_t *body;
	uint32_t body_bytes; /* padding included */
};

struct log_reader {
	const uint8_t *data;
	size_t size;
	size_t at;	 /* end of the last valid record; the rest is not used */
	uint64_t seq;	 /* of the last valid record */
	const char *why; /* after the end: what is wrong at `at`, or NULL */
};

/* data: the whole file; path: for messages. An empty file is a log without records. */
bool log_reader_init(struct log_reader *r, const void *data, size_t size, const char *path,
	struct incore_error *e);
/* False at the end and at the first record with a wrong magic, size, seq, checksum or body. */
bool log_next(struct log_reader *r, struct log_record *rec);
/* Decodes the record at `off`, which log_next() has returned before; no checks. */
void log_at(const struct log_reader *r, uint64_t off, struct log_record *rec);

/* False when the body does not fit its type. */
bool log_get_task(const struct log_record *rec, struct log_task *t);
bool log_get_arg(const struct log_record *rec, struct log_arg *a); /* TENSOR or SCALAR */
bool log_get_loss(const struct log_record *rec, struct log_loss *l);

/* The task_id of a TASK, TENSOR or SCALAR record, without decoding the rest. */
uint64_t log_task_id(const struct log_record *rec);

const char *log_cause_name(uint32_t cause); /* "ring-full"; "unknown" */
