/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: values of structs that have a description (column.h). An answer is one such value, and
 * every list in it is a table. All output formats (JSON, JSON Schema, CSV, text, Arrow) are loops
 * over the descriptions, so that a field is named in one place only.
 * Owner: values belong to their creator. Pure, except for the sinks.
 */
#pragma once

#include "codec/column.h"
#include "codec/json_writer.h"

/* --- values --- */
/* A value that carries its own type. */
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
	/* Makes row i from v, valid until the next call; NULL: v is an array of rows. */
	const void *(*at)(const void *v, size_t i);
};

/* A column, maybe of a nested record: its place in a row of the outermost record. */
struct leaf {
	const struct column *column;
	uint32_t offset; /* in the row; is_behind: of the pointer */
	uint32_t inner;	 /* is_behind: offset in the struct that it points to */
	bool is_behind;	 /* reached through a pointer */
};
/* Finds a column by its path ("buckets.issue", "waits_for.row"); false: not found. */
bool record_find(const struct record *r, const char *path, struct leaf *out);
/* Returns the address of a leaf's value in a row; NULL if it is behind a NULL pointer. */
const void *leaf_value(const struct leaf *l, const void *row);
/* Is the value absent: null, NO_I64, NaN? */
bool column_is_null(const struct column *c, const void *value);
uint64_t column_u64(const struct column *c, const void *value); /* unsigned types and bool */
struct str column_word(const struct column *c, uint64_t i);	/* the i-th of its words, or "" */
const void *rows_at(const struct record *r, const struct rows *rows, size_t i);
#define COLUMN_HEX_TEXT 24
const char *column_hex(const struct column *c, const void *value, char buf[COLUMN_HEX_TEXT]);

/* --- output --- */
/* Writes one value: an object, a tuple or a scalar, depending on the record's style. */
void record_json(const struct record *r, const void *value, struct json_writer *w);
/* Writes the JSON Schema (draft 7) of the output of record_json(). */
void record_schema(const struct record *r, struct json_writer *w);
/* Writes the schema's members into an open object. A last column without a name describes members
 * of any other name. */
void record_schema_members(const struct record *r, struct json_writer *w);
/* Tables (lists) and columns with title, unit and doc, for --help=json: members of an open
 * object. */
void record_describe(const struct record *r, struct json_writer *w);
