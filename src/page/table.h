/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: titles and rows of cells; the writers of a page draw them. Each cell has a text for people
 * and, where that differs, a raw value for CSV.
 * Owner: the caller; table_deinit() frees. A failure to allocate latches in is_failed.
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "page/say.h"

enum cell_align { CELL_LEFT, CELL_RIGHT };
#define TABLE_COLUMNS 64 /* limit per table */

struct table_column {
	const char *title;     /* text header: "stall" */
	const char *csv_title; /* with unit: "stall_cycles"; NULL: title */
	enum cell_align align;
	bool may_cut; /* its texts are cut first if the page is narrow */
	/* If that is not enough, columns are left out in this order; 0: never. */
	unsigned char leaves;
};

struct table_cell {
	const char *text;
	const char *csv; /* raw value for CSV; NULL: text */
	enum cell_style style;
	bool is_text; /* text that may come from a capture */
};

struct table {
	struct arena arena;
	const struct table_column *columns;
	unsigned n_columns;
	VEC(struct table_cell) cells;
	bool is_failed;
};

/* The columns are borrowed and must outlive the table. */
void table_init(struct table *t, const struct table_column *columns, unsigned n);
/* Takes the titles from one string: "cause<|error %=error_pct|line~". Columns are right-aligned;
 * '<': left-aligned; '~': left-aligned and cut first. '=' precedes the title in CSV; "2?title" is
 * the second to be left out if the page is too narrow. */
void table_titles(struct table *t, const char *titles);
/* Copies the columns. */
void table_take_columns(struct table *t, const struct table_column *columns, unsigned n);
void table_deinit(struct table *t);

/* A cell of TABLE_ROW(). */
struct cell_value {
	enum cell_kind {
		VALUE_TEXT,
		VALUE_START,   /* a text, only its start if it is longer than `whole` */
		VALUE_END,     /* a path, only its end if it is longer than `whole` */
		VALUE_COUNT,   /* with thousands separators */
		VALUE_NAME,    /* a number that names something: no separators */
		VALUE_ADDRESS, /* in hexadecimal */
		VALUE_PERCENT, /* `count` in per cent of `whole` */
		VALUE_DOUBLE,
	} kind;
	int digits; /* of a double */
	const char *text;
	uint64_t count, whole;
	double real;
};
/* clang-format off */
#define CELL_TEXT(s) {.kind = VALUE_TEXT, .text = (s)}
#define CELL_START(s, max) {.kind = VALUE_START, .text = (s), .whole = (max)}
#define CELL_END(s, max) {.kind = VALUE_END, .text = (s), .whole = (max)}
#define CELL_COUNT(n) {.kind = VALUE_COUNT, .count = (n)}
#define CELL_NAME(n) {.kind = VALUE_NAME, .count = (uint64_t)(n)}
#define CELL_ADDRESS(n) {.kind = VALUE_ADDRESS, .count = (n)}
#define CELL_PERCENT(n, of) {.kind = VALUE_PERCENT, .count = (n), .whole = (of)}
#define CELL_DOUBLE(v, n) {.kind = VALUE_DOUBLE, .real = (v), .digits = (n)}
#define TABLE_ROW(t, ...) table_row((t), (const struct cell_value[]){__VA_ARGS__}, \
	sizeof((const struct cell_value[]){__VA_ARGS__}) / sizeof(struct cell_value))
/* clang-format on */
void table_row(struct table *t, const struct cell_value *v, size_t n);

/* Cells are added row by row, left to right. */
void table_str(struct table *t, struct str s);
void table_cstr(struct table *t, const char *s);
void table_u64(struct table *t, uint64_t v); /* "12,345" in text, 12345 in CSV */
void table_i64(struct table *t, int64_t v);
void table_double(struct table *t, double v, int digits); /* negative: significant digits */
void table_style(struct table *t, enum cell_style style); /* of the last cell added */
