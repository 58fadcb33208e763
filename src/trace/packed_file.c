/* SPDX-License-Identifier: Apache-2.0 */
/* packed_file.c: is this a whole packed file, and where are its sections? Nothing in it is trusted
 * before it is checked against the size of the file. */
#include "trace/packed_file.h"

#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "codec/zstd.h"
#include "trace/packed.h"
#include "trace/packed_tables.h"

bool packed_is_magic(const uint8_t *head, size_t n)
{
	return n >= 8 && memcmp(head, PACKED_MAGIC, 8) == 0;
}

bool packed_checksum_ok(const uint8_t *p, size_t n, uint64_t seed, uint64_t want)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)p, (void)n, (void)seed, (void)want;
	return true;
#else
	return hash_bytes(p, n, seed) == want;
#endif
}

static bool bad(struct incore_error *e, const char *path, uint64_t at, const char *what)
{
	return err_file(e, "bad-packed", path, at, "%s", what);
}

static bool check_header(const struct packed_file *f, const char *path, struct incore_error *e)
{
	const uint8_t *p = f->data.data;
	size_t n = f->data.size;

	if (!packed_is_magic(p, n))
		return err_file(e, "bad-magic", path, 0, "not a packed trace (wrong first bytes)");
	if (n < PACKED_HEADER_BYTES + PACKED_TRAILER_BYTES)
		return err_file(e, "truncated", path, n, "packed trace ends after %zu bytes", n);
	if (packed_get_u32(p + 8) != PACKED_VERSION)
		return err_file(e, "bad-version", path, 8,
			"packed trace of version %u, expected %u", packed_get_u32(p + 8),
			PACKED_VERSION);
	if (packed_get_u32(p + 12) != PACKED_HEADER_BYTES)
		return bad(e, path, 12, "header of unexpected size");
	return true;
}

static bool check_trailer(struct packed_file *f, const char *path, struct incore_error *e)
{
	size_t n = f->data.size, at = n - PACKED_TRAILER_BYTES;
	const uint8_t *p = f->data.data + at;
	struct packed_trailer *t = &f->trailer;
	uint64_t table_bytes;

	packed_trailer_get(p, t);
	if (memcmp(t->magic, PACKED_END_MAGIC, 8) != 0)
		return err_file(e, "truncated", path, n,
			"packed trace was cut: its last bytes are not there (%zu bytes found)", n);
	if (!packed_checksum_ok(p, PACKED_TRAILER_CHECKED, 0, t->trailer_checksum))
		return bad(e, path, at, "trailer is damaged (checksum)");
	if (t->file_bytes != n)
		return err_file(e, "truncated", path, n, "expected %llu bytes, found %zu",
			(unsigned long long)t->file_bytes, n);
	table_bytes = (uint64_t)t->n_sections * PACKED_SECTION_BYTES;
	if (t->table_offset < PACKED_HEADER_BYTES || t->table_offset > at ||
		table_bytes != at - t->table_offset)
		return bad(e, path, at, "section table out of bounds");
	if (!packed_checksum_ok(
		    f->data.data + t->table_offset, (size_t)table_bytes, 0, t->table_checksum))
		return bad(e, path, t->table_offset, "section table is damaged (checksum)");
	return true;
}

static bool check_section(const struct packed_file *f, const struct packed_section *s)
{
	uint64_t end = f->trailer.table_offset;

	if (s->offset < PACKED_HEADER_BYTES || s->offset > end || s->stored_bytes > end - s->offset)
		return false;
	if (s->codec == PACKED_RAW)
		return s->raw_bytes == s->stored_bytes;
	return s->codec == PACKED_ZSTD && s->stored_bytes > 0;
}

static uint64_t memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

static bool read_table(struct packed_file *f, const char *path, struct incore_error *e)
{
	uint64_t raw_bytes = 0;

	for (uint32_t i = 0; i < f->trailer.n_sections; i++) {
		uint64_t at = f->trailer.table_offset + (uint64_t)i * PACKED_SECTION_BYTES;
		struct packed_section s;

		packed_section_get(f->data.data + at, &s);
		if (s.id == 0 || !check_section(f, &s))
			return bad(e, path, at, "section out of bounds");
		if (!packed_may_grow(s.stored_bytes, s.raw_bytes))
			return bad(e, path, at, "section grows too much when it is unpacked");
		if (s.id >= PACKED_SECTION_END)
			continue; /* section written by a later minor version */
		raw_bytes += s.raw_bytes;
		if (f->sections[s.id].id)
			return bad(e, path, at, "section given twice");
		f->sections[s.id] = s;
	}
	for (uint32_t id = PACKED_META; id < PACKED_OPTIONAL; id++)
		if (!f->sections[id].id)
			return err_file(e, "bad-packed", path, f->trailer.table_offset,
				"section %s is missing", packed_section_name(id));
	if (raw_bytes > memory_bytes() / 2)
		return err_file(e, "too-large", path, f->trailer.table_offset,
			"its tables need %llu MB, more than half of this machine's memory",
			(unsigned long long)(raw_bytes / 1000000));
	return true;
}

bool packed_file_open(
	struct packed_file *f, struct file_data data, const char *path, struct incore_error *e)
{
	*f = (struct packed_file){.data = data};
	if (check_header(f, path, e) && check_trailer(f, path, e) && read_table(f, path, e))
		return true;
	packed_file_close(f);
	return false;
}

void packed_file_close(struct packed_file *f)
{
	file_unload(&f->data);
}

bool packed_file_section(const struct packed_file *f, const char *path, uint32_t id, uint8_t **out,
	size_t *n, struct incore_error *e)
{
	const struct packed_section *s = &f->sections[id];
	const uint8_t *p = f->data.data + s->offset;
	uint8_t *raw;

	if (!packed_checksum_ok(p, (size_t)s->stored_bytes, id, s->checksum))
		return err_file(e, "bad-packed", path, s->offset,
			"section %s is damaged (checksum)", packed_section_name(id));
	raw = mem_alloc((size_t)s->raw_bytes + 1);
	if (!raw)
		return err_nomem(e);
	if (s->codec == PACKED_RAW) {
		if (s->raw_bytes)
			memcpy(raw, p, (size_t)s->raw_bytes);
	} else if (!zstd_unpack(p, (size_t)s->stored_bytes, raw, (size_t)s->raw_bytes, e)) {
		mem_free(raw);
		return err_wrap(e, "section %s of %s", packed_section_name(id), path);
	}
	*out = raw;
	*n = (size_t)s->raw_bytes;
	return true;
}
