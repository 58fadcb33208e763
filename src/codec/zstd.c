/* SPDX-License-Identifier: Apache-2.0 */
/* zstd.c: packs and unpacks whole frames of known size, and files of frames of any size. */
#include "codec/zstd.h"

#include <string.h>
#include <zstd.h>

bool zstd_pack(const void *p, size_t n, int level, struct strbuf *out, struct incore_error *e)
{
	return zstd_pack_with(NULL, p, n, level, out, e);
}

bool zstd_pack_with(struct ZSTD_CCtx_s *context, const void *p, size_t n, int level,
	struct strbuf *out, struct incore_error *e)
{
	size_t most = ZSTD_compressBound(n), size;

	if (ZSTD_isError(most) || !sb_reserve(out, most))
		return err_nomem(e);
	if (context &&
		ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)))
		return err_set(e, INCORE_FAILED, "zstd", "cannot compress at level %d", level);
	size = context ? ZSTD_compress2(context, out->p + out->n, most, p, n)
		       : ZSTD_compress(out->p + out->n, most, p, n, level);
	if (ZSTD_isError(size))
		return err_set(
			e, INCORE_FAILED, "zstd", "cannot compress: %s", ZSTD_getErrorName(size));
	out->n += size;
	out->p[out->n] = 0;
	return true;
}

bool zstd_unpack(const void *p, size_t n, void *out, size_t out_n, struct incore_error *e)
{
	return zstd_unpack_with(NULL, (struct str){p, n}, out, out_n, e);
}

bool zstd_unpack_with(struct ZSTD_DCtx_s *context, struct str packed, void *out, size_t out_n,
	struct incore_error *e)
{
	const char *p = packed.p;
	size_t n = packed.n, frame, size;
	/* unknown size and invalid frame are large values that never equal out_n */
	unsigned long long stated = n ? ZSTD_getFrameContentSize(p, n) : ZSTD_CONTENTSIZE_ERROR;

	if (stated != out_n)
		return err_set(e, INCORE_BAD_INPUT, "bad-zstd",
			"a compressed block should hold %zu bytes and does not", out_n);
	frame = ZSTD_findFrameCompressedSize(p, n);
	if (ZSTD_isError(frame) || frame != n)
		return err_set(e, INCORE_BAD_INPUT, "bad-zstd",
			"a compressed block is truncated or followed by extra bytes");
	size = context ? ZSTD_decompressDCtx(context, out, out_n, p, n)
		       : ZSTD_decompress(out, out_n, p, n);
	if (ZSTD_isError(size) || size != out_n)
		return err_set(e, INCORE_BAD_INPUT, "bad-zstd", "a compressed block is damaged: %s",
			ZSTD_isError(size) ? ZSTD_getErrorName(size) : "wrong size");
	return true;
}

/* --- files of others -------------------------------------------------------------------------- */

#define STEP ((size_t)1 << 20) /* first room for a content whose size is not stated */

bool zstd_is(struct str bytes)
{
	const uint8_t *p = (const uint8_t *)bytes.p;
	bool is_skippable = bytes.n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d &&
			    p[3] == 0x18;

	return is_skippable || (bytes.n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0);
}

size_t zstd_head(struct str packed, uint8_t *out, size_t cap)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	ZSTD_inBuffer in = {packed.p, packed.n, 0};
	ZSTD_outBuffer to = {out, cap, 0};
	size_t before;

	do
		before = to.pos + in.pos;
	while (d && to.pos < cap && !ZSTD_isError(ZSTD_decompressStream(d, &to, &in)) &&
		to.pos + in.pos > before);
	ZSTD_freeDCtx(d);
	return to.pos;
}

/* Room for the next piece: what the frame states, as far as the limit, or half as much again. */
static bool give_room(struct strbuf *out, uint64_t stated, uint64_t limit, struct incore_error *e)
{
	size_t room = out->n / 2 + STEP;

	if (out->cap > out->n + 1)
		return true;
	if (!out->n && stated <= limit)
		room = (size_t)stated + 1;
	return sb_reserve(out, room) || err_nomem(e);
}

static bool bad_file(
	const char *path, const ZSTD_inBuffer *in, const char *why, struct incore_error *e)
{
	return err_file(e, "bad-zstd", path, in->pos, "compressed data: %s", why);
}

static bool unpack_frames(ZSTD_DCtx *d, ZSTD_inBuffer *in, uint64_t limit, const char *path,
	struct strbuf *out, struct incore_error *e)
{
	uint64_t stated = ZSTD_getFrameContentSize(in->src, in->size);

	for (;;) {
		ZSTD_outBuffer to;
		size_t left;

		if (!give_room(out, stated, limit, e))
			return false;
		to = (ZSTD_outBuffer){out->p, out->cap - 1, out->n};
		if (to.size > limit + 1)
			to.size = (size_t)(limit + 1);
		left = ZSTD_decompressStream(d, &to, in);
		out->n = to.pos;
		if (ZSTD_isError(left))
			return bad_file(path, in, ZSTD_getErrorName(left), e);
		if (out->n > limit)
			return bad_file(
				path, in, "expands too much for its size: decompress it first", e);
		if (!left &&
			(in->pos == in->size ||
				!zstd_is(str_sub((struct str){in->src, in->size}, in->pos, 4))))
			return true;
		if (left && in->pos == in->size && to.pos < to.size)
			return bad_file(path, in, "ends in the middle", e);
	}
}

bool zstd_unpack_file(struct str packed, uint64_t limit, const char *path, struct strbuf *out,
	struct incore_error *e)
{
	ZSTD_inBuffer in = {packed.p, packed.n, 0};
	ZSTD_DCtx *d = ZSTD_createDCtx();
	bool ok = d ? unpack_frames(d, &in, limit, path, out, e) : err_nomem(e);

	ZSTD_freeDCtx(d);
	if (ok)
		out->p[out->n] = '\0';
	return ok;
}
