/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.c: zlib, with the head of a file. */
#include "codec/gzip.h"

#include <zlib.h>

bool gzip_pack(struct str bytes, struct strbuf *out)
{
	z_stream z = {0};
	size_t room;
	bool ok;

	/* 15 + 16: a gzip head, whose time stays 0: the same bytes every time */
	if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
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
