/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collector.c: the thread that writes what recording threads published. Parts: a batch; the
 * collector.
 */
#include <errno.h>
#include <time.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/vec.h"
#include "dump/le.h"
#include "dump/record/log_write.h"
#include "dump/record/producer.h"

#define BATCH_LOG_BYTES ((size_t)1 << 20)
#define BATCH_BIN_BYTES ((uint64_t)1 << 20) /* stays in the cache between checksum and write */
#define BATCH_IOV 256

struct batch_payload {
	uint64_t at, bytes; /* in the payload file */
	size_t record;	    /* its record, in the log buffer */
};

struct dump_batch {
	struct incore_dump *d;
	struct dump_sink *sink;
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

/* --- a batch ---------------------------------------------------------------------------------- */

/*
 * Writes payload to its file, then the records that refer to it to the log.
 */

#define LOSS_ROOM 8192 /* bytes of the log buffer reserved for LOSS records */

static bool batch_init(struct dump_batch *b, struct incore_dump *d)
{
	*b = (struct dump_batch){.d = d, .sink = &d->sink};
	b->log = mem_alloc(BATCH_LOG_BYTES);
	return b->log != NULL;
}

static void batch_deinit(struct dump_batch *b)
{
	loss_deinit(&b->losses);
	VEC_FREE(&b->payloads);
	mem_free(b->log);
}

/* True if a record and payload of this size do not fit: commit first. */
static bool batch_is_full(const struct dump_batch *b, uint32_t record_bytes, uint64_t payload_bytes)
{
	return b->log_n + record_bytes > BATCH_LOG_BYTES - LOSS_ROOM ||
	       (payload_bytes && b->n_iov == BATCH_IOV) ||
	       (b->iov_bytes && b->iov_bytes + payload_bytes > BATCH_BIN_BYTES);
}

/* Appends a copy of the record and returns it. */
static uint8_t *batch_add(struct dump_batch *b, const uint8_t *record, uint32_t size)
{
	uint8_t *p = b->log + b->log_n;

	memcpy(p, record, size);
	b->log_n += size;
	return p;
}

static bool note_payload(struct dump_batch *b, uint8_t *record, uint64_t n, uint32_t crc)
{
	struct batch_payload p = {b->bin_at, n, (size_t)(record - b->log)};

	if (!VEC_PUSH(&b->payloads, p))
		return false;
	log_set_payload(record, b->bin_at, n, crc);
	b->bin_at += n;
	return true;
}

/* The record added last has this payload, which stays where it is until the commit. */
static bool batch_add_payload(struct dump_batch *b, uint8_t *record, const uint8_t *p, uint64_t n)
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

/* The record added last has n bytes of payload at bin_at, already written. */
static bool batch_add_written(struct dump_batch *b, uint8_t *record, uint64_t n, uint32_t crc)
{
	return note_payload(b, record, n, crc);
}

static void batch_count_loss(
	struct dump_batch *b, struct incore_dump_writer *w, const struct log_loss *l)
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

static void batch_note_error(struct incore_dump_writer *w, int errnum)
{
	int none = 0;

	if (w)
		atomic_compare_exchange_strong(&w->write_error, &none, errnum);
}

/* The record added last lost its payload. */
static void batch_lose_payload(
	struct dump_batch *b, struct incore_dump_writer *w, uint8_t *record, int errnum)
{
	uint32_t flags = le_get32(record + LOG_AT_FLAGS) & ~(uint32_t)LOG_TRUNCATED;
	struct log_loss l = {.task_id = le_get64(record + LOG_RECORD_HEAD),
		.bytes = le_get64(record + LOG_AT_BIN_SIZE),
		.cause = cause_of(errnum)};

