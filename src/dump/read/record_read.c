/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_read.c: reads device records of every layout. Parts: the payload of a thread; records.
 */
#include "dump/read/record_read.h"

#include <assert.h>
#include <string.h>

#include "base/little_endian.h"

/* --- the payload of a thread ------------------------------------------------------------------ */

/*
 * Where the payload of device records lies in the arena of their thread. Positions only grow; the
 * offset is the position modulo the arena's size; data more than one arena back was overwritten. A
 * payload that wraps around the end is copied to one piece after the arena's bytes.
 */

void records_without_arena(struct dump *d)
{
	for (size_t i = 0; i < d->records.n; i++)
		d->records.v[i].bin_offset = d->records.v[i].bin_size = 0;
}

/* Position after its last byte; false if it exceeds 64 bits. */
static bool record_arena_end_of(const struct dump_record *r, uint64_t *end)
{
	return !__builtin_add_overflow(r->bin_offset, r->bin_size, end);
}

static bool goes_round(const struct dump_record *r, uint64_t arena)
{
	uint64_t end;

	return record_arena_end_of(r, &end) && r->bin_size <= arena &&
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
		if (d->records.v[i].bin_size && record_arena_end_of(&d->records.v[i], &end) &&
			end > high)
			high = end;
	EACH (struct dump_record, r, d->records.v, d->records.n) {
		if (!r->bin_size || high <= arena || r->bin_offset >= high - arena)
			continue;
		r->flags |= DUMP_OVERWRITTEN;
		r->bin_offset = r->bin_size = 0;
	}
}

