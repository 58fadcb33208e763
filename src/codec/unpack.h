/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h: files that lie packed in another: gzip and zstd. One door for whoever reads such files,
 * and one limit: what is implausibly large for its file is an error like damage.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* Is it a file of gzip or zstd, by its first bytes? */
bool packed_is(struct str bytes);
/* Unpacks the beginning of a file, given its first bytes; returns the number of bytes in out. */
size_t packed_head(struct str packed, uint8_t *out, size_t cap);
/* Appends the whole content of a file; code "bad-gzip" or "bad-zstd", with the offset in it. */
bool packed_unpack(struct str packed, const char *path, struct strbuf *out, struct incore_error *e);

/* How many bytes a file of that size may hold: 256 times as many, at least 64 MiB and at most
 * 4 GiB. Timelines have 10 to 40. */
static inline uint64_t unpack_limit(uint64_t packed)
{
	const uint64_t small = UINT64_C(64) << 20, most = UINT64_C(4) << 30;

	return packed > most / 256 ? most : packed * 256 < small ? small : packed * 256;
}
