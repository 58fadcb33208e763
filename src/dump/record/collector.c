/* SPDX-License-Identifier: Apache-2.0 */
/* collector.c: the thread that empties the rings into the files. */
#include <errno.h>
#include <time.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "dump/le.h"
#include "dump/record/batch.h"
#include "dump/record/log_write.h"

#define CHUNK_BYTES ((uint64_t)1 << 20) /* piece of a large payload: checksum, then write */
#define IDLE_MS 100 /* delay for data that fills less than a quarter of a ring */
#define STREAM_IDLE_MS 1

struct collector {
	struct batch batch;
	struct incore_dump *d;
};

struct collector *collector_new(struct incore_dump *d)
{
	struct collector *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->d = d;
	if (batch_init(&c->batch, d))
		return c;
	mem_free(c);
	return NULL;
}

void collector_free(struct collector *c)
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
	struct collector *c, const uint8_t *p, uint64_t n, uint64_t at, uint32_t *crc)
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
static void take_payload(struct collector *c, struct incore_dump_writer *w,
	const struct payload_entry *e, const uint8_t *record, uint32_t size)
{
	struct batch *b = &c->batch;
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

static void take_piece(
	struct collector *c, struct incore_dump_writer *w, const struct payload_entry *e)
{
	struct batch *b = &c->batch;

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

static void take_last(
	struct collector *c, struct incore_dump_writer *w, const uint8_t *record, uint32_t size)
{
	struct batch *b = &c->batch;
	uint8_t *copy = batch_add(b, record, size);
	int rc = w->stream_error;

	w->in_stream = false;
	if (rc == 0 && !batch_add_written(b, copy, w->stream_bytes, w->stream_crc))
		rc = ENOMEM;
	if (rc)
		batch_lose_payload(b, w, copy, rc);
	batch_commit(b, w);
}

static void take_flush(struct collector *c, struct incore_dump_writer *w,
	const struct payload_entry *e, const uint8_t *record, uint32_t size)
{
	struct batch *b = &c->batch;
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

static void take_entry(struct collector *c, struct incore_dump_writer *w, const struct entry *entry)
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
		take_piece(c, w, e);
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
static void drain(struct collector *c, struct incore_dump_writer *w)
{
	uint64_t end = atomic_load_explicit(&w->ring.published, memory_order_acquire);
	bool has_worked = w->taken != end;

	while (w->taken != end || w->in_stream) {
		const struct entry *entry = (const struct entry *)ring_at(&w->ring, w->taken);

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

static void drain_all(struct collector *c)
{
	uint32_t n = atomic_load_explicit(&c->d->n_writers, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		struct incore_dump_writer *w = c->d->writers[i];
		bool is_detached = atomic_load_explicit(&w->is_detached, memory_order_acquire);

		if (w->is_released)
			continue;
		drain(c, w);
		if (is_detached) {
			loss_move(&c->batch.losses, &w->losses);
			ring_deinit(&w->ring);
			ring_deinit(&w->arena);
			w->is_released = true;
		}
	}
}

static void finish_flush_all(struct collector *c, uint64_t asked)
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
static int finish(struct collector *c)
{
	struct batch *b = &c->batch;
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
	struct collector *c = d->collector;
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
	rc = finish(c);
	pthread_mutex_lock(&d->lock);
	d->close_error = rc;
	d->is_finished = true;
	pthread_cond_broadcast(&d->done);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}
