/* SPDX-License-Identifier: Apache-2.0 */
/* zstd.h: packs and unpacks whole buffers. The size of the unpacked data is known and checked
 * first, but for files of others (unpack.h). */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* Appends the compressed form of p[0..n) to out. */
bool zstd_pack(const void *p, size_t n, int level, struct strbuf *out, struct incore_error *e);
/* zstd_pack() with a context that is reused, ZSTD_createCCtx() .. ZSTD_freeCCtx(), and with the
 * parameters set there. */
struct ZSTD_CCtx_s;
bool zstd_pack_with(struct ZSTD_CCtx_s *context, const void *p, size_t n, int level,
	struct strbuf *out, struct incore_error *e);
/* Fills out[0..out_n) exactly, or fails with code "bad-zstd". */
bool zstd_unpack(const void *p, size_t n, void *out, size_t out_n, struct incore_error *e);
/* zstd_unpack() with a context that is reused: ZSTD_createDCtx() .. ZSTD_freeDCtx(). */
struct ZSTD_DCtx_s;
bool zstd_unpack_with(struct ZSTD_DCtx_s *context, struct str packed, void *out, size_t out_n,
	struct incore_error *e);

/* Does a file begin like frames of zstd? */
bool zstd_is(struct str bytes);
/* Unpacks the beginning of a file, given its first bytes; returns the number of bytes in out. */
size_t zstd_head(struct str packed, uint8_t *out, size_t cap);
/* Appends the content of all frames of a file, up to `limit` bytes in out. Damage and a larger
 * content are errors: code "bad-zstd", with the offset in the packed file. */
bool zstd_unpack_file(struct str packed, uint64_t limit, const char *path, struct strbuf *out,
	struct incore_error *e);
