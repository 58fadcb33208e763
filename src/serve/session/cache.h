/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h: columns of large captures, kept under $XDG_CACHE_HOME/incore (or ~/.cache/incore) so
 * that the next view can map them. The name of a file is a key of all files of the capture (name,
 * size, time of change) and of the options: a changed capture has another name. At most
 * CACHE_MAX_BYTES; the least recently used files are removed first. Nothing here fails: without a
 * cache the columns are read again.
 */
#pragma once

#include "trace/trace.h"

#define CACHE_MAX_BYTES (UINT64_C(8) << 30)
#define CACHE_LEAST_BYTES (UINT64_C(16) << 20) /* smaller captures are read as fast as mapped */

struct cache_file {
	char *dir, *path;
	uint64_t key[2];
};

/* False: no cache for this capture. */
bool cache_file_for(const struct trace *t, const char *salt, struct cache_file *out);
void cache_file_deinit(struct cache_file *f);
/* Marks the file as used now. */
void cache_touch(const struct cache_file *f);
/* Removes the least recently used files, but never f itself. */
void cache_trim(const struct cache_file *f);
