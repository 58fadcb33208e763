/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h: a trace as one compressed file (.incore), and back. Reading gives back what was
 * written, field by field, except meta.origin (the path it is read from) and meta.content_hash. The
 * same trace gives the same bytes and the same hash for any number of threads; the hash does not
 * depend on the compression level either. Format: incore-packed(7).
 */
#pragma once

#include "base/file.h"
#include "base/pool.h"
#include "base/progress.h"
#include "trace/trace.h"

#define PACKED_DEFAULT_LEVEL 8

struct packed_options {
	int level;		   /* of zstd; 0: PACKED_DEFAULT_LEVEL */
	struct pool *pool;	   /* NULL: the caller's thread */
	struct progress *progress; /* may be NULL */
};

struct packed_result {
	uint64_t file_bytes;
	uint64_t column_bytes; /* part of file_bytes: slices, states, stated waits */
	uint64_t n_slices;
	uint32_t n_tracks, n_failed; /* a track that could not be loaded is stored as its error */
	uint32_t n_blocks;
	uint64_t content_hash[2];
};

/* Writes to f (open, not committed); needs no seeking. */
bool packed_write(const struct trace *t, FILE *f, const struct packed_options *o,
	struct packed_result *out, struct incore_error *e);

/* As packed_write(), but with every track empty: only what a trace holds besides its slices. */
bool packed_write_tables(const struct trace *t, FILE *f, struct incore_error *e);

/* Fills a new trace. `skip` has bit 1 << id set for each section the caller can do without. */
bool packed_read(const char *path, uint32_t skip, struct trace *t, struct incore_error *e);
/* As packed_read(), from a loaded file. Takes ownership of data, also on failure. */
bool packed_read_data(struct file_data data, const char *path, uint32_t skip, struct trace *t,
	struct incore_error *e);

/* As packed_read(), from bytes in memory, which must outlive the trace; `path` is for messages. */
bool packed_read_bytes(
	const uint8_t *p, size_t n, const char *path, struct trace *t, struct incore_error *e);

struct packed_summary {
	int64_t agent, dispatch;
	uint32_t n_tracks, n_code, n_mapped;
	bool has_samples;
	uint64_t code_key; /* equal for captures of the same code */
};
/* Summary of a packed file's bytes; reads only a few sections. */
bool packed_look(
	struct str bytes, const char *path, struct packed_summary *out, struct incore_error *e);
/* The same summary for a trace read from a packed file. */
void packed_look_at_trace(const struct trace *t, struct packed_summary *out);
