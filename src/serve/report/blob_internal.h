/* SPDX-License-Identifier: Apache-2.0 */
/* blob_internal.h: private to the writer and the reader of blobs. */
#pragma once

#include "serve/report/blob.h"
#include "trace/fields.h"

#define BLOB_MAGIC "ICB2"
#define BLOB_MAGIC_LEN 4u

enum blob_stream {
	BLOB_LANES,
	BLOB_START, /* relative to the end of the slice before */
	BLOB_DUR,
	BLOB_STALL,
	BLOB_CODE,  /* relative to the row after that of the slice before; unknown: n_code */
	BLOB_CLASS, /* XOR with the class of the row */
	BLOB_TAG,   /* XOR with the last tag of the row */
	BLOB_SUB,
	BLOB_STREAMS
};

struct blob_streams {
	struct strbuf stream[BLOB_STREAMS];
	uint8_t *tag_of, *class_of; /* by code row; n_code + 1 */
};

/* blob_tables.c: reads or writes, depending on f, all but the columns; false: see fields_ok(). */
bool blob_move_tables(struct fields *f, struct view *v, struct trace *t, bool no_source);

/* blob_read.c: the predictions, shared by writer and reader. */
bool blob_streams_init(struct blob_streams *s, const struct trace *t);
void blob_streams_deinit(struct blob_streams *s);
