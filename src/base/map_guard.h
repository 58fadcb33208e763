/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_guard.h: mapped files that shrink, or whose disk fails, while they are read. The kernel then
 * sends SIGBUS. With the guard installed such a page reads as zeros from there on and the mapping
 * is marked; whoever answers from it asks for marks before the answer leaves.
 * The handler belongs to the process, so only the program, or a user of the library who says so,
 * installs it; without it files of others are read instead of mapped (file.h).
 * Threads: any.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* False where the handler cannot be set. */
bool map_guard_install(void);
/* Watches a mapping of path from now on. False: not installed, or too many; do not map it. */
bool map_guard_add(void *base, size_t size, const char *path);
/* Before munmap(); also of what is not watched. Its mark is kept. */
void map_guard_drop(void *base);
/* Counts marks: a moment to give to map_guard_check() later. */
uint64_t map_guard_now(void);
/* Was a file whose path begins with `below` marked after that moment? Then false, with its name
 * and the first byte that was not there. */
bool map_guard_check(const char *below, uint64_t since, struct incore_error *e);
/* The same of one mapping, at any time. */
bool map_guard_check_map(const void *base, struct incore_error *e);
