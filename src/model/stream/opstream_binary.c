/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_binary.c: the binary form of op streams. A stream states its length and its counts; both
 * must agree before anything is allocated. */
#include <endian.h>

#include "base/file.h"
#include "model/stream/opstream_io.h"

/* The records are the file's bytes: a port to a big-endian host needs a swap here. */
static_assert(BYTE_ORDER == LITTLE_ENDIAN, "op streams are little-endian");

struct cursor {
	const uint8_t *p;
	size_t left;
};

static bool take_array(
	struct cursor *c, void **v, size_t *n_out, size_t *cap, size_t n, size_t size)
{
	if (n == 0)
		return true;
	if (!vec_grow(v, cap, n, size))
		return false;
	memcpy(*v, c->p, n * size);
	*n_out = n;
	c->p += n * size;
	c->left -= n * size;
	return true;
}

#define TAKE(c, vec, count)                                                                        \
	take_array((c), (void **)&(vec)->v, &(vec)->n, &(vec)->cap, (count), sizeof(*(vec)->v))

/* False if the tables cannot fit in the remaining bytes. */
static bool tables_fit(const struct opstream_head *h, size_t left)
{
	uint64_t bytes = 0;
	const struct {
		uint64_t n, size;
	} parts[] = {
		{h->n_slots, sizeof(struct op_slot)},
		{h->n_sites, sizeof(struct op_site)},
		{h->n_forms, sizeof(struct op_form)},
		{h->n_opnds, sizeof(struct op_opnd)},
		{h->n_ops, sizeof(struct op_exec)},
		{h->n_words, sizeof(uint64_t)},
		{h->string_bytes, 1},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].n > (left - bytes) / parts[i].size)
			return false;
		bytes += parts[i].n * parts[i].size;
	}
	return bytes + sizeof(*h) == h->total_bytes && bytes <= left;
}

static bool read_head(const uint8_t *p, size_t n, struct opstream_head *h, const char *path,
	uint64_t at, struct incore_error *e)
{
	if (n < sizeof(*h))
		return err_file(e, "truncated", path, at,
			"expected the head of an op stream (128 bytes), found %zu bytes", n);
	memcpy(h, p, sizeof(*h));
	if (memcmp(h->magic, OPSTREAM_MAGIC, 8) != 0)
		return err_file(
			e, "bad-magic", path, at, "expected an op stream (\"%s\")", OPSTREAM_MAGIC);
	if (h->version != OPSTREAM_VERSION || h->head_bytes != sizeof(*h))
		return err_file(e, "bad-version", path, at + 8,
			"expected op stream version %d with a head of %zu bytes, found version %u with %u",
			OPSTREAM_VERSION, sizeof(*h), h->version, h->head_bytes);
	if (h->total_bytes < sizeof(*h) || h->total_bytes > n)
		return err_file(e, "truncated", path, at + 16,
			"the stream says it has %llu bytes, %zu are left in the file",
			(unsigned long long)h->total_bytes, n);
	if (!tables_fit(h, (size_t)h->total_bytes - sizeof(*h)))
		return err_file(e, "bad-value", path, at,
			"the stream's tables do not add up to its %llu bytes",
			(unsigned long long)h->total_bytes);
	return true;
}

static bool read_tables(
	struct opstream *s, const struct opstream_head *h, struct cursor *c, struct incore_error *e)
{
	s->arch = (enum opstream_arch)h->arch;
	s->core = (enum opstream_core)h->core;
	s->lane = h->lane;
	s->args_origin = (enum opstream_origin)h->args_origin;
	s->is_complete = h->flags & OPSTREAM_COMPLETE;
	s->is_mixed = h->flags & OPSTREAM_MIXED;
	s->block_idx = h->block_idx;
	s->block_num = h->block_num;
	s->payload_slots = h->payload_slots;
	s->missing_slots = h->missing_slots;
	s->kernel = h->kernel;
	s->front_end = h->front_end;
	s->source_sha256 = h->source_sha256;
	s->reason = h->reason;
	s->strings.n = 0;
	if (!TAKE(c, &s->slots, h->n_slots) || !TAKE(c, &s->sites, h->n_sites) ||
		!TAKE(c, &s->forms, h->n_forms) || !TAKE(c, &s->opnds, h->n_opnds) ||
		!TAKE(c, &s->ops, h->n_ops) || !TAKE(c, &s->words, h->n_words) ||
		!TAKE(c, &s->strings, h->string_bytes))
		return err_nomem(e);
	return true;
}

static bool read_one(struct opstream_set *set, struct cursor *c, const char *path, uint64_t at,
	struct incore_error *e)
{
	struct opstream_head h;
	struct opstream_fault fault;
	struct opstream *s;
	struct cursor in;

