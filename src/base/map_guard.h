/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_guard.h: guards against mapped files that shrink, or whose disk fails, while being read. The
 * kernel then sends SIGBUS. With the guard installed, such a page reads as zeros from then on and
 * the mapping is marked; code that uses it checks for marks before it delivers a result.
 * The handler is process-wide, so only the program, or a user of the library on request, installs
 * it; without it, files that are not our own are read instead of mapped (file.h).
 * Threads: any.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* False if the handler cannot be set. */
bool map_guard_install(void);
/* Watches a mapping of path from now on. False: not installed, or too many; do not map it. */
bool map_guard_add(void *base, size_t size, const char *path);
/* Stops watching; call it before munmap(), also for mappings not watched. The mark is kept. */
void map_guard_drop(void *base);
/* The number of marks so far: a moment to pass to map_guard_check() later. */
uint64_t map_guard_now(void);
/* Fails if a file whose path begins with `below` was marked after that moment; the error has its
 * name and the first missing byte. */
bool map_guard_check(const char *below, uint64_t since, struct incore_error *e);
/* Fails if this mapping was ever marked. */
bool map_guard_check_map(const void *base, struct incore_error *e);
