/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.c: zlib streams with and without a gzip header. */
#include "codec/gzip.h"

#include <zlib.h>

#include "base/little_endian.h"
#include "codec/unpack.h"

#define GZIP_BITS (15 + 16) /* the largest window, and a gzip header */
#define ZLIB_BITS 15
#define MEMBER_HEAD 10
#define STEP ((size_t)1 << 30) /* zlib counts in 32 bits */

bool gzip_pack(struct str bytes, struct strbuf *out)
{
	z_stream z = {0};
	size_t room;
	bool ok;

	/* the time in the header stays 0, so the output is reproducible */
	if (deflateInit2(&z, 9, Z_DEFLATED, GZIP_BITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	room = deflateBound(&z, bytes.n) + 64;
	ok = bytes.n <= UINT32_MAX && room <= UINT32_MAX && sb_reserve(out, room);
	if (ok) {
		z.next_in = (Bytef *)(uintptr_t)bytes.p;
		z.avail_in = (uInt)bytes.n;
		z.next_out = (Bytef *)out->p + out->n;
		z.avail_out = (uInt)room;
		ok = deflate(&z, Z_FINISH) == Z_STREAM_END;
		out->n += room - z.avail_out;
		out->p[out->n] = '\0';
	}
	deflateEnd(&z);
	return ok;
}

bool gzip_is(struct str bytes)
{
	const uint8_t *p = (const uint8_t *)bytes.p;

	return bytes.n >= MEMBER_HEAD && p[0] == 0x1f && p[1] == 0x8b && p[2] == Z_DEFLATED;
}

size_t gzip_head(struct str packed, uint8_t *out, size_t cap)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)packed.p,
		.avail_in = (uInt)(packed.n < STEP ? packed.n : STEP),
		.next_out = out,
		.avail_out = (uInt)(cap < STEP ? cap : STEP)};

	if (inflateInit2(&z, GZIP_BITS) != Z_OK)
		return 0;
	inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return cap - z.avail_out;
}

struct unpacking {
	z_stream z;
	struct str packed;
	size_t at; /* first byte not yet passed to zlib */
	uint64_t limit;
	const char *path;
	struct strbuf *out;
};

static bool fail_unpack(const struct unpacking *u, const char *why, struct incore_error *e)
{
	return err_file(e, "bad-gzip", u->path, (uint64_t)(u->at - u->z.avail_in),
		"compressed data: %s", why);
}

/* The size stated by a file of one member, if plausible. */
static size_t stated_size(struct str packed)
{
	const uint8_t *p = (const uint8_t *)packed.p + packed.n - 4;
	uint64_t n = packed.n < 18 ? 0 : le32(p);

	return n <= unpack_limit(packed.n) ? (size_t)n : 0;
}

static bool give_room(struct unpacking *u, struct incore_error *e)
{
	size_t room = u->out->cap > u->out->n + 1 ? u->out->cap - u->out->n - 1 : 0;

	if (u->out->n > u->limit)
		return fail_unpack(u, "expands too much for its size: decompress it first", e);
	if (room == 0) {
		room = u->out->n / 2 + 65536;
		if (!sb_reserve(u->out, room))
			return err_nomem(e);
	}
	if (room > u->limit + 1 - u->out->n)
		room = (size_t)(u->limit + 1 - u->out->n);
	u->z.next_out = (Bytef *)u->out->p + u->out->n;
	u->z.avail_out = (uInt)(room < STEP ? room : STEP);
	return true;
}

static int inflate_some(struct unpacking *u)
{
	size_t left = u->packed.n - u->at, room = u->z.avail_out;
	int status;

	if (u->z.avail_in == 0 && left) {
		u->z.next_in = (Bytef *)(uintptr_t)u->packed.p + u->at;
		u->z.avail_in = (uInt)(left < STEP ? left : STEP);
		u->at += u->z.avail_in;
	}
	status = inflate(&u->z, Z_NO_FLUSH);
	u->out->n += room - u->z.avail_out;
	return status;
}

/* A member may be followed by another one, or by zero padding. */
static bool gzip_is_over(const struct unpacking *u)
{
	struct str rest = str_sub(u->packed, u->at - u->z.avail_in, u->packed.n);

	return !gzip_is(rest);
}

static bool unpack(struct unpacking *u, struct incore_error *e)
{
	for (;;) {
		int status;

		if (!give_room(u, e))
			return false;
		status = inflate_some(u);
		if (status == Z_MEM_ERROR)
			return err_nomem(e);
		if (status == Z_STREAM_END && gzip_is_over(u))
			return true;
		if (status == Z_STREAM_END)
			inflateReset(&u->z);
		else if (status != Z_OK && (status != Z_BUF_ERROR || u->z.avail_out))
			return fail_unpack(
				u, status == Z_BUF_ERROR ? "ends in the middle" : "is damaged", e);
	}
}

static bool unpack_as(int bits, struct unpacking u, struct incore_error *e)
{
	bool ok;

	u.limit = unpack_limit(u.packed.n);
	if (inflateInit2(&u.z, bits) != Z_OK)
		return err_nomem(e);
	ok = unpack(&u, e);
	inflateEnd(&u.z);
	if (ok)
		u.out->p[u.out->n] = '\0';
	return ok;
}

bool gzip_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e)
{
	if (!sb_reserve(out, stated_size(packed) + 1))
		return err_nomem(e);
	return unpack_as(
		GZIP_BITS, (struct unpacking){.packed = packed, .path = path, .out = out}, e);
}

bool zlib_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e)
{
	return unpack_as(
		ZLIB_BITS, (struct unpacking){.packed = packed, .path = path, .out = out}, e);
}