	if (!read_head(c->p, c->left, &h, path, at, e))
		return false;
	s = opstream_set_new(set, e);
	if (!s)
		return false;
	in = (struct cursor){c->p + sizeof(h), (size_t)h.total_bytes - sizeof(h)};
	if (!read_tables(s, &h, &in, e))
		return false;
	if (!opstream_check(s, &fault))
		return err_file(e, "bad-value", path, at, "%s %zu of stream %zu: expected %s",
			fault.table, fault.index, set->v.n - 1, fault.expected);
	c->p += h.total_bytes;
	c->left -= h.total_bytes;
	return opstream_seal(s, e);
}

bool opstream_is_binary(const void *bytes, size_t n)
{
	return n >= 8 && memcmp(bytes, OPSTREAM_MAGIC, 8) == 0;
}

bool opstream_read_binary(struct opstream_set *set, const uint8_t *p, size_t n, const char *path,
	struct incore_error *e)
{
	struct cursor c = {p, n};

	while (c.left)
		if (!read_one(set, &c, path, (uint64_t)(c.p - p), e))
			return false;
	return true;
}

bool opstream_read(struct opstream_set *set, const void *bytes, size_t n, const char *path,
	struct incore_error *e)
{
	size_t had = set->v.n;
	bool ok = opstream_is_binary(bytes, n) ? opstream_read_binary(set, bytes, n, path, e)
					       : opstream_read_jsonl(set, bytes, n, path, e);

	if (ok && set->v.n == had)
		ok = err_file(
			e, "truncated", path, 0, "expected an op stream, found an empty file");
	while (!ok && set->v.n > had)
		opstream_deinit(&set->v.v[--set->v.n]);
	return ok;
}

bool opstream_load(struct opstream_set *set, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok;

	if (!file_load(&f, path, e))
		return err_wrap(e, "op stream");
	ok = opstream_read(set, f.data, f.size, path, e);
	file_unload(&f);
	return ok;
}

/* --- writing --- */

static void put_array(FILE *f, const void *p, size_t n, size_t size)
{
	if (n)
		fwrite(p, size, n, f); /* the FILE remembers a failure */
}

/* Omits what seal() added: it is not part of the file. */
static void put_forms(const struct opstream *s, FILE *f)
{
	for (size_t i = 0; i < s->forms.n; i++) {
		struct op_form t = s->forms.v[i];

		t.op = 0;
		put_array(f, &t, 1, sizeof(t));
	}
	for (size_t i = 0; i < s->opnds.n; i++) {
		struct op_opnd t = s->opnds.v[i];

		t.access = 0;
		put_array(f, &t, 1, sizeof(t));
	}
}

static void write_one(const struct opstream *s, FILE *f)
{
	static const char ZERO[8];
	size_t padded = (s->strings.n + 7) / 8 * 8;
	struct opstream_head h = {.version = OPSTREAM_VERSION,
		.head_bytes = sizeof(h),
		.arch = (uint8_t)s->arch,
		.core = (uint8_t)s->core,
		.lane = (uint8_t)s->lane,
		.args_origin = (uint8_t)s->args_origin,
		.flags = (s->is_complete ? OPSTREAM_COMPLETE : 0) |
			 (s->is_mixed ? OPSTREAM_MIXED : 0),
		.block_idx = s->block_idx,
		.block_num = s->block_num,
		.payload_slots = s->payload_slots,
		.missing_slots = s->missing_slots,
		.kernel = s->kernel,
		.front_end = s->front_end,
		.source_sha256 = s->source_sha256,
		.reason = s->reason,
		.n_slots = (uint32_t)s->slots.n,
		.n_sites = (uint32_t)s->sites.n,
		.n_forms = (uint32_t)s->forms.n,
		.n_opnds = (uint32_t)s->opnds.n,
		.n_ops = s->ops.n,
		.n_words = s->words.n,
		.string_bytes = padded};

	memcpy(h.magic, OPSTREAM_MAGIC, 8);
	h.total_bytes = sizeof(h) + s->slots.n * sizeof(struct op_slot) +
			s->sites.n * sizeof(struct op_site) + s->forms.n * sizeof(struct op_form) +
			s->opnds.n * sizeof(struct op_opnd) + s->ops.n * sizeof(struct op_exec) +
			s->words.n * sizeof(uint64_t) + padded;
	put_array(f, &h, 1, sizeof(h));
	put_array(f, s->slots.v, s->slots.n, sizeof(struct op_slot));
	put_array(f, s->sites.v, s->sites.n, sizeof(struct op_site));
	put_forms(s, f);
	put_array(f, s->ops.v, s->ops.n, sizeof(struct op_exec));
	put_array(f, s->words.v, s->words.n, sizeof(uint64_t));
	put_array(f, s->strings.v, s->strings.n, 1);
	put_array(f, ZERO, padded - s->strings.n, 1);
}

bool opstream_write_binary(const struct opstream_set *set, FILE *f, struct incore_error *e)
{
	for (size_t i = 0; i < set->v.n; i++)
		write_one(&set->v.v[i], f);
	if (ferror(f))
		return err_write(e);
	return true;
}
