/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h: one buffer to one buffer; packing gives the same bytes every time. */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* Appends the compressed form to out; false on lack of memory, or of more than 4 GiB. */
bool gzip_pack(struct str bytes, struct strbuf *out);

bool gzip_is(struct str bytes);
/* The first bytes of what a file holds of which these are the first; gives how many. */
size_t gzip_head(struct str packed, uint8_t *out, size_t cap);
/* Appends what all members of a file hold. A result that is too large for its file, or at all, is an
 * error like damage: code "bad-gzip", with the offset in the packed file. */
bool gzip_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e);
/* The same of a stream of zlib without the head of a file. */
bool zlib_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e);
