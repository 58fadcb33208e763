/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: values of structs that are described (column.h). An answer is one such value, and every
 * list in it is a table. All faces (JSON, JSON Schema, CSV, text, Arrow) are loops over the
 * descriptions, so that a field is named in one place.
 * Owner: values belong to whoever made them. Pure but for the sinks.
 */
#pragma once

#include "codec/column.h"
#include "codec/json_writer.h"

/* --- values --- */
/* A value whose type is known only when it is there. */
struct any {
	enum column_type type; /* of i, u, d, is, text or pair */
	int8_t digits;	       /* as of a column */
	const struct record *of;
	union {
		int64_t i;
		uint64_t u;
		double d;
		bool is;
		const char *text;
		double pair[2]; /* COLUMN_RECORD: `of` says how it is written */
	};
};

/* Rows of a list; the stride is the record's size. */
struct rows {
	const void *v;
	size_t n;
	/* Makes row i from v, good until the next; NULL: v is an array of them. */
	const void *(*at)(const void *v, size_t i);
};

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
struct str column_word(const struct column *c, uint64_t i);	/* the i-th of its words, or "" */
const void *rows_at(const struct record *r, const struct rows *rows, size_t i);
#define COLUMN_HEX_TEXT 24
const char *column_hex(const struct column *c, const void *value, char buf[COLUMN_HEX_TEXT]);

/* --- faces --- */
/* One value: an object, a tuple or a scalar, as the record's style says. */
void record_json(const struct record *r, const void *value, struct json_writer *w);
/* Its members into an open object. */
void record_json_members(const struct record *r, const void *value, struct json_writer *w);
/* What record_json() writes, as a JSON Schema of draft 7. */
void record_schema(const struct record *r, struct json_writer *w);
/* The same into an open object. A last column without a name says what members of any other name
 * are. */
void record_schema_members(const struct record *r, struct json_writer *w);
/* Tables (lists) and columns with title, unit and doc, for --help=json: members of an open object. */
void record_describe(const struct record *r, struct json_writer *w);
