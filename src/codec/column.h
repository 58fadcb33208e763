/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h: descriptions of the fields of a struct: name, unit and meaning.
 *
 *	static const struct column edge_columns[] = {
 *		COLUMN(edge, cycles, UNIT_CYCLES, "cycles that the wait lost to it"),
 *		LIST(edge, waits, &wait_record, "every wait"),
 *	};
 *	const struct record edge_record = RECORD_OF(edge, RECORD_LINE, edge_columns);
 *
 * Owner: descriptions are static.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"

enum unit {
	UNIT_NONE,
	UNIT_COUNT,
	UNIT_CYCLES,
	UNIT_US,
	UNIT_MHZ,
	UNIT_PERCENT, /* 0 .. 100 */
	UNIT_SHARE,   /* 0 .. 1 */
	UNIT_BYTES,
	UNIT_ADDRESS,
	UNIT_ROW,   /* number of an instruction in the listing: a name, not an amount */
	UNIT_INDEX, /* number of something else: also a name */
	UNIT_WAVES,
	UNIT_SAMPLES,
};
const char *unit_name(enum unit u); /* "cycles", ...; "" for UNIT_NONE */

enum column_type {
	COLUMN_U64,
	COLUMN_U32,
	COLUMN_U16,
	COLUMN_U8,
	COLUMN_I64,
	COLUMN_F64, /* written as null if not finite */
	COLUMN_BOOL,
	COLUMN_TEXT, /* const char *; NULL: null */
	COLUMN_STR,  /* struct str */
	COLUMN_ANY,  /* struct any: each value has its own type */
	/* For the types below, `of` describes the content. */
	COLUMN_RECORD,	/* an embedded struct; absent if its first column is 0 or absent */
	COLUMN_POINTER, /* to a struct; NULL: null */
	COLUMN_PART,	/* an embedded struct whose fields are listed among ours */
	COLUMN_PART_AT, /* a pointer to such a struct; OPTIONAL and NULL: no fields */
	COLUMN_LIST,	/* struct rows: a table */
	COLUMN_VEC,	/* VEC() of rows: a table */
	COLUMN_MAP,	/* struct rows: an object; a row is a key and its value */
};

enum column_flag {
	COLUMN_OPTIONAL = 1,  /* left out if absent: NO_U64, NO_I64, NULL, NaN */
	COLUMN_NULLABLE = 2,  /* null if the value is absent */
	COLUMN_NO_JSON = 4,   /* only in tables */
	COLUMN_WIDE = 8,      /* text that is shortened first on a narrow terminal */
	COLUMN_HEAT = 16,     /* a percentage coloured by its size */
	COLUMN_FIXED = 32,    /* trailing zeros after the decimal point are kept (tables) */
	COLUMN_ONE_LINE = 64, /* a list whose JSON stays on one line */
	COLUMN_SOME = 128,    /* OPTIONAL or NULLABLE count: 0 is absent too */
	COLUMN_BAR = 512,     /* a percentage drawn as a bar */
	COLUMN_BLOCK = 256,   /* a list of scalars whose JSON has one line per item */
	COLUMN_HEX = 1024,    /* a number written as text: 0x and at least `digits` digits */
	COLUMN_DASH = 2048,   /* an absent value is "-" in CSV too */
	COLUMN_RIGHT = 4096,  /* right-aligned text */
	COLUMN_BLANK = 8192,  /* an absent value is an empty cell in text tables too */
};

/* For columns with a single flag. */
#define NULLABLE .flags = COLUMN_NULLABLE
#define OPTIONAL .flags = COLUMN_OPTIONAL
#define NO_JSON .flags = COLUMN_NO_JSON

/* Absent values. */
#define NO_U64 UINT64_MAX
#define NO_I64 INT64_MIN

struct record;

