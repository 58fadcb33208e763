/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h: memory that is freed together. One per trace, per command, per request.
 * Owner: whoever called arena_init(). Nothing from an arena is freed alone.
 * Threads: one arena, one thread at a time. May fail: every allocation, with NULL.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct arena_block;

struct arena {
	struct arena_block *head;
	uint8_t *next, *end; /* free room of the head block */
	size_t total_bytes;  /* handed out by malloc so far */
};

void arena_init(struct arena *a);
void arena_deinit(struct arena *a);
void arena_reset(struct arena *a);			    /* keeps the largest block for reuse */
void *arena_alloc(struct arena *a, size_t size);	    /* 16-byte aligned, not zeroed */
void *arena_zalloc(struct arena *a, size_t n, size_t size); /* zeroed array, overflow checked */
void *arena_memdup(struct arena *a, const void *p, size_t size);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
