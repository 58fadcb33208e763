/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits_internal.h: the queues behind struct waits, shared by waits.c and waits_viewer.c alone.
 */
#pragma once

#include "analysis/waves/waits.h"

struct wait_item {
	uint32_t slice;
	code_idx code;
};

struct wait_queue {
	VEC(struct wait_item) items;
	size_t head;		       /* the oldest outstanding */
	uint64_t raised;	       /* value of the counter */
	uint64_t by_order[AMD_ORDERS]; /* of it, per kind */
};

struct wait_queues {
	struct wait_queue product[AMD_COUNTERS];
	struct wait_queue viewer[AMD_COUNTERS];
	struct wait_queue flat_load, flat_store; /* of the viewer: shared by two counters */
	uint16_t parallel;			 /* of the viewer: counters out of order */
};

/* Appends; a queue that ran empty starts over, so that it does not grow along the track. */
bool wait_queue_push(struct wait_queue *q, uint32_t slice, code_idx code);

void wait_viewer_start(struct wait_queues *q);
/* One record in the viewer's model; *mask gets the classes of all producers of a wait. */
bool wait_viewer_step(struct waits *w, const struct wait_tables *t, const struct walk_track *track,
	uint32_t i, uint8_t *mask);
void wait_viewer_free(struct wait_queues *q);
