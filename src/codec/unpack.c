/* SPDX-License-Identifier: Apache-2.0 */
/* unpack.c: which packing it is. */
#include "codec/unpack.h"

#include "codec/gzip.h"
#include "codec/zstd.h"

bool packed_is(struct str bytes)
{
	return gzip_is(bytes) || zstd_is(bytes);
}

size_t packed_head(struct str packed, uint8_t *out, size_t cap)
{
	return gzip_is(packed) ? gzip_head(packed, out, cap) : zstd_head(packed, out, cap);
}

bool packed_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e)
{
	return gzip_is(packed) ? gzip_unpack(packed, path, out, e)
			       : zstd_unpack_file(packed, unpack_limit(packed.n), path, out, e);
}
