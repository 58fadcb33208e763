/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c: writes payload to its file, then the records that refer to it to the log. */
#include "dump/record/batch.h"

#include <errno.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "dump/le.h"
#include "dump/record/log_write.h"

#define LOSS_ROOM 8192 /* bytes of the log buffer reserved for LOSS records */

bool batch_init(struct batch *b, struct incore_dump *d)
{
	*b = (struct batch){.d = d, .sink = &d->sink};
	b->log = mem_alloc(BATCH_LOG_BYTES);
	return b->log != NULL;
}

void batch_deinit(struct batch *b)
{
	loss_deinit(&b->losses);
	VEC_FREE(&b->payloads);
	mem_free(b->log);
}

bool batch_is_full(const struct batch *b, uint32_t record_bytes, uint64_t payload_bytes)
{
	return b->log_n + record_bytes > BATCH_LOG_BYTES - LOSS_ROOM ||
	       (payload_bytes && b->n_iov == BATCH_IOV) ||
	       (b->iov_bytes && b->iov_bytes + payload_bytes > BATCH_BIN_BYTES);
}

uint8_t *batch_add(struct batch *b, const uint8_t *record, uint32_t size)
{
	uint8_t *p = b->log + b->log_n;

	memcpy(p, record, size);
	b->log_n += size;
	return p;
}

static bool note_payload(struct batch *b, uint8_t *record, uint64_t n, uint32_t crc)
{
	struct batch_payload p = {b->bin_at, n, (size_t)(record - b->log)};

	if (!VEC_PUSH(&b->payloads, p))
		return false;
	log_set_payload(record, b->bin_at, n, crc);
	b->bin_at += n;
	return true;
}

bool batch_add_payload(struct batch *b, uint8_t *record, const uint8_t *p, uint64_t n)
{
	struct iovec *last = b->n_iov ? &b->iov[b->n_iov - 1] : NULL;
	uint64_t at = b->bin_at;

	if (!note_payload(b, record, n, crc32c(0, p, n)))
		return false;
	if (last && (const uint8_t *)last->iov_base + last->iov_len == p) {
		last->iov_len += n;
	} else {
		if (!last)
			b->iov_at = at;
		b->iov[b->n_iov++] = (struct iovec){(void *)(uintptr_t)p, n};
	}
	b->iov_bytes += n;
	return true;
}

bool batch_add_written(struct batch *b, uint8_t *record, uint64_t n, uint32_t crc)
{
	return note_payload(b, record, n, crc);
}

void batch_count_loss(struct batch *b, struct incore_dump_writer *w, const struct log_loss *l)
{
	loss_add(&b->losses, w ? w->thread : 0, l);
	if (!w)
		return;
	atomic_fetch_add_explicit(&w->lost_records, l->records, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->lost_bytes, l->bytes, memory_order_relaxed);
}

static uint32_t cause_of(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG ? LOG_NO_SPACE
								       : LOG_WRITE_ERROR;
}

static void note_error(struct incore_dump_writer *w, int errnum)
{
	int none = 0;

	if (w)
		atomic_compare_exchange_strong(&w->write_error, &none, errnum);
}

void batch_lose_payload(struct batch *b, struct incore_dump_writer *w, uint8_t *record, int errnum)
{
	uint32_t flags = le_get32(record + LOG_AT_FLAGS) & ~(uint32_t)LOG_TRUNCATED;
	struct log_loss l = {.task_id = le_get64(record + LOG_RECORD_HEAD),
		.bytes = le_get64(record + LOG_AT_BIN_SIZE),
		.cause = cause_of(errnum)};

	note_error(w, errnum);
	le_put32(record + LOG_AT_FLAGS, flags | LOG_PAYLOAD_LOST);
	log_set_payload(record, 0, 0, 0);
	batch_count_loss(b, w, &l);
}

