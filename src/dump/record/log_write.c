/* SPDX-License-Identifier: Apache-2.0 */
/* log_write.c: encodes records of the repair log. */
#include "dump/record/log_write.h"

#include "base/crc32c.h"
#include "dump/le.h"

/* Writes the head; zeroes the tail first, for the padding. */
static uint8_t *log_begin(uint8_t *p, uint32_t size, enum log_type type, uint16_t thread)
{
	le_put64(p + size - 16, 0); /* padding: up to 7 bytes before the checksum */
	le_put64(p + size - 8, 0);
	le_put32(p, LOG_MAGIC);
	le_put32(p + 4, size);
	le_put64(p + LOG_AT_SEQ, 0);
	le_put16(p + 16, (uint16_t)type);
	le_put16(p + 18, thread);
	le_put32(p + 20, 0);
	return p + LOG_RECORD_HEAD;
}

void log_put_file_head(uint8_t p[LOG_HEAD_BYTES])
{
	memcpy(p, LOG_FILE_MAGIC, 8);
	le_put32(p + 8, LOG_VERSION);
	le_put32(p + 12, LOG_ORDER);
}

uint32_t log_put_task(uint8_t *p, uint16_t thread, const struct log_task *t)
{
	uint32_t size = log_task_bytes(t->name_bytes);
	uint8_t *b = log_begin(p, size, LOG_TASK, thread);

	le_put64(b, t->task_id);
	le_put64(b + 8, t->dispatch_id);
	le_put32(b + 16, t->block_idx);
	le_put32(b + 20, t->block_num);
	le_put32(b + 24, t->core_id);
	le_put32(b + 28, t->tensor_count);
	le_put32(b + 32, t->scalar_count);
	b[36] = t->core_type;
	b[37] = t->func_count;
	for (size_t i = 0; i < LOG_MAX_FUNCS; i++)
		le_put16(b + 38 + 2 * i, t->func_ids[i]);
	le_put16(b + 44, t->name_bytes);
	if (t->name_bytes)
		memcpy(b + LOG_TASK_BODY, t->name, t->name_bytes);
	return size;
}

static void log_put_arg(uint8_t *b, const struct log_arg *a)
{
	le_put64(b, a->task_id);
	le_put64(b + 8, a->dispatch_id);
	le_put32(b + 16, a->slot);
	b[20] = a->role;
	b[21] = a->stage;
	b[22] = a->dtype;
	b[23] = a->rank;
	le_put32(b + 24, a->flags);
	le_put32(b + 28, a->block_idx);
}

uint32_t log_put_tensor(uint8_t *p, uint16_t thread, const struct log_arg *a)
{
	uint32_t size = log_tensor_bytes(a->rank);
	uint8_t *b = log_begin(p, size, LOG_TENSOR, thread);

	log_put_arg(b, a);
	le_put64(b + 32, a->start_offset);
	le_put64(b + 40, a->buffer_addr);
	le_put64(b + 48, a->buffer_size);
	le_put64(b + 56, a->bin_offset);
	le_put64(b + 64, a->bin_size);
	le_put64(b + 72, a->full_size);
	b += LOG_TENSOR_BODY;
	for (unsigned d = 0; d < a->rank; d++, b += 8)
		le_put64(b, a->shape[d]);
	for (unsigned d = 0; d < a->rank; d++, b += 8)
		le_put64(b, a->strides[d]);
	le_put32(b, a->crc32c);
	return size;
}

uint32_t log_put_scalar(uint8_t *p, uint16_t thread, const struct log_arg *a)
{
	uint32_t size = log_scalar_bytes();
	uint8_t *b = log_begin(p, size, LOG_SCALAR, thread);

	log_put_arg(b, a);
	le_put64(b + LOG_ARG_BODY, a->raw);
	return size;
}

uint32_t log_put_loss(uint8_t *p, uint16_t thread, const struct log_loss *l)
{
	uint32_t size = log_record_bytes(LOG_LOSS_BODY);
	uint8_t *b = log_begin(p, size, LOG_LOSS, thread);

	le_put64(b, l->task_id);
	le_put64(b + 8, l->records);
	le_put64(b + 16, l->bytes);
	le_put32(b + 24, l->cause);
	return size;
}

uint32_t log_put_flush(uint8_t *p, uint16_t thread, uint32_t which)
{
	uint32_t size = log_record_bytes(4);
	uint8_t *b = log_begin(p, size, LOG_FLUSH, thread);

	le_put32(b, which);
	return size;
}

uint32_t log_put_close(uint8_t *p)
{
	uint32_t size = log_record_bytes(0);

	log_begin(p, size, LOG_CLOSE, 0);
	return size;
}

void log_set_payload(uint8_t *p, uint64_t bin_offset, uint64_t bin_size, uint32_t crc)
{
	unsigned rank = p[LOG_RECORD_HEAD + 23];

	le_put64(p + LOG_AT_BIN_OFFSET, bin_offset);
	le_put64(p + LOG_AT_BIN_SIZE, bin_size);
	le_put32(p + LOG_AT_SHAPE + 16 * (size_t)rank, crc);
}

void log_seal(uint8_t *p, uint64_t seq)
{
	uint32_t size = le_get32(p + 4);

	le_put64(p + LOG_AT_SEQ, seq);
	le_put32(p + size - 4, crc32c(0, p, size - 4));
}