/* Converts positions to offsets; `joined` has room for wrapped payloads. */
static void record_arena_place(struct dump *d, uint64_t arena, uint8_t *joined)
{
	uint64_t next = arena, end;

	EACH (struct dump_record, r, d->records.v, d->records.n) {
		uint64_t at = r->bin_offset % arena, head = arena - at;

		if (!r->bin_size || !record_arena_end_of(r, &end) || r->bin_size > arena)
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
	record_arena_place(d, arena, joined);
	return true;
}

/* --- records ---------------------------------------------------------------------------------- */

/*
 * Decodes the record buffers of the device, layout by layout.
 */

static void record_get_dims(const uint8_t *p, unsigned n, uint32_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = le32(p + 4 * i);
}

/* "g1" ... "g10"; DEVICE_LAYOUTS: unknown name. */
static enum device_layout device_layout_find(const char *name)
{
	static const char *const names[] = {"g1", "g3", "g4", "g7", "g9", "g10"};
	unsigned i = 0;

	while (i < DEVICE_LAYOUTS && strcmp(names[i], name) != 0)
		i++;
	return (enum device_layout)i;
}

/* Reads the head of the first three generations. */
static void get_old_head(const uint8_t *p, struct device_record *r)
{
	r->subtask_id = p[8];
	r->role = p[9];
	r->stage = p[10];
	r->ndims = p[11];
	r->n_funcs = 1;
	r->funcs[0] = le32(p + 12);
	r->arg_index = le32(p + 16);
	r->dtype = p[20];
	r->is_truncated = p[21] != 0;
	r->is_contiguous = p[22] != 0;
}

static void get_head(const uint8_t *p, enum device_layout layout, struct device_record *r)
{
	r->role = p[8];
	r->stage = p[9];
	r->ndims = p[10];
	r->arg_index = le32(p + 12);
	r->dtype = p[16];
	r->is_truncated = p[17] != 0;
	r->is_contiguous = p[18] != 0;
	r->scalar = le64(p + 40);
	r->kind = p[48];
	r->flags = layout >= DEVICE_G7 ? p[49] : 0;
	if (layout == DEVICE_G9) {
		r->n_funcs = 1;
		r->funcs[0] = le16(p + 50);
	} else if (layout == DEVICE_G10) {
		r->n_funcs = p[56];
		r->is_clamped |= r->n_funcs > DEVICE_MAX_FUNCS;
		if (r->n_funcs > DEVICE_MAX_FUNCS)
			r->n_funcs = DEVICE_MAX_FUNCS;
		for (size_t i = 0; i < r->n_funcs; i++)
			r->funcs[i] = le16(p + 50 + 2 * i);
	}
}

/* Reads views of the first form; a product beyond 32 bits yields a stride that the model
 * refuses. */
static void get_old_view(const uint8_t *p, struct device_record *r)
{
	uint32_t raw[DEVICE_MAX_RANK] = {0}, offsets[DEVICE_MAX_RANK] = {0};
	uint64_t stride = 1;

	record_get_dims(p + 64, r->ndims, r->shapes);
	record_get_dims(p + 84, r->ndims, offsets);
	record_get_dims(p + 104, r->ndims, raw);
	for (unsigned d = r->ndims; d-- > 0;) {
		r->is_clamped |= stride > UINT32_MAX;
		r->strides[d] = stride > UINT32_MAX ? UINT32_MAX : (uint32_t)stride;
		r->start_offset += (uint64_t)offsets[d] * r->strides[d];
		stride = (uint64_t)r->strides[d] * raw[d];
	}
}

void device_record_get(const uint8_t *p, enum device_layout layout, struct device_record *r)
{
	*r = (struct device_record){.task_id = le64(p)};
	r->payload_offset = le64(p + 24);
	r->payload_size = le64(p + 32);
	if (layout <= DEVICE_G3)
		get_old_head(p, r);
	else
		get_head(p, layout, r);
	r->is_clamped |= r->ndims > DEVICE_MAX_RANK;
	if (r->ndims > DEVICE_MAX_RANK)
		r->ndims = DEVICE_MAX_RANK;
	if (layout == DEVICE_G1) {
		get_old_view(p, r);
		return;
	}
	r->start_offset = le64(p + 64);
	record_get_dims(p + 72, r->ndims, r->strides);
	record_get_dims(p + 92, r->ndims, r->shapes);
}

/* Converts the geometry; if shape, strides and size do not fit 64 bits, the record gets no
 * shape. */
static bool geometry_of(struct dump *d, struct device_record *r, uint32_t *out)
{
	uint64_t words[1 + 2 * DEVICE_MAX_RANK], numel = 8, end = r->start_offset;
	bool fits = r->start_offset < UINT64_MAX / 8;

	for (unsigned i = 0; fits && i < r->ndims; i++) {
		uint64_t step = r->shapes[i] ? (uint64_t)(r->shapes[i] - 1) * r->strides[i] : 0;

		fits = !__builtin_mul_overflow(numel, r->shapes[i] ? r->shapes[i] : 1, &numel) &&
		       !__builtin_add_overflow(end, step, &end) && end < UINT64_MAX / 8;
	}
	if (!fits) {
		r->ndims = 0;
		r->is_clamped = true;
		r->start_offset = 0;
	}
	words[0] = r->ndims;
	for (unsigned i = 0; i < r->ndims; i++) {
		words[1 + i] = r->shapes[i];
		words[1 + r->ndims + i] = r->strides[i];
	}
	*out = intern_add(&d->geometries,
		(struct str){(const char *)words, (1 + 2 * (size_t)r->ndims) * sizeof(words[0])});
	return *out != INTERN_NONE;
}

static bool members_of(struct dump *d, const struct device_record *r, uint32_t *out)
{
	int32_t ids[DEVICE_MAX_FUNCS];

	*out = DUMP_NONE;
	if (!r->n_funcs)
		return true;
	for (unsigned i = 0; i < r->n_funcs; i++)
		ids[i] = r->funcs[i] >= DEVICE_NO_FUNC ? -1 : (int32_t)r->funcs[i];
	*out = intern_add(
		&d->member_sets, (struct str){(const char *)ids, r->n_funcs * sizeof(ids[0])});
	return *out != INTERN_NONE;
}

static bool record_add_record(
	struct dump *d, struct device_record *r, uint64_t at, struct incore_error *e)
{
	struct dump_record x = {
		.task_id = r->task_id,
		.at = at,
		.slot = r->arg_index == DUMP_NONE ? DUMP_NONE - 1 : r->arg_index,
		.role = r->role > DUMP_INOUT ? DUMP_INPUT : r->role,
		.stage = r->stage > DUMP_AFTER ? DUMP_STAGE_OTHER : r->stage,
		.kind = r->kind == DUMP_SCALAR ? DUMP_SCALAR : DUMP_TENSOR,
		.dtype = r->dtype >= DTYPE_COUNT ? DTYPE_UNKNOWN : r->dtype,
		.bin_offset = r->payload_offset, /* in the thread's arena */
		.bin_size = r->kind == DUMP_SCALAR ? 0 : r->payload_size,
	};
	struct problem where = {.task_id = x.task_id,
		.has_task = true,
		.slot = x.slot,
		.record = (uint32_t)d->records.n,
		.note.offset = at};

	if (!geometry_of(d, r, &x.geometry) || !members_of(d, r, &x.members))
		return err_nomem(e);
	x.start_offset = r->start_offset;
	x.flags = (uint16_t)((r->is_truncated ? DUMP_TRUNCATED : 0) |
			     (r->is_contiguous ? DUMP_CONTIGUOUS : 0) |
			     (r->flags & 1 ? DUMP_AMBIGUOUS : 0));
	if (x.kind == DUMP_SCALAR) {
		x.bits = r->scalar;
		x.flags |= DUMP_EXACT | DUMP_HAS_VALUE;
	}
	if (r->is_clamped || r->role > DUMP_INOUT || r->stage > DUMP_AFTER || r->kind > DUMP_SCALAR)
		problems_add(&d->problems, WEIGHT_ERROR, "bad-device-record", where,
			"record %zu: a field is beyond its limit and was cut", d->records.n);
	return VEC_PUSH(&d->records, x) || err_nomem(e);
}

/* Reads one buffer: records up to its count. */
static bool read_buffer(struct dump *d, const uint8_t *base, size_t off, enum device_layout layout,
	struct incore_error *e)
{
	uint32_t n = le32(base + off + DEVICE_BUFFER_COUNT_AT);
	struct device_record r;

	if (n > DEVICE_BUFFER_RECORDS)
		return err_file(e, "out-of-range", d->manifest, off + DEVICE_BUFFER_COUNT_AT,
			"a record buffer with %u records: at most %d fit", n,
			DEVICE_BUFFER_RECORDS);
	for (uint32_t i = 0; i < n; i++) {
		size_t at = off + (size_t)i * DEVICE_RECORD_BYTES;

		device_record_get(base + at, layout, &r);
		if (!record_add_record(d, &r, at, e))
			return false;
	}
	return true;
}

bool records_read(
	struct dump *d, const uint8_t *p, size_t size, const char *layout, struct incore_error *e)
{
	enum device_layout how = device_layout_find(layout);
	struct device_record r;

	if (how == DEVICE_LAYOUTS)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"record layout: expected one of %s, found '%s'", DEVICE_LAYOUT_CHOICES,
			layout);
	memset(&d->counters, 0xff, sizeof(d->counters));
	d->level = DUMP_LEVEL_UNKNOWN;
	d->gen_first = d->gen_last = DUMP_DEVICE;
	d->manifest_bytes = size;
	if (size && size % DEVICE_BUFFER_BYTES == 0) {
		for (size_t off = 0; off < size; off += DEVICE_BUFFER_BYTES)
			if (!read_buffer(d, p, off, how, e))
				return false;
		return true;
	}
	if (!size || size % DEVICE_RECORD_BYTES)
		return err_file(e, "truncated", d->manifest, size - size % DEVICE_RECORD_BYTES,
			"expected whole records of %d bytes or buffers of %d, found %zu bytes",
			DEVICE_RECORD_BYTES, DEVICE_BUFFER_BYTES, size);
	for (size_t off = 0; off < size; off += DEVICE_RECORD_BYTES) {
		device_record_get(p + off, how, &r);
		if (!record_add_record(d, &r, off, e))
			return false;
	}
	return true;
}
