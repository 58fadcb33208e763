/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h: open-addressing hash tables. u64_map: 64-bit key -> 64-bit value. intern: string -> dense
 * index. Owner: the holder calls *_deinit. Iteration order is unspecified: sort before printing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct u64_map {
	uint64_t *keys, *values;
	uint8_t *used;
	size_t n, cap;
};

void u64_map_deinit(struct u64_map *m);
/* The value slot of key, made (as 0) if absent; NULL on lack of memory. Valid until the next
 * u64_map_at. */
uint64_t *u64_map_at(struct u64_map *m, uint64_t key);
/* The value slot of key, or NULL if absent. */
uint64_t *u64_map_find(const struct u64_map *m, uint64_t key);
/* Walks all entries: start with *pos = 0; false at the end. */
bool u64_map_next(const struct u64_map *m, size_t *pos, uint64_t *key, uint64_t *value);

#define INTERN_NONE UINT32_MAX

struct intern {
	struct arena arena;
	struct str *strs; /* by index, in order of first use */
	uint32_t n, cap;
	uint32_t *slots; /* hash -> index + 1 */
	uint32_t slots_cap;
};

void intern_init(struct intern *in);
void intern_deinit(struct intern *in);
/* Index of s (copied in on first sight); INTERN_NONE on lack of memory. The copy ends in NUL. */
uint32_t intern_add(struct intern *in, struct str s);
/* Index of s or INTERN_NONE. */
uint32_t intern_find(const struct intern *in, struct str s);
