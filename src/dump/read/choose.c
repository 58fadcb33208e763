/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c: which before copy is the state before the task? Blocks of one task start at different
 * moments, so early blocks may already have written when a late one is copied. The right copy is
 * the one that equals what the previous writer of the buffer left; the writer is found by its
 * address, else by its bytes (the nearest earlier after copy of the same type and shape).
 */
#include <string.h>

#include "base/hash.h"
#include "dump/read/model.h"

struct chooser {
	struct dump *d;
	struct u64_map by_address; /* address of the view -> record of its last after copy, + 1 */
	struct u64_map by_content; /* hash of bytes, type, shape -> likewise */
};

static uint64_t dump_choose_content_hash(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	return hash_bytes(d->bytes.data + r->bin_offset, r->bin_size,
		hash_mix64((uint64_t)r->dtype << 32 | r->geometry));
}

static bool dump_choose_has_bytes(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	return r->kind == DUMP_TENSOR && r->bin_size && !(r->flags & DUMP_OUT_OF_FILE) &&
	       d->payload && !d->is_payload_missing;
}

static bool same_bytes(const struct dump *d, uint32_t a, uint32_t b)
{
	const struct dump_record *x = &d->records.v[a], *y = &d->records.v[b];

	if (x->kind == DUMP_SCALAR || y->kind == DUMP_SCALAR)
		return x->kind == y->kind && x->bits == y->bits && x->dtype == y->dtype;
	return x->bin_size == y->bin_size &&
	       memcmp(d->bytes.data + x->bin_offset, d->bytes.data + y->bin_offset, x->bin_size) ==
		       0;
}

/* Address of a view; 0: the dump does not state it. */
static uint64_t dump_choose_address_of(const struct dump *d, uint32_t record)
{
	const struct dump_extra *x = dump_extra_of(d, record);
	const struct dump_record *r = &d->records.v[record];

	if (!x || !x->has_buffer || !x->buffer_addr)
		return 0;
	return hash_mix64(x->buffer_addr + r->start_offset * dtype_bytes(r->dtype)) ^ r->geometry;
}

/* The copy of `s` that equals record `after`, or DUMP_NONE. */
static uint32_t copy_equal_to(const struct dump *d, const struct dump_slot *s, uint32_t after)
{
	for (uint32_t i = 0; i < s->n_before; i++) {
		uint32_t copy = d->order[s->first + i];

		if (dump_choose_has_bytes(d, copy) && same_bytes(d, copy, after))
			return copy;
	}
	return DUMP_NONE;
}

/* Number of different contents among the before copies; compared by 64-bit hashes of all bytes. */
static bool count_distinct(
	const struct chooser *c, const struct dump_slot *s, uint16_t *out, struct incore_error *e)
{
	struct u64_map seen = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < s->n_before; i++) {
		uint32_t copy = c->d->order[s->first + i];
		const struct dump_record *r = &c->d->records.v[copy];
		uint64_t h = r->kind == DUMP_SCALAR ? hash_mix64(r->bits)
			     : dump_choose_has_bytes(c->d, copy)
				     ? dump_choose_content_hash(c->d, copy)
				     : 0;

		ok = u64_map_at(&seen, h) != NULL;
	}
	*out = seen.n > UINT16_MAX ? UINT16_MAX : (uint16_t)seen.n;
	u64_map_deinit(&seen);
	return ok || err_nomem(e);
}

/* Chooses the copy that the previous writer left: by address, else by content. */
static void choose_by_writer(struct chooser *c, struct dump_slot *s)
{
	const uint64_t *at;
	uint64_t address = dump_choose_address_of(c->d, s->before);
	uint32_t best = DUMP_NONE, writer = DUMP_NONE;

	at = address ? u64_map_find(&c->by_address, address) : NULL;
	if (at) {
		writer = (uint32_t)(*at - 1);
		best = copy_equal_to(c->d, s, writer);
	}
	for (uint32_t i = 0; best == DUMP_NONE && !address && i < s->n_before; i++) {
		uint32_t copy = c->d->order[s->first + i];

		at = dump_choose_has_bytes(c->d, copy)
			     ? u64_map_find(&c->by_content, dump_choose_content_hash(c->d, copy))
			     : NULL;
		if (!at || !same_bytes(c->d, copy, (uint32_t)(*at - 1)))
			continue;
		/* if several copies equal some writer's bytes, the latest writer wins */
		if (writer == DUMP_NONE ||
			c->d->records.v[*at - 1].task_id > c->d->records.v[writer].task_id) {
			writer = (uint32_t)(*at - 1);
			s->before = copy;
		}
	}
	if (best != DUMP_NONE)
		s->before = best;
	else if (address)
		writer = DUMP_NONE;
	s->writer = writer;
	s->choice = writer == DUMP_NONE ? DUMP_CHOICE_AMBIGUOUS : DUMP_CHOICE_WRITER;
}

static bool choose_slot(struct chooser *c, struct dump_slot *s, struct incore_error *e)
{
	if (s->n_before == 0)
		return true;
	if (!count_distinct(c, s, &s->n_distinct, e))
		return false;
	if (s->n_before > 1 && s->n_distinct == 1)
		s->choice = DUMP_CHOICE_SAME;
	if (s->n_distinct > 1)
		choose_by_writer(c, s);
	return true;
}

static bool remember_after(struct chooser *c, uint32_t record, struct incore_error *e)
{
	uint64_t address = dump_choose_address_of(c->d, record), *at;

	if (!dump_choose_has_bytes(c->d, record))
		return true;
	at = u64_map_at(&c->by_content, dump_choose_content_hash(c->d, record));
	if (!at)
		return err_nomem(e);
	*at = record + 1ull;
	if (!address)
		return true;
	at = u64_map_at(&c->by_address, address);
	if (!at)
		return err_nomem(e);
	*at = record + 1ull;
	return true;
}

static bool needs_content(const struct dump *d)
{
	for (size_t i = 0; i < d->slots.n; i++)
		if (d->slots.v[i].n_before > 1)
			return true;
	return false;
}

bool dump_choose(struct dump *d, struct incore_error *e)
{
	struct chooser c = {.d = d};
	bool ok = true;

	if (d->is_chosen)
		return true;
	d->is_chosen = true;
	if (!needs_content(d))
		return true;
	for (size_t t = 0; ok && t < d->tasks.n; t++) {
		struct dump_slot *s = d->slots.v + d->tasks.v[t].first_slot;
		uint32_t n = d->tasks.v[t].n_slots;

		for (uint32_t i = 0; ok && i < n; i++)
			if (s[i].n_before > 1)
				ok = choose_slot(&c, &s[i], e);
		for (uint32_t i = 0; ok && i < n; i++)
			if (s[i].n_after)
				ok = remember_after(&c, dump_slot_after(d, &s[i]), e);
	}
	u64_map_deinit(&c.by_address);
	u64_map_deinit(&c.by_content);
	return ok;
}
