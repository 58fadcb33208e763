/* SPDX-License-Identifier: Apache-2.0 */
/*
 * producer.h: internals of libincore-dump. A writer is the recording thread's end of two rings:
 * records and payload. The collector thread empties them into the sink, one batch of one writer at
 * a time: it writes payload first, then the log records that name it, then releases the room.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "dump/loss.h"
#include "dump/record/marks.h"
#include "dump/record/ring.h"
#include "dump/record/sink.h"
#include "incore/dump.h"

#define ARENA_ALIGN 64 /* each copy starts on its own line; dense if sizes are multiples of it */

/* Entries of a record ring. The log record follows, without its number, payload and checksum. */
enum entry_kind {
	ENTRY_SKIP = 1,	   /* skips to the end of the ring */
	ENTRY_RECORD = 2,  /* a log record alone */
	ENTRY_PAYLOAD = 3, /* a tensor with payload */
	ENTRY_PIECE = 4,   /* a part of a payload that is larger than the arena; no log record */
	ENTRY_LAST = 5,	   /* a tensor whose payload was the pieces before it */
	ENTRY_FLUSH = 6,   /* a FLUSH record; `at` is the number of the request */
};

struct ring_entry {
	uint32_t size; /* record included */
	uint32_t kind;
};

struct payload_entry { /* PAYLOAD, PIECE, LAST, FLUSH */
	struct ring_entry head;
	uint64_t at, bytes; /* in the arena */
	uint64_t arena_end; /* the arena up to here is free once this is written */
};

struct incore_dump_writer {
	struct incore_dump *dump;
	uint16_t thread;
	struct ring ring, arena;
	/* used by the recording thread */
	struct loss_table losses; /* losses for which the ring had no room */
	uint64_t flush_asked;
	char why[128];
	_Atomic uint64_t dropped_records, dropped_bytes;
	/* used by the collector */
	uint8_t pad[RING_LINE];
	_Atomic uint64_t flush_done; /* under dump->lock */
	_Atomic uint64_t records, payload_bytes, truncated, lost_records, lost_bytes;
	atomic_int write_error; /* the first */
	uint64_t taken;		/* bytes of the ring used by the batch not yet written */
	uint64_t arena_taken;
	bool in_stream; /* between the first PIECE and LAST */
	uint64_t stream_bytes;
	uint32_t stream_crc;
	int stream_error;
	bool is_released;
	atomic_bool is_detached;
	uint8_t pad_end[RING_LINE]; /* the next writer belongs to another thread */
};

struct dump_collector;

struct incore_dump {
	struct incore_dump_options o;
	uint32_t born; /* dump_forks when it was opened */
	char *dir;     /* absolute */
	struct dump_sink sink;
	struct marks marks;
	struct loss_table marks_lost; /* under marks.lock */
	struct dump_collector *collector;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;	     /* for the collector; by the collector */
	struct incore_dump_writer **writers; /* [o.max_writers] */
	_Atomic uint32_t n_writers;
	uint8_t pad[RING_LINE]; /* fields above are read for each record, those below change */
	atomic_bool is_asleep, is_closing;
	atomic_bool is_wanted;			      /* a ring fills up: do not sleep */
	_Atomic uint64_t all_asked, all_done;	      /* flushes of all; changed under lock */
	_Atomic uint64_t flushes_asked, flushes_done; /* of any kind: a reason not to sleep */
	_Atomic uint64_t progress;		      /* batches written */
	bool is_finished;			      /* under lock */
	int close_error;
};

/* Number of forks between the first process and this one; dump.c counts them. A child of fork() has
 * no collector, and its locks and rings are in whatever state they were in. */
extern _Atomic uint32_t dump_forks;

/* Was the dump opened by this process? If not, it belongs to a parent and is left alone. */
static inline bool dump_is_ours(const struct incore_dump *d)
{
	return d->born == atomic_load_explicit(&dump_forks, memory_order_relaxed);
}

/* Requests the collector. The first request wakes it; until then it leaves the processors to the
 * recording threads. */
static inline void dump_wake(struct incore_dump *d)
{
	if (!atomic_load_explicit(&d->is_wanted, memory_order_relaxed))
		atomic_store(&d->is_wanted, true);
	if (!atomic_load(&d->is_asleep) || !atomic_exchange(&d->is_asleep, false))
		return;
	pthread_mutex_lock(&d->lock);
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
}

/* Milliseconds from now, for pthread_cond_timedwait() (CLOCK_MONOTONIC). */
struct timespec deadline_in(uint32_t ms);

/* Waits up to ms until n bytes of the ring are free. */
bool writer_wait(struct incore_dump_writer *w, struct ring *r, uint64_t n, uint32_t ms);
/* Room for an entry, or NULL; published by writer_publish(). */
uint8_t *writer_entry(struct incore_dump_writer *w, uint32_t size, uint32_t ms);
void writer_publish(struct incore_dump_writer *w);
/* Writes losses for which the ring had no room before; false if there is still no room. */
bool writer_tell_losses(struct incore_dump_writer *w, uint32_t ms);
void writer_free(struct incore_dump_writer *w);

struct dump_collector *collector_new(struct incore_dump *d);
void collector_free(struct dump_collector *c);
void *collector_main(void *arg); /* thread function; arg: the dump */
