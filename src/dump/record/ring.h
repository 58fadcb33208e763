/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h: passes bytes from one thread to another without a lock. Positions only grow; a piece
 * never wraps around the end: what is left there is skipped. Used for records (the consumer finds
 * them by their sizes) and for payload (records carry the positions).
 * Owner: ring_init() maps the memory and touches it, ring_deinit() unmaps it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_LINE 128 /* cache lines are fetched in pairs: padding keeps the two sides apart */

struct ring {
	uint8_t *base;
	uint64_t bytes; /* a power of two */
	/* used by the producer */
	uint8_t pad1[RING_LINE];
	uint64_t head;	    /* end of what is filled, published or not */
	uint64_t tail_seen; /* a copy of tail, possibly outdated */
	_Atomic uint64_t published;
	/* used by the consumer */
	uint8_t pad2[RING_LINE];
	_Atomic uint64_t tail; /* start of what is still needed */
	uint8_t pad3[RING_LINE];
};

bool ring_init(struct ring *r, size_t bytes); /* false on lack of memory */
void ring_deinit(struct ring *r);

/* Bytes to skip so that n of them lie in one piece. */
static inline uint64_t ring_skip(const struct ring *r, uint64_t n)
{
	uint64_t left = r->bytes - (r->head & (r->bytes - 1));

	return n <= left ? 0 : left;
}

/* Producer: are n bytes free after head? */
static inline bool ring_has_room(struct ring *r, uint64_t n)
{
	if (r->bytes - (r->head - r->tail_seen) >= n)
		return true;
	r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	return r->bytes - (r->head - r->tail_seen) >= n;
}

static inline uint8_t *ring_at(const struct ring *r, uint64_t pos)
{
	return r->base + (pos & (r->bytes - 1));
}

/* Producer: everything before head may be read. */
static inline void ring_publish(struct ring *r)
{
	atomic_store_explicit(&r->published, r->head, memory_order_release);
}

/* Consumer: everything before pos may be overwritten. */
static inline void ring_release(struct ring *r, uint64_t pos)
{
	atomic_store_explicit(&r->tail, pos, memory_order_release);
}
