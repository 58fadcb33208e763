/* SPDX-License-Identifier: Apache-2.0 */
/* blob_internal.h: private to the writer and the reader of blobs. */
#pragma once

#include "serve/report/blob.h"
#include "trace/fields.h"

#define BLOB_MAGIC "ICB2"
#define BLOB_MAGIC_LEN 4u

enum blob_stream {
	BLOB_LANES,
	BLOB_START, /* after the end of the slice before */
	BLOB_DUR,
	BLOB_STALL,
	BLOB_CODE,  /* after the row that follows the slice before; unknown: n_code */
	BLOB_CLASS, /* against the class of the row */
	BLOB_TAG,   /* against the tag the row had last */
	BLOB_SUB,
	BLOB_STREAMS
};

struct blob_streams {
	struct strbuf stream[BLOB_STREAMS];
	uint8_t *tag_of, *class_of; /* by code row; n_code + 1 */
};

/* blob_tables.c: all but the columns, in the direction of f; false: fields_ok() tells why. */
bool blob_move_tables(struct fields *f, struct view *v, struct trace *t, bool no_source);

/* blob_read.c: the predictions, the same on both sides. */
bool blob_streams_init(struct blob_streams *s, const struct trace *t);
void blob_streams_deinit(struct blob_streams *s);
