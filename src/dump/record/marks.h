/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.h: which arguments were selected, by full task id. Any thread may mark (a lock serialises
 * them) and look up (without a lock). Owner: the dump.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MARKS_ALL UINT64_MAX /* every slot, also those above 63 */

struct dump_mark {
	_Atomic uint64_t task_id;
	_Atomic uint64_t slots; /* bit per slot; 0: the entry is free */
};

struct marks {
	pthread_mutex_t lock;
	struct dump_mark *table;
	uint32_t places; /* a power of two, at least twice `most` */
	uint32_t n, most;
};

bool marks_init(struct marks *m, uint32_t most);
void marks_deinit(struct marks *m);
/* False when the table is full. */
bool marks_add(struct marks *m, uint64_t task_id, uint64_t slots);
/* Marked slots of a task; 0: no slot is marked. */
uint64_t marks_of(const struct marks *m, uint64_t task_id);

static inline bool marks_has(uint64_t slots, uint32_t slot)
{
	return slots == MARKS_ALL || (slot < 64 && slots >> slot & 1);
}
