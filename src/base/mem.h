/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h: the only door to malloc. NULL on failure or overflow, never aborts.
 * Fault injection (tests): when built with -Dfault=true, INCORE_FAULT="alloc:N" makes the N-th call
 * fail (also "read:N", "write:N", "open:N"); fault_hit() is a constant false otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum fault_point { FAULT_ALLOC, FAULT_READ, FAULT_WRITE, FAULT_OPEN };

#ifdef INCORE_FAULT_INJECTION
bool fault_hit(enum fault_point point);
#else
static inline bool fault_hit(enum fault_point point)
{
	(void)point;
	return false;
}
#endif

void *mem_alloc(size_t size);			  /* not zeroed */
void *mem_zalloc(size_t n, size_t size);	  /* zeroed, overflow checked */
void *mem_resize(void *p, size_t n, size_t size); /* realloc of n * size, overflow checked */
char *mem_strndup(const char *s, size_t n);
void mem_free(void *p);

/* An allocator that keeps large blocks outside the heap (export/clean/spill.h). */
struct mem_large {
	bool (*is_large)(size_t size);
	void *(*take)(size_t size);	     /* zeroed; NULL: no room */
	bool (*grow)(void **p, size_t size); /* false: not its block; sets *p to NULL: no room */
	bool (*drop)(void *p);		     /* false: not its block */
	void (*trim)(void);
};
/* Uses it from now on; the table must stay. Blocks on the heap stay there until they grow. */
void mem_set_large(const struct mem_large *large);
/* Releases the resident memory of large blocks once it is much; their content stays. */
void mem_trim(void);

#define MEM_STEP 1024u
/* For loops over elements of blocks that may be large: trims at every MEM_STEP-th element. */
static inline void mem_step(size_t i)
{
	if (i % MEM_STEP == MEM_STEP - 1)
		mem_trim();
}
