/* SPDX-License-Identifier: Apache-2.0 */
/* log_read.c: the records of a repair log, up to the first damaged one. */
#include "dump/log_read.h"

#include <string.h>

#include "base/crc32c.h"
#include "dump/le.h"

bool log_reader_init(struct log_reader *r, const void *data, size_t size, const char *path,
	struct incore_error *e)
{
	const uint8_t *p = data;

	*r = (struct log_reader){.data = p, .size = size};
	if (size == 0)
		return true;
	if (memcmp(p, LOG_FILE_MAGIC, size < 8 ? size : 8) != 0)
		return err_file(e, "bad-magic", path, 0, "expected INCDLOG, found another file");
	if (size < LOG_HEAD_BYTES) { /* killed while the log was being created */
		r->why = "the head of the log is cut";
		return true;
	}
	if (le_get32(p + 12) != LOG_ORDER)
		return err_file(e, "bad-order", path, 12,
			"expected byte-order mark 0x%08x, found 0x%08x", LOG_ORDER,
			le_get32(p + 12));
	if (le_get32(p + 8) != LOG_VERSION)
		return err_file(e, "bad-version", path, 8, "expected log version %u, found %u",
			LOG_VERSION, le_get32(p + 8));
	r->at = LOG_HEAD_BYTES;
	return true;
}

void log_at(const struct log_reader *r, uint64_t off, struct log_record *rec)
{
	const uint8_t *p = r->data + off;

	rec->off = off;
	rec->size = le_get32(p + 4);
	rec->seq = le_get64(p + LOG_AT_SEQ);
	rec->type = le_get16(p + 16);
	rec->thread = le_get16(p + 18);
	rec->body = p + LOG_RECORD_HEAD;
	rec->body_bytes = rec->size - LOG_RECORD_HEAD - 4;
}

static bool log_get_flush(const struct log_record *rec, uint32_t *thread)
{
	if (rec->type != LOG_FLUSH || rec->body_bytes < 4)
		return false;
	*thread = le_get32(rec->body);
	return true;
}

/* Does the body fit its type? Unknown types of later versions are accepted. */
static bool log_is_sound(const struct log_record *rec)
{
	struct log_task t;
	struct log_arg a;
	struct log_loss l;
	uint32_t thread;

	switch (rec->type) {
	case LOG_TASK:
		return log_get_task(rec, &t);
	case LOG_TENSOR:
	case LOG_SCALAR:
		return log_get_arg(rec, &a);
	case LOG_LOSS:
		return log_get_loss(rec, &l);
	case LOG_FLUSH:
		return log_get_flush(rec, &thread);
	default:
		return true;
	}
}

static const char *log_problem_at(const struct log_reader *r, struct log_record *rec)
{
	const uint8_t *p = r->data + r->at;
	size_t left = r->size - r->at;
	uint32_t size;

	if (left < 8)
		return "a record is cut";
	if (le_get32(p) != LOG_MAGIC)
		return "wrong magic";
	size = le_get32(p + 4);
	if (size < LOG_RECORD_HEAD + 8 || size % 8 != 0 || size > LOG_MAX_RECORD)
		return "wrong size";
	if (size > left)
		return "a record is cut";
	log_at(r, r->at, rec);
	if (rec->seq != r->seq + 1)
		return "wrong sequence number";
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	if (le_get32(p + size - 4) != crc32c(0, p, size - 4))
		return "wrong checksum";
#endif
	return log_is_sound(rec) ? NULL : "a body that contradicts its type";
}

bool log_next(struct log_reader *r, struct log_record *rec)
{
	if (r->why || r->at >= r->size)
		return false;
	r->why = log_problem_at(r, rec);
	if (r->why)
		return false;
	r->at += rec->size;
	r->seq = rec->seq;
	return true;
}

bool log_get_task(const struct log_record *rec, struct log_task *t)
{
	const uint8_t *b = rec->body;

	if (rec->type != LOG_TASK || rec->body_bytes < LOG_TASK_BODY)
		return false;
	t->task_id = le_get64(b);
	t->dispatch_id = le_get64(b + 8);
	t->block_idx = le_get32(b + 16);
	t->block_num = le_get32(b + 20);
	t->core_id = le_get32(b + 24);
	t->tensor_count = le_get32(b + 28);
	t->scalar_count = le_get32(b + 32);
	t->core_type = b[36];
	t->func_count = b[37];
	for (size_t i = 0; i < LOG_MAX_FUNCS; i++)
		t->func_ids[i] = le_get16(b + 38 + 2 * i);
	t->name_bytes = le_get16(b + 44);
	t->name = (const char *)b + LOG_TASK_BODY;
	return t->func_count <= LOG_MAX_FUNCS && t->name_bytes <= rec->body_bytes - LOG_TASK_BODY;
}

static bool get_tensor(const struct log_record *rec, struct log_arg *a)
{
	const uint8_t *b = rec->body;

	if (a->rank > LOG_MAX_RANK || rec->body_bytes < LOG_TENSOR_BODY + 16u * a->rank + 4)
		return false;
	a->start_offset = le_get64(b + 32);
	a->buffer_addr = le_get64(b + 40);
	a->buffer_size = le_get64(b + 48);
	a->bin_offset = le_get64(b + 56);
	a->bin_size = le_get64(b + 64);
	a->full_size = le_get64(b + 72);
	b += LOG_TENSOR_BODY;
	for (unsigned d = 0; d < a->rank; d++, b += 8)
		a->shape[d] = le_get64(b);
	for (unsigned d = 0; d < a->rank; d++, b += 8)
		a->strides[d] = le_get64(b);
	a->crc32c = le_get32(b);
	return true;
}

bool log_get_arg(const struct log_record *rec, struct log_arg *a)
{
	const uint8_t *b = rec->body;

	if ((rec->type != LOG_TENSOR && rec->type != LOG_SCALAR) ||
		rec->body_bytes < LOG_ARG_BODY + 8)
		return false;
	a->task_id = le_get64(b);
	a->dispatch_id = le_get64(b + 8);
	a->slot = le_get32(b + 16);
	a->role = b[20];
	a->stage = b[21];
	a->dtype = b[22];
	a->rank = b[23];
	a->flags = le_get32(b + 24);
	a->block_idx = le_get32(b + 28);
	a->is_scalar = rec->type == LOG_SCALAR;
	if (a->role > 2 || a->stage > 1)
		return false;
	if (!a->is_scalar)
		return get_tensor(rec, a);
	a->raw = le_get64(b + LOG_ARG_BODY);
	a->start_offset = a->buffer_addr = a->buffer_size = 0;
	a->bin_offset = a->bin_size = a->full_size = 0;
	a->crc32c = 0;
	return a->rank == 0;
}

bool log_get_loss(const struct log_record *rec, struct log_loss *l)
{
	const uint8_t *b = rec->body;

	if (rec->type != LOG_LOSS || rec->body_bytes < LOG_LOSS_BODY)
		return false;
	l->task_id = le_get64(b);
	l->records = le_get64(b + 8);
	l->bytes = le_get64(b + 16);
	l->cause = le_get32(b + 24);
	return true;
}

uint64_t log_task_id(const struct log_record *rec)
{
	return le_get64(rec->body);
}

const char *log_cause_name(uint32_t cause)
{
	static const char *const names[] = {"unknown", "ring-full", "arena-full", "no-space",
		"write-error", "refused", "marks-full"};

	return cause < sizeof(names) / sizeof(names[0]) ? names[cause] : names[0];
}
