/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.h: thread traces that came in chunks: which of those that a table lists are one stream, in
 * which order, and is one missing? A chunk goes on where the one before it ended, in the middle of a
 * token or of a wave: their bytes in a row are the stream. Owner: strings are the lister's.
 */
#pragma once

#include "import/import.h"

struct sqtt_chunk {
	uint32_t run;		 /* of a database that has several */
	int64_t agent, dispatch; /* NO_VALUE: not said */
	int64_t agent_name;	 /* what files call that agent; NO_VALUE: not said */
	int64_t se, index;
	int64_t row;	   /* that lists it */
	const char *path;  /* of its file, from the directory of the table; NULL: the row has it */
	int64_t size;	   /* of its bytes, as stated; NO_VALUE: not */
	const char *wrong; /* what the row says amiss, or NULL */
};

/* The bytes of a chunk that its row has: c->size of them. */
typedef bool (*sqtt_chunk_fn)(
	void *ctx, const struct sqtt_chunk *c, uint8_t *to, struct incore_error *e);

struct sqtt_chunk_list {
	const char *path; /* of the table's file */
	struct sqtt_chunk *v;
	size_t n;
	sqtt_chunk_fn read;
	void *ctx;
};

/* By trace, stream and place in it; how many traces there are. */
uint32_t sqtt_chunks_sort(struct sqtt_chunk_list *l);
/* The chunks of the trace that begins at `from`, of a sorted list; none: n is 0. */
struct sqtt_chunk_list sqtt_chunks_of(const struct sqtt_chunk_list *l, size_t from);
uint64_t sqtt_chunks_bytes(const struct sqtt_chunk_list *l);
/* The trace of one trace's chunks. Code "bad-chunk": rows that say nothing, contradict or are there
 * twice. A chunk that is missing is a note, and what follows it is left out. */
bool sqtt_chunks_read(const struct sqtt_chunk_list *l, const struct import_options *o,
	struct trace *t, struct incore_error *e);
