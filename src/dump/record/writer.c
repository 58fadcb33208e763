/* SPDX-License-Identifier: Apache-2.0 */
/* writer.c: the recording thread's side: room in the rings, losses, flush. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "dump/record/log_write.h"
#include "dump/record/producer.h"

#define POLL_NS 20000 /* between checks of a full ring */

struct timespec deadline_in(uint32_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

static bool deadline_is_over(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

bool writer_wait(struct incore_dump_writer *w, struct ring *r, uint64_t n, uint32_t ms)
{
	struct timespec pause = {.tv_nsec = POLL_NS}, until;

	if (ring_has_room(r, n))
		return true;
	if (n > r->bytes || ms == 0) {
		dump_wake(w->dump);
		return false;
	}
	until = deadline_in(ms);
	while (!ring_has_room(r, n)) {
		if (deadline_is_over(&until))
			return false;
		dump_wake(w->dump);
		nanosleep(&pause, NULL);
	}
	return true;
}

uint8_t *writer_entry(struct incore_dump_writer *w, uint32_t size, uint32_t ms)
{
	struct ring *r = &w->ring;
	uint64_t skip = ring_skip(r, size);
	struct ring_entry *e;

	if (!ring_has_room(r, skip + size) && !writer_wait(w, r, skip + size, ms))
		return NULL;
	if (skip) {
		e = (struct ring_entry *)ring_at(r, r->head);
		*e = (struct ring_entry){(uint32_t)skip, ENTRY_SKIP};
		r->head += skip;
	}
	e = (struct ring_entry *)ring_at(r, r->head);
	e->size = size;
	r->head += size;
	return (uint8_t *)e;
}

void writer_publish(struct incore_dump_writer *w)
{
	struct ring *r = &w->ring, *a = &w->arena;

	ring_publish(r);
	/* an outdated tail makes it look fuller than it is: check again */
	if (r->head - r->tail_seen < r->bytes / 4 && a->head - a->tail_seen < a->bytes / 4)
		return;
	r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	a->tail_seen = atomic_load_explicit(&a->tail, memory_order_acquire);
	if (r->head - r->tail_seen >= r->bytes / 4 || a->head - a->tail_seen >= a->bytes / 4)
		dump_wake(w->dump);
}

bool writer_tell_losses(struct incore_dump_writer *w, uint32_t ms)
{
	uint32_t size = (uint32_t)sizeof(struct ring_entry) + log_record_bytes(LOG_LOSS_BODY);
	struct loss l;

	while (!loss_is_empty(&w->losses)) {
		struct ring_entry *e = (struct ring_entry *)writer_entry(w, size, ms);

		if (!e)
			return false;
		loss_take(&w->losses, &l);
		e->kind = ENTRY_RECORD;
		log_put_loss((uint8_t *)(e + 1), w->thread, &l.what);
		writer_publish(w);
	}
	return true;
}

void writer_free(struct incore_dump_writer *w)
{
	if (!w)
		return;
	ring_deinit(&w->ring);
	ring_deinit(&w->arena);
	loss_deinit(&w->losses);
	mem_free(w);
}

static struct incore_dump_writer *writer_new(struct incore_dump *d)
{
	struct incore_dump_writer *w = mem_zalloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->dump = d;
	if (d->o.level == INCORE_DUMP_OFF)
		return w;
	if (ring_init(&w->ring, d->o.ring_bytes) && ring_init(&w->arena, d->o.arena_bytes))
		return w;
	writer_free(w);
	return NULL;
}

int incore_dump_attach(struct incore_dump *d, struct incore_dump_writer **out)
{
	struct incore_dump_writer *w;
	uint32_t n;
	int rc = 0;

	if (!d || !out)
		return EINVAL;
	if (!dump_is_ours(d))
		return ECHILD;
	w = writer_new(d);
	if (!w)
		return ENOMEM;
	pthread_mutex_lock(&d->lock);
	n = atomic_load_explicit(&d->n_writers, memory_order_relaxed);
	if (n < d->o.max_writers) {
		w->thread = (uint16_t)n;
		d->writers[n] = w;
		atomic_store_explicit(&d->n_writers, n + 1, memory_order_release);
	} else {
		rc = EMFILE;
	}
	pthread_mutex_unlock(&d->lock);
	if (rc)
		writer_free(w);
	else
		*out = w;
	return rc;
}

void incore_dump_detach(struct incore_dump_writer *w)
{
	if (w && dump_is_ours(w->dump))
		atomic_store_explicit(&w->is_detached, true, memory_order_release);
}

/* Waits until the collector has answered request n. */
static int wait_answer(struct incore_dump *d, _Atomic uint64_t *which, uint64_t n)
{
	struct timespec until = deadline_in(d->o.flush_ms);
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	pthread_cond_signal(&d->wake);
	while (atomic_load(which) < n && rc == 0)
		rc = pthread_cond_timedwait(&d->done, &d->lock, &until);
	rc = atomic_load(which) < n ? ETIMEDOUT : 0;
	pthread_mutex_unlock(&d->lock);
	return rc;
}

int incore_dump_flush(struct incore_dump_writer *w)
{
	uint32_t size = (uint32_t)sizeof(struct payload_entry) + log_record_bytes(4);
	struct payload_entry *e;
	int rc;

	if (!w)
		return EINVAL;
	if (!dump_is_ours(w->dump))
		return ECHILD;
	if (w->dump->o.level == INCORE_DUMP_OFF)
		return 0;
	if (!writer_tell_losses(w, w->dump->o.flush_ms))
		return ETIMEDOUT;
	e = (struct payload_entry *)writer_entry(w, size, w->dump->o.flush_ms);
	if (!e)
		return ETIMEDOUT;
	e->head.kind = ENTRY_FLUSH;
	e->at = ++w->flush_asked;
	log_put_flush((uint8_t *)(e + 1), w->thread, w->thread);
	writer_publish(w);
	atomic_fetch_add(&w->dump->flushes_asked, 1);
	rc = wait_answer(w->dump, &w->flush_done, w->flush_asked);
	return rc ? rc : atomic_load(&w->write_error);
}

int incore_dump_flush_all(struct incore_dump *d)
{
	uint64_t asked;
	uint32_t n;
	int rc;

	if (!d)
		return EINVAL;
	if (!dump_is_ours(d))
		return ECHILD;
	if (d->o.level == INCORE_DUMP_OFF)
		return 0;
	pthread_mutex_lock(&d->lock);
	asked = atomic_fetch_add(&d->all_asked, 1) + 1;
	atomic_fetch_add(&d->flushes_asked, 1);
	pthread_mutex_unlock(&d->lock);
	rc = wait_answer(d, &d->all_done, asked);
	n = atomic_load_explicit(&d->n_writers, memory_order_acquire);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = atomic_load(&d->writers[i]->write_error);
	return rc;
}
