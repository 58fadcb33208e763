/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_write.h: encodes records of the repair log. A put function writes a whole record except for
 * its number and checksum, which log_seal() adds, and returns its size; the caller provides room
 * for log_*_bytes(). No allocation, no failure, any thread.
 */
#pragma once

#include <stddef.h>

#include "dump/log_types.h"

/* Size of a record with a body of n bytes: head, body, padding, checksum. */
static inline uint32_t log_record_bytes(uint32_t body)
{
	return (LOG_RECORD_HEAD + body + 4 + 7) & ~7u;
}

static inline uint32_t log_scalar_bytes(void)
{
	return log_record_bytes(LOG_ARG_BODY + 8);
}

static inline uint32_t log_tensor_bytes(unsigned rank)
{
	return log_record_bytes(LOG_TENSOR_BODY + 16 * rank + 4);
}

static inline uint32_t log_task_bytes(unsigned name_bytes)
{
	return log_record_bytes(LOG_TASK_BODY + name_bytes);
}

/* Longest kernel name that fits a record; longer ones are cut. */
#define LOG_MAX_NAME 4096

void log_put_file_head(uint8_t p[LOG_HEAD_BYTES]);
uint32_t log_put_task(uint8_t *p, uint16_t thread, const struct log_task *t);
uint32_t log_put_tensor(uint8_t *p, uint16_t thread, const struct log_arg *a);
uint32_t log_put_scalar(uint8_t *p, uint16_t thread, const struct log_arg *a);
uint32_t log_put_loss(uint8_t *p, uint16_t thread, const struct log_loss *l);
uint32_t log_put_flush(uint8_t *p, uint16_t thread, uint32_t which);
uint32_t log_put_close(uint8_t *p);

/* Fills in where the payload of a tensor record lies, once that is known. */
void log_set_payload(uint8_t *p, uint64_t bin_offset, uint64_t bin_size, uint32_t crc);
/* The last step: number and checksum. */
void log_seal(uint8_t *p, uint64_t seq);
