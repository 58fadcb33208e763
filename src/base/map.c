/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c: open addressing with linear probing, at most 3/4 full, never shrinking.
 *
 * Parts: hashes; maps.
 */
#include "base/map.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/little_endian.h"
#include "base/mem.h"
#include "base/vec.h"

/* --- hashes ----------------------------------------------------------------------------------- */

/*
 * Two 64-bit lanes over 16-byte blocks. Each step is a bijection of the state for a given block,
 * and of each word for a given state, so that no step loses information. Not secure against an
 * adversary.
 */

#define K1 0x9e6c63d0676a9a99u /* odd, bits balanced */
#define K2 0xd35a2d97394e5c4bu
#define K3 0x8bb84b93962eacc9u

static inline uint64_t rotl(uint64_t x, unsigned k)
{
	return x << k | x >> (64 - k);
}

static inline uint64_t hash_load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline void hash_step(uint64_t *a, uint64_t *b, uint64_t low, uint64_t high)
{
	uint64_t x = *a ^ low, y = *b ^ high;

	x = (x ^ x >> 32) * K1;
	y = (y ^ y >> 29) * K2;
	*a = rotl(x, 31) + y;
	*b = rotl(y, 27) ^ *a;
}

/* Loads n < 8 bytes as the low bytes of a word. Not through a copy, whose bytes would have to reach
 * memory before they can be read as a word, nor one by one: overlapping loads give the same bits.
 */
static inline uint64_t load_some(const uint8_t *p, size_t n)
{
	if (n >= 4)
		return le32(p) | (uint64_t)le32(p + n - 4) << 8 * (n - 4);
	if (n == 0)
		return 0;
	return (uint64_t)p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) |
	       (uint64_t)p[n - 1] << 8 * (n - 1);
}

static void last_step(uint64_t *a, uint64_t *b, const uint8_t *tail, size_t n, uint64_t total)
{
	hash_step(a, b, n < 8 ? load_some(tail, n) : hash_load64(tail),
		n < 8 ? 0 : load_some(tail + 8, n - 8));
	*a ^= total * K3; /* "x" and "x\0" differ here */
	*b += total;
	*a = hash_mix64(*a + rotl(*b, 23));
	*b = hash_mix64(*b ^ *a);
	*a = hash_mix64(*a + *b);
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	const uint8_t *s = p;
	uint64_t a = seed ^ K3, b = rotl(seed, 32) + K1;
	size_t left = n;

	for (; left >= 16; left -= 16, s += 16)
		hash_step(&a, &b, hash_load64(s), hash_load64(s + 8));
	last_step(&a, &b, s, left, n);
	return a;
}

void hash_stream_init(struct hash_stream *h)
{
	*h = (struct hash_stream){.a = K2, .b = K3};
}

void hash_stream_add(struct hash_stream *h, const void *p, size_t n)
{
	const uint8_t *s = p;

	h->total += n;
	if (h->tail_n) {
		size_t take = 16 - h->tail_n < n ? 16 - h->tail_n : n;

		if (take)
			memcpy(h->tail + h->tail_n, s, take);
		h->tail_n += (unsigned)take;
		s += take;
		n -= take;
		if (h->tail_n < 16)
			return;
		hash_step(&h->a, &h->b, hash_load64(h->tail), hash_load64(h->tail + 8));
		h->tail_n = 0;
	}
	for (; n >= 16; n -= 16, s += 16)
		hash_step(&h->a, &h->b, hash_load64(s), hash_load64(s + 8));
	if (n)
		memcpy(h->tail, s, n);
	h->tail_n = (unsigned)n;
}

struct hash128 hash_stream_end(const struct hash_stream *h)
{
	uint64_t a = h->a, b = h->b;

	last_step(&a, &b, h->tail, h->tail_n, h->total);
	return (struct hash128){.lo = a, .hi = b};
}

/* --- maps ------------------------------------------------------------------------------------- */

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