struct column {
	const char *name;  /* JSON key; the flat name is all names on the path, joined by '_' */
	const char *title; /* heading in text tables; NULL: the name */
	const char *csv;   /* heading in CSV; NULL: the title */
	const char *doc;   /* one sentence without a period: what it means */
	const struct record *of;
	/* "a|b|c": the allowed values of a text; the names of the numbers from 0 on; the JSON types
	 * of a COLUMN_ANY. NULL: any text; numbers have no names; a number or a text. */
	const char *words;
	uint32_t offset;
	enum column_type type;
	enum unit unit;
	uint16_t flags; /* enum column_flag */
	int8_t digits;	/* digits after the point; negative: significant ones; of a list: rows */
	int8_t table_digits; /* digits in text tables and CSV; 0: as `digits` */
};

enum record_style {
	RECORD_BLOCK,  /* an object, one member per line */
	RECORD_LINE,   /* an object on one line */
	RECORD_TUPLE,  /* an array of its values on one line */
	RECORD_SCALAR, /* its only value, without a container */
};

struct record {
	const struct column *columns;
	uint16_t n_columns;
	enum record_style style;
	size_t size;
};

/* clang-format off */
#define COLUMN_TYPE(S, M) _Generic(((struct S *)0)->M, \
	uint64_t: COLUMN_U64, uint32_t: COLUMN_U32, uint16_t: COLUMN_U16, uint8_t: COLUMN_U8, \
	int64_t: COLUMN_I64, double: COLUMN_F64, bool: COLUMN_BOOL, \
	const char *: COLUMN_TEXT, char *: COLUMN_TEXT, struct str: COLUMN_STR, \
	struct any: COLUMN_ANY)
/* More members of struct column may follow the doc: .title = "%", .flags = COLUMN_WIDE,
 * NULLABLE. */
#define COLUMN_AS(S, M, NAME, UNIT, DOC, ...) \
	{.name = NAME, .doc = DOC, .offset = offsetof(struct S, M), .type = COLUMN_TYPE(S, M), \
		.unit = UNIT, ##__VA_ARGS__}
#define COLUMN(S, M, UNIT, DOC, ...) COLUMN_AS(S, M, #M, UNIT, DOC, ##__VA_ARGS__)
#define COLUMN_HELD(S, M, NAME, TYPE, OF, DOC, ...) \
	{.name = NAME, .doc = DOC, .of = OF, .offset = offsetof(struct S, M), .type = TYPE, ##__VA_ARGS__}
#define RECORD(S, M, OF, DOC, ...) COLUMN_HELD(S, M, #M, COLUMN_RECORD, OF, DOC, ##__VA_ARGS__)
#define POINTER(S, M, OF, DOC, ...) COLUMN_HELD(S, M, #M, COLUMN_POINTER, OF, DOC, ##__VA_ARGS__)
#define PART(S, M, OF) COLUMN_HELD(S, M, "", COLUMN_PART, OF, "")
#define PART_AT(S, M, OF, ...) COLUMN_HELD(S, M, "", COLUMN_PART_AT, OF, "", ##__VA_ARGS__)
/* Includes the columns of another description of the same struct. */
#define PART_SELF(OF) {.name = "", .doc = "", .of = OF, .type = COLUMN_PART}
/* Nests the columns of another description of the same struct in an object. */
#define RECORD_SELF(NAME, OF, DOC) {.name = NAME, .doc = DOC, .of = OF, .type = COLUMN_RECORD}
#define LIST(S, M, OF, DOC, ...) COLUMN_HELD(S, M, #M, COLUMN_LIST, OF, DOC, ##__VA_ARGS__)
#define VECTOR(S, M, NAME, OF, DOC) COLUMN_HELD(S, M, NAME, COLUMN_VEC, OF, DOC)
#define MAP(S, M, OF, DOC, ...) COLUMN_HELD(S, M, #M, COLUMN_MAP, OF, DOC, ##__VA_ARGS__)
#define RECORD_OF(S, STYLE, COLUMNS) \
	{COLUMNS, sizeof(COLUMNS) / sizeof((COLUMNS)[0]), STYLE, sizeof(struct S)}
/* A NULL-terminated list of records. */
#define RECORDS(...) (const struct record *const[]){__VA_ARGS__, NULL}
/* clang-format on */
