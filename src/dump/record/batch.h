/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h: records of one writer on their way to the files. Payload stays in the arena and is only
 * pointed to, log records are collected; batch_commit() writes payload, then log, and counts what
 * could not be written. Owner: the collector; its thread only.
 */
#pragma once

#include "base/vec.h"
#include "dump/record/producer.h"

#define BATCH_LOG_BYTES ((size_t)1 << 20)
#define BATCH_BIN_BYTES ((uint64_t)1 << 20) /* stays in the cache between checksum and write */
#define BATCH_IOV 256

struct batch_payload {
	uint64_t at, bytes; /* in the payload file */
	size_t record;	    /* its record, in the log buffer */
};

struct batch {
	struct incore_dump *d;
	struct sink *sink;
	uint64_t seq; /* of the last record in the file */
	uint8_t *log; /* [BATCH_LOG_BYTES] */
	size_t log_n;
	struct iovec iov[BATCH_IOV];
	int n_iov;
	uint64_t iov_at, iov_bytes; /* their place in the payload file */
	uint64_t bin_at;	    /* where the next payload goes */
	VEC(struct batch_payload) payloads;
	struct loss_table losses; /* of all threads, not yet in the log */
};

bool batch_init(struct batch *b, struct incore_dump *d);
void batch_deinit(struct batch *b);
/* True if a record and payload of this size do not fit: commit first. */
bool batch_is_full(const struct batch *b, uint32_t record_bytes, uint64_t payload_bytes);
/* Appends a copy of the record and returns it. */
uint8_t *batch_add(struct batch *b, const uint8_t *record, uint32_t size);
/* The record added last has this payload, which stays where it is until the commit. */
bool batch_add_payload(struct batch *b, uint8_t *record, const uint8_t *p, uint64_t n);
/* The record added last has n bytes of payload at bin_at, already written. */
bool batch_add_written(struct batch *b, uint8_t *record, uint64_t n, uint32_t crc);
/* The record added last lost its payload. */
void batch_lose_payload(struct batch *b, struct incore_dump_writer *w, uint8_t *record, int errnum);
/* Writes and empties the batch. w: writer that it belongs to; NULL: the collector itself. Returns 0
 * or the first error. */
int batch_commit(struct batch *b, struct incore_dump_writer *w);
void batch_count_loss(struct batch *b, struct incore_dump_writer *w, const struct log_loss *l);
