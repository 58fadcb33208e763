/* SPDX-License-Identifier: Apache-2.0 */
/* zstd.c: packs and unpacks whole frames of known size. */
#include "codec/zstd.h"

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
