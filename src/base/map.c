/* SPDX-License-Identifier: Apache-2.0 */
/* map.c: open addressing with linear probing, at most 3/4 full, never shrinking. */
#include "base/map.h"

#include <assert.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"

void u64_map_deinit(struct u64_map *m)
{
	mem_free(m->keys);
	mem_free(m->values);
	mem_free(m->used);
	*m = (struct u64_map){0};
}

/* Slot of key, or the free slot where it belongs. The table has at least one free slot. */
static size_t map_slot(const struct u64_map *m, uint64_t key)
{
	size_t i = (size_t)hash_mix64(key) & (m->cap - 1);

	while (m->used[i] && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static bool map_grow(struct u64_map *m)
{
	struct u64_map big = {.cap = m->cap ? m->cap * 2 : 16, .n = m->n};

	big.keys = mem_zalloc(big.cap, sizeof(*big.keys));
	big.values = mem_zalloc(big.cap, sizeof(*big.values));
	big.used = mem_zalloc(big.cap, sizeof(*big.used));
	if (!big.keys || !big.values || !big.used) {
		u64_map_deinit(&big);
		return false;
	}
	for (size_t i = 0; i < m->cap; i++) {
		size_t at;

		if (!m->used[i])
			continue;
		at = map_slot(&big, m->keys[i]);
		big.used[at] = 1;
		big.keys[at] = m->keys[i];
		big.values[at] = m->values[i];
	}
	u64_map_deinit(m);
	*m = big;
	return true;
}

uint64_t *u64_map_at(struct u64_map *m, uint64_t key)
{
	size_t i;

	if (m->n >= m->cap / 4 * 3) {
		uint64_t *there = u64_map_find(m, key);

		if (there)
			return there;
		if (!map_grow(m))
			return NULL;
	}
	i = map_slot(m, key);
	if (!m->used[i]) {
		m->used[i] = 1;
		m->keys[i] = key;
		m->values[i] = 0;
		m->n++;
	}
	return &m->values[i];
}

uint64_t *u64_map_find(const struct u64_map *m, uint64_t key)
{
	size_t i;

	if (!m->n)
		return NULL;
	assert(m->values);
	i = map_slot(m, key);
	return m->used[i] ? &m->values[i] : NULL;
}

bool u64_map_next(const struct u64_map *m, size_t *pos, uint64_t *key, uint64_t *value)
{
	while (*pos < m->cap && !m->used[*pos])
		++*pos;
	if (*pos >= m->cap)
		return false;
	*key = m->keys[*pos];
	*value = m->values[*pos];
	++*pos;
	return true;
}

void intern_init(struct intern *in)
{
	*in = (struct intern){0};
	arena_init(&in->arena);
}

void intern_deinit(struct intern *in)
{
	arena_deinit(&in->arena);
	mem_free(in->strs);
	mem_free(in->slots);
	*in = (struct intern){0};
}

static uint32_t intern_slot(const struct intern *in, struct str s)
{
	uint32_t i = (uint32_t)hash_bytes(s.p, s.n, 0) & (in->slots_cap - 1);

	while (in->slots[i] && !str_eq(in->strs[in->slots[i] - 1], s))
		i = (i + 1) & (in->slots_cap - 1);
	return i;
}

static bool intern_grow(struct intern *in)
{
	uint32_t cap = in->slots_cap ? in->slots_cap * 2 : 64;
	uint32_t *old = in->slots;
	uint32_t *slots;
	struct str *strs;

	if (in->slots_cap > UINT32_MAX / 4)
		return false;
	/* room for as many strings as the slots will hold before the next growth */
	strs = mem_resize(in->strs, cap, sizeof(*strs));
	if (!strs)
		return false;
	in->strs = strs;
	in->cap = cap;
	slots = mem_zalloc(cap, sizeof(*slots));
	if (!slots)
		return false;
	in->slots = slots;
	in->slots_cap = cap;
	for (uint32_t k = 0; k < in->n; k++)
		slots[intern_slot(in, in->strs[k])] = k + 1;
	mem_free(old);
	return true;
}

uint32_t intern_add(struct intern *in, struct str s)
{
	uint32_t slot;
	char *copy;

	if (in->n >= in->slots_cap / 4 * 3) {
		uint32_t there = intern_find(in, s);

		if (there != INTERN_NONE)
			return there;
		if (!intern_grow(in))
			return INTERN_NONE;
	}
	slot = intern_slot(in, s);
	if (in->slots[slot])
		return in->slots[slot] - 1;
	copy = arena_strndup(&in->arena, s.p, s.n);
	if (!copy)
		return INTERN_NONE;
	in->strs[in->n] = (struct str){copy, s.n};
	in->slots[slot] = ++in->n;
	return in->n - 1;
}

uint32_t intern_find(const struct intern *in, struct str s)
{
	uint32_t slot;

	if (!in->n)
		return INTERN_NONE;
	slot = intern_slot(in, s);
	return in->slots[slot] ? in->slots[slot] - 1 : INTERN_NONE;
}
