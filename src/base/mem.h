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