/* The payload file is valid up to `good`: marks the records of later payloads as lost. */
static void lose_payloads(struct batch *b, struct incore_dump_writer *w, uint64_t good, int errnum)
{
	size_t kept = 0;

	EACH (struct batch_payload, p, b->payloads.v, b->payloads.n) {
		if (p->at + p->bytes <= good)
			b->payloads.v[kept++] = *p;
		else
			batch_lose_payload(b, w, b->log + p->record, errnum);
	}
	b->payloads.n = kept;
	b->bin_at = kept ? b->payloads.v[kept - 1].at + b->payloads.v[kept - 1].bytes
			 : b->sink->bin_end;
}

static void add_losses(struct batch *b)
{
	struct loss l;

	while (b->log_n + log_record_bytes(LOG_LOSS_BODY) <= BATCH_LOG_BYTES &&
		loss_take(&b->losses, &l))
		b->log_n += log_put_loss(b->log + b->log_n, l.thread, &l.what);
}

/* Counts a record that did not reach the log. */
static void lose_record(
	struct batch *b, struct incore_dump_writer *w, const uint8_t *record, int errnum)
{
	const uint8_t *body = record + LOG_RECORD_HEAD;
	struct log_loss l = {.task_id = le_get64(body), .records = 1, .cause = cause_of(errnum)};

	switch (le_get16(record + 16)) {
	case LOG_TENSOR:
		l.bytes = le_get64(record + LOG_AT_BIN_SIZE);
		batch_count_loss(b, w, &l);
		break;
	case LOG_TASK:
	case LOG_SCALAR:
		batch_count_loss(b, w, &l);
		break;
	case LOG_LOSS: /* already counted: only to be logged again */
		l = (struct log_loss){
			l.task_id, le_get64(body + 8), le_get64(body + 16), le_get32(body + 24)};
		loss_add(&b->losses, le_get16(record + 18), &l);
		break;
	default:
		break;
	}
}

static void count_written(struct incore_dump_writer *w, const uint8_t *record)
{
	uint16_t type = le_get16(record + 16);

	if (!w || (type != LOG_TENSOR && type != LOG_SCALAR))
		return;
	atomic_fetch_add_explicit(&w->records, 1, memory_order_relaxed);
	if (type != LOG_TENSOR)
		return;
	atomic_fetch_add_explicit(
		&w->payload_bytes, le_get64(record + LOG_AT_BIN_SIZE), memory_order_relaxed);
	if (le_get32(record + LOG_AT_FLAGS) & LOG_TRUNCATED)
		atomic_fetch_add_explicit(&w->truncated, 1, memory_order_relaxed);
}

static int write_log(struct batch *b, struct incore_dump_writer *w)
{
	uint64_t seq = b->seq;
	size_t done;
	int rc;

	for (size_t at = 0; at < b->log_n; at += le_get32(b->log + at + 4))
		log_seal(b->log + at, ++seq);
	rc = sink_write_log(b->sink, b->log, b->log_n, &done);
	if (rc)
		note_error(w, rc);
	for (size_t at = 0; at < b->log_n; at += le_get32(b->log + at + 4)) {
		if (at < done) {
			b->seq++;
			count_written(w, b->log + at);
		} else {
			lose_record(b, w, b->log + at, rc);
		}
	}
	for (size_t i = 0; i < b->payloads.n && b->payloads.v[i].record < done; i++)
		b->sink->bin_end = b->payloads.v[i].at + b->payloads.v[i].bytes;
	b->bin_at = b->sink->bin_end;
	return rc;
}

int batch_commit(struct batch *b, struct incore_dump_writer *w)
{
	uint64_t done;
	int rc = 0, log_rc = 0;

	if (b->n_iov) {
		rc = sink_write_bin(b->sink, b->iov, b->n_iov, b->iov_at, &done);
		if (rc)
			lose_payloads(b, w, b->iov_at + done, rc);
	}
	add_losses(b);
	if (b->log_n)
		log_rc = write_log(b, w);
	b->log_n = 0;
	b->n_iov = 0;
	b->iov_bytes = 0;
	b->payloads.n = 0;
	if (w) {
		ring_release(&w->arena, w->arena_taken);
		ring_release(&w->ring, w->taken);
	}
	atomic_fetch_add_explicit(&b->d->progress, 1, memory_order_relaxed);
	return rc ? rc : log_rc;
}
