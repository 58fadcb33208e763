/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h: packs and unpacks whole buffers; packing is reproducible. */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* Appends the compressed form to out; false when out of memory, or for more than 4 GiB. */
bool gzip_pack(struct str bytes, struct strbuf *out);

bool gzip_is(struct str bytes);
/* Unpacks the beginning of a file, given its first bytes; returns the number of bytes in out. */
size_t gzip_head(struct str packed, uint8_t *out, size_t cap);
/* Appends the content of all members of a file. A result that is implausibly large for its file, or
 * over the limit, is an error like damage: code "bad-gzip", with the offset in the packed file. */
bool gzip_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e);
/* gzip_unpack() for a zlib stream, which has no gzip header. */
bool zlib_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e);
