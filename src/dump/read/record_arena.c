/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_arena.c: where the payload of device records lies in the arena of their thread. Positions
 * only grow; the offset is the position modulo the arena's size; data more than one arena back was
 * overwritten. A payload that wraps around the end is copied to one piece after the arena's bytes.
 */
#include <assert.h>
#include <string.h>

#include "dump/read/record_read.h"

void records_without_arena(struct dump *d)
{
	for (size_t i = 0; i < d->records.n; i++)
		d->records.v[i].bin_offset = d->records.v[i].bin_size = 0;
}

/* Position after its last byte; false if it exceeds 64 bits. */
static bool end_of(const struct dump_record *r, uint64_t *end)
{
	return !__builtin_add_overflow(r->bin_offset, r->bin_size, end);
}

static bool goes_round(const struct dump_record *r, uint64_t arena)
{
	uint64_t end;

	return end_of(r, &end) && r->bin_size <= arena &&
	       r->bin_offset % arena > arena - r->bin_size;
}

/* Allocates room for wrapped payloads; those of one arena do not overlap, so together they are no
 * larger than it. */
static bool make_room(struct dump *d, uint8_t **joined, struct incore_error *e)
{
	uint64_t arena = d->bytes.size, more = 0;
	uint8_t *p;

	EACH (const struct dump_record, r, d->records.v, d->records.n) {
		if (!r->bin_size || !goes_round(r, arena))
			continue;
		more += r->bin_size;
		if (more > arena)
			return err_file(e, "overlap", d->manifest, r->at,
				"the payloads that go round the end of %s are larger than it",
				path_base(d->payload));
	}
	if (!more)
		return true;
	p = arena_zalloc(&d->arena, 1, (size_t)(arena + more) + FILE_PAD);
	if (!p)
		return err_nomem(e);
	memcpy(p, d->bytes.data, (size_t)arena);
	d->bytes.data = *joined = p;
	d->bytes.size = (size_t)(arena + more);
	return true;
}

/* Marks payloads more than one arena before the end of the last payload. */
static void mark_overwritten(struct dump *d)
{
	uint64_t arena = d->bytes.size, high = 0, end;

	for (size_t i = 0; i < d->records.n; i++)
		if (d->records.v[i].bin_size && end_of(&d->records.v[i], &end) && end > high)
			high = end;
	EACH (struct dump_record, r, d->records.v, d->records.n) {
		if (!r->bin_size || high <= arena || r->bin_offset >= high - arena)
			continue;
		r->flags |= DUMP_OVERWRITTEN;
		r->bin_offset = r->bin_size = 0;
	}
}

/* Converts positions to offsets; `joined` has room for wrapped payloads. */
static void place(struct dump *d, uint64_t arena, uint8_t *joined)
{
	uint64_t next = arena, end;

	EACH (struct dump_record, r, d->records.v, d->records.n) {
		uint64_t at = r->bin_offset % arena, head = arena - at;

		if (!r->bin_size || !end_of(r, &end) || r->bin_size > arena)
			continue; /* empty, or out of bounds, which is reported elsewhere */
		if (!goes_round(r, arena)) {
			r->bin_offset = at;
			continue;
		}
		assert(joined); /* allocated if any payload wraps */
		memcpy(joined + next, joined + at, (size_t)head);
		memcpy(joined + next + head, joined, (size_t)(r->bin_size - head));
		r->bin_offset = next;
		next += r->bin_size;
	}
}

bool records_use_arena(struct dump *d, const char *path, struct incore_error *e)
{
	uint8_t *joined = NULL;
	uint64_t arena;

	d->payload = arena_strdup(&d->arena, path);
	if (!d->payload)
		return err_nomem(e);
	if (!file_load(&d->bytes, path, e))
		return err_wrap(e, "arena of the records");
	arena = d->bytes.size;
	if (!arena)
		return err_file(e, "empty", path, 0, "an arena without bytes");
	mark_overwritten(d);
	if (!make_room(d, &joined, e))
		return false;
	place(d, arena, joined);
	return true;
}
