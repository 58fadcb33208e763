/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.h: thread traces stored in chunks: finds out which chunks of a table are one stream, in
 * which order, and whether one is missing. A chunk may end in the middle of a token or of a wave:
 * the concatenated bytes are the stream. Owner: strings belong to the code that lists the chunks.
 */
#pragma once

#include "import/import.h"

struct sqtt_chunk {
	uint32_t run;		 /* number of the run, in a database with several */
	int64_t agent, dispatch; /* NO_VALUE: not stated */
	int64_t agent_name;	 /* its number in file names; NO_VALUE: not stated */
	int64_t se, index;
	int64_t row;	   /* the table's row */
	const char *path;  /* its file, from the table's directory; NULL: it is in the row */
	int64_t size;	   /* stated size in bytes; NO_VALUE: not stated */
	const char *wrong; /* what is wrong with the row, or NULL */
};

/* Reads the c->size bytes of a chunk that are in its row. */
typedef bool (*sqtt_chunk_fn)(
	void *ctx, const struct sqtt_chunk *c, uint8_t *to, struct incore_error *e);

struct sqtt_chunk_list {
	const char *path; /* path of the table's file */
	struct sqtt_chunk *v;
	size_t n;
	sqtt_chunk_fn read;
	void *ctx;
};

/* Sorts by trace, stream and place in the stream; returns the number of traces. */
uint32_t sqtt_chunks_sort(struct sqtt_chunk_list *l);
/* The chunks of the trace that begins at index `from` of a sorted list; n is 0 at the end. */
struct sqtt_chunk_list sqtt_chunks_of(const struct sqtt_chunk_list *l, size_t from);
uint64_t sqtt_chunks_bytes(const struct sqtt_chunk_list *l);
/* Reads the trace from the chunks of one trace. Code "bad-chunk": rows that are incomplete,
 * contradictory or duplicate. A missing chunk becomes a note, and the rest of its stream is left
 * out. */
bool sqtt_chunks_read(const struct sqtt_chunk_list *l, const struct import_options *o,
	struct trace *t, struct incore_error *e);
