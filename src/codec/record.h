/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: values of structs that are described (column.h). An answer is one such value, and every
 * list in it is a table. All faces (JSON, JSON Schema, CSV, text, Arrow) are loops over the
 * descriptions, so that a field is named in one place.
 * Owner: values belong to whoever made them. Pure but for the sinks.
 */
#ifndef CODEC_RECORD_H
#define CODEC_RECORD_H

#include "codec/column.h"
#include "codec/json_writer.h"

/* --- values --- */
/* A column that is held by another: its place in a row of the outermost record. */
struct leaf {
	const struct column *column;
	uint32_t
		offset; /* in the row; through pointers: of the pointer, and `inner` in what it points to */
	uint32_t inner;
	bool is_behind; /* a pointer */
};
/* Column by its path ("buckets.issue", "waits_for.row"); false: there is none. */
bool record_find(const struct record *r, const char *path, struct leaf *out);
/* Where the value of a leaf stands in a row; NULL: behind a pointer that is NULL. */
const void *leaf_value(const struct leaf *l, const void *row);
/* Is there nothing to show: null, NO_I64, not a number? */
bool column_is_null(const struct column *c, const void *value);
uint64_t column_u64(const struct column *c, const void *value); /* of the unsigned types and bool */

/* --- faces --- */
/* One value: an object, a tuple or a scalar, as the record's style says. */
void record_json(const struct record *r, const void *value, struct json_writer *w);
/* Its members into an open object. */
void record_json_members(const struct record *r, const void *value, struct json_writer *w);
/* What record_json() writes, as a JSON Schema of draft 7. */
void record_schema(const struct record *r, struct json_writer *w);
/* Tables (lists) and columns with title, unit and doc, for --help=json: members of an open object. */
void record_describe(const struct record *r, struct json_writer *w);

#endif
