/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h: some records of one writer on their way to the files. Payload is pointed at where it
 * lies in the arena, log records are collected; batch_commit() writes payload, then log, and counts
 * what the disk did not take. Owner: the collector; its thread only.
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
	uint64_t iov_at, iov_bytes; /* where they go */
	uint64_t bin_at;	    /* where the next payload goes */
	VEC(struct batch_payload) payloads;
	struct loss_table losses; /* of all threads, not in the log yet */
};

bool batch_init(struct batch *b, struct incore_dump *d);
void batch_deinit(struct batch *b);
/* No more of this size fits: commit first. */
bool batch_is_full(const struct batch *b, uint32_t record_bytes, uint64_t payload_bytes);
/* A copy of the record. */
uint8_t *batch_add(struct batch *b, const uint8_t *record, uint32_t size);
/* The record added last has this payload, which stays where it is until the commit. */
bool batch_add_payload(struct batch *b, uint8_t *record, const uint8_t *p, uint64_t n);
/* The record added last has n bytes at bin_at, written already. */
bool batch_add_written(struct batch *b, uint8_t *record, uint64_t n, uint32_t crc);
/* The record added last lost its payload. */
void batch_lose_payload(struct batch *b, struct incore_dump_writer *w, uint8_t *record, int errnum);
/* Writes and empties it. w: whose it is, NULL: the collector's own. 0 or the first failure. */
int batch_commit(struct batch *b, struct incore_dump_writer *w);
void batch_count_loss(struct batch *b, struct incore_dump_writer *w, const struct log_loss *l);