	batch_note_error(w, errnum);
	le_put32(record + LOG_AT_FLAGS, flags | LOG_PAYLOAD_LOST);
	log_set_payload(record, 0, 0, 0);
	batch_count_loss(b, w, &l);
}

/* The payload file is valid up to `good`: marks the records of later payloads as lost. */
static void lose_payloads(
	struct dump_batch *b, struct incore_dump_writer *w, uint64_t good, int errnum)
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

static void add_losses(struct dump_batch *b)
{
	struct loss l;

	while (b->log_n + log_record_bytes(LOG_LOSS_BODY) <= BATCH_LOG_BYTES &&
		loss_take(&b->losses, &l))
		b->log_n += log_put_loss(b->log + b->log_n, l.thread, &l.what);
}

/* Counts a record that did not reach the log. */
static void lose_record(
	struct dump_batch *b, struct incore_dump_writer *w, const uint8_t *record, int errnum)
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

static int write_log(struct dump_batch *b, struct incore_dump_writer *w)
{
	uint64_t seq = b->seq;
	size_t done;
	int rc;

	for (size_t at = 0; at < b->log_n; at += le_get32(b->log + at + 4))
		log_seal(b->log + at, ++seq);
	rc = sink_write_log(b->sink, b->log, b->log_n, &done);
	if (rc)
		batch_note_error(w, rc);
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

/* Writes and empties the batch. w: writer that it belongs to; NULL: the collector itself. Returns 0
 * or the first error. */
static int batch_commit(struct dump_batch *b, struct incore_dump_writer *w)
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

/* --- the collector ---------------------------------------------------------------------------- */

/*
 * The thread that empties the rings into the files.
 */

#define CHUNK_BYTES ((uint64_t)1 << 20) /* piece of a large payload: checksum, then write */
#define IDLE_MS 100 /* delay for data that fills less than a quarter of a ring */
#define STREAM_IDLE_MS 1

struct dump_collector {
	struct dump_batch batch;
	struct incore_dump *d;
};

struct dump_collector *collector_new(struct incore_dump *d)
{
	struct dump_collector *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->d = d;
	if (batch_init(&c->batch, d))
		return c;
	mem_free(c);
	return NULL;
}

void collector_free(struct dump_collector *c)
{
	if (!c)
		return;
	batch_deinit(&c->batch);
	mem_free(c);
}

/* Sleeps until data or a flush needs it, or the time is over. */
static void idle(struct incore_dump *d, uint32_t ms)
{
	struct timespec until = deadline_in(ms);

	pthread_mutex_lock(&d->lock);
	atomic_store(&d->is_asleep, true);
	if (atomic_load(&d->flushes_asked) == atomic_load(&d->flushes_done) &&
		!atomic_load(&d->is_closing) && !atomic_load(&d->is_wanted))
		pthread_cond_timedwait(&d->wake, &d->lock, &until);
	atomic_store(&d->is_asleep, false);
	pthread_mutex_unlock(&d->lock);
}

static void report_done(
	struct incore_dump *d, _Atomic uint64_t *which, uint64_t n, uint64_t answered)
{
	pthread_mutex_lock(&d->lock);
	atomic_store(which, n);
	atomic_fetch_add(&d->flushes_done, answered);
	pthread_cond_broadcast(&d->done);
	pthread_mutex_unlock(&d->lock);
}

/* Writes n bytes after those of the batch, which must have no payload pending. */
static int write_direct(
	struct dump_collector *c, const uint8_t *p, uint64_t n, uint64_t at, uint32_t *crc)
{
	uint64_t done;
	int rc = 0;

	while (n > 0 && rc == 0) {
		uint64_t k = n < CHUNK_BYTES ? n : CHUNK_BYTES;
		struct iovec iov = {(void *)(uintptr_t)p, k};

		*crc = crc32c(*crc, p, k);
		rc = sink_write_bin(c->batch.sink, &iov, 1, at, &done);
		p += k;
		at += k;
		n -= k;
	}
	return rc;
}

/* Takes a tensor and its payload in one piece. */
static void take_payload(struct dump_collector *c, struct incore_dump_writer *w,
	const struct payload_entry *e, const uint8_t *record, uint32_t size)
{
	struct dump_batch *b = &c->batch;
	const uint8_t *p = ring_at(&w->arena, e->at);
	uint32_t crc = 0;
	uint8_t *copy;
	int rc = 0;

	if (batch_is_full(b, size, e->bytes) || e->bytes > BATCH_BIN_BYTES)
		batch_commit(b, w);
	if (e->bytes > BATCH_BIN_BYTES)
		rc = write_direct(c, p, e->bytes, b->bin_at, &crc);
	copy = batch_add(b, record, size);
	if (rc == 0 && e->bytes > BATCH_BIN_BYTES)
		rc = batch_add_written(b, copy, e->bytes, crc) ? 0 : ENOMEM;
	else if (rc == 0)
		rc = batch_add_payload(b, copy, p, e->bytes) ? 0 : ENOMEM;
	if (rc)
		batch_lose_payload(b, w, copy, rc);
	w->arena_taken = e->arena_end;
}

static void dump_collector_take_piece(
	struct dump_collector *c, struct incore_dump_writer *w, const struct payload_entry *e)
{
	struct dump_batch *b = &c->batch;

	if (!w->in_stream) {
		batch_commit(b, w);
		w->in_stream = true;
		w->stream_bytes = 0;
		w->stream_crc = 0;
		w->stream_error = 0;
	}
	if (!w->stream_error)
		w->stream_error = write_direct(c, ring_at(&w->arena, e->at), e->bytes,
			b->bin_at + w->stream_bytes, &w->stream_crc);
	w->stream_bytes += e->bytes;
	w->arena_taken = e->arena_end;
	ring_release(&w->arena, w->arena_taken);
}

static void take_last(struct dump_collector *c, struct incore_dump_writer *w, const uint8_t *record,
	uint32_t size)
{
	struct dump_batch *b = &c->batch;
	uint8_t *copy = batch_add(b, record, size);
	int rc = w->stream_error;

	w->in_stream = false;
	if (rc == 0 && !batch_add_written(b, copy, w->stream_bytes, w->stream_crc))
		rc = ENOMEM;
	if (rc)
		batch_lose_payload(b, w, copy, rc);
	batch_commit(b, w);
}

static void take_flush(struct dump_collector *c, struct incore_dump_writer *w,
	const struct payload_entry *e, const uint8_t *record, uint32_t size)
{
	struct dump_batch *b = &c->batch;
	int rc, none = 0;

	if (batch_is_full(b, size, 0))
		batch_commit(b, w);
	batch_add(b, record, size);
	rc = batch_commit(b, w);
	if (rc == 0 && c->d->o.sync)
		rc = sink_sync(b->sink);
	if (rc)
		atomic_compare_exchange_strong(&w->write_error, &none, rc);
	report_done(c->d, &w->flush_done, e->at, 1);
}

static void take_entry(
	struct dump_collector *c, struct incore_dump_writer *w, const struct ring_entry *entry)
{
	const struct payload_entry *e = (const struct payload_entry *)entry;
	const uint8_t *behind = (const uint8_t *)(e + 1);
	uint32_t size = entry->size - (uint32_t)sizeof(*e);

	switch (entry->kind) {
	case ENTRY_RECORD:
		size = entry->size - (uint32_t)sizeof(*entry);
		if (batch_is_full(&c->batch, size, 0))
			batch_commit(&c->batch, w);
		batch_add(&c->batch, (const uint8_t *)(entry + 1), size);
		break;
	case ENTRY_PAYLOAD:
		take_payload(c, w, e, behind, size);
		break;
	case ENTRY_PIECE:
		dump_collector_take_piece(c, w, e);
		break;
	case ENTRY_LAST:
		take_last(c, w, behind, size);
		break;
	case ENTRY_FLUSH:
		take_flush(c, w, e, behind, size);
		break;
	default:
		break;
	}
}

/* Takes everything that the writer had published at the start; waits for the rest of a stream. */
static void dump_collector_drain(struct dump_collector *c, struct incore_dump_writer *w)
{
	uint64_t end = atomic_load_explicit(&w->ring.published, memory_order_acquire);
	bool has_worked = w->taken != end;

	while (w->taken != end || w->in_stream) {
		const struct ring_entry *entry =
			(const struct ring_entry *)ring_at(&w->ring, w->taken);

		if (w->taken == end) {
			/* in this order, so that everything published before the close is seen */
			bool is_closing = atomic_load(&c->d->is_closing);

			atomic_store(&c->d->is_wanted, false);
			end = atomic_load_explicit(&w->ring.published, memory_order_acquire);
			if (w->taken == end && is_closing) { /* its thread died */
				w->in_stream = false;
				break;
			}
			if (w->taken == end) {
				ring_release(&w->ring, w->taken);
				idle(c->d, STREAM_IDLE_MS);
			}
			continue;
		}
		take_entry(c, w, entry);
		w->taken += entry->size;
	}
	if (has_worked)
		batch_commit(&c->batch, w);
}

static void drain_all(struct dump_collector *c)
{
	uint32_t n = atomic_load_explicit(&c->d->n_writers, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		struct incore_dump_writer *w = c->d->writers[i];
		bool is_detached = atomic_load_explicit(&w->is_detached, memory_order_acquire);

		if (w->is_released)
			continue;
		dump_collector_drain(c, w);
		if (is_detached) {
			loss_move(&c->batch.losses, &w->losses);
			ring_deinit(&w->ring);
			ring_deinit(&w->arena);
			w->is_released = true;
		}
	}
}

static void finish_flush_all(struct dump_collector *c, uint64_t asked)
{
	uint64_t done = atomic_load(&c->d->all_done);
	uint32_t n = atomic_load_explicit(&c->d->n_writers, memory_order_acquire);
	uint8_t record[64];
	int rc;

	batch_add(&c->batch, record, log_put_flush(record, 0, LOG_ALL_THREADS));
	rc = batch_commit(&c->batch, NULL);
	if (rc == 0 && c->d->o.sync)
		rc = sink_sync(c->batch.sink);
	for (uint32_t i = 0; rc && i < n; i++) {
		int none = 0;

		atomic_compare_exchange_strong(&c->d->writers[i]->write_error, &none, rc);
	}
	report_done(c->d, &c->d->all_done, asked, asked - done);
}

/* Called when everything is drained and nobody records any more: writes the last losses, then the
 * CLOSE record. */
static int dump_collector_finish(struct dump_collector *c)
{
	struct dump_batch *b = &c->batch;
	uint32_t n = atomic_load_explicit(&c->d->n_writers, memory_order_acquire);
	uint8_t record[64];
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		loss_move(&b->losses, &c->d->writers[i]->losses);
	loss_move(&b->losses, &c->d->marks_lost);
	while (rc == 0 && !loss_is_empty(&b->losses))
		rc = batch_commit(b, NULL);
	if (rc == 0) {
		batch_add(b, record, log_put_close(record));
		rc = batch_commit(b, NULL);
	}
	if (rc == 0)
		rc = sink_trim(b->sink);
	if (rc == 0 && c->d->o.sync)
		rc = sink_sync(b->sink);
	return rc;
}

void *collector_main(void *arg)
{
	struct incore_dump *d = arg;
	struct dump_collector *c = d->collector;
	int rc;

	for (;;) {
		bool is_closing = atomic_load(&d->is_closing);
		uint64_t asked = atomic_load(&d->all_asked);

		/* before checking the rings: whoever fills one later requests again */
		atomic_store(&d->is_wanted, false);
		drain_all(c);
		if (asked != atomic_load(&d->all_done))
			finish_flush_all(c, asked);
		else if (is_closing)
			break;
		else
			idle(d, IDLE_MS);
	}
	rc = dump_collector_finish(c);
	pthread_mutex_lock(&d->lock);
	d->close_error = rc;
	d->is_finished = true;
	pthread_cond_broadcast(&d->done);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}
