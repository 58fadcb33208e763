/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat.h: an answer as flat tables: the list of tables, their columns, and where values are stored.
 * Owner: the given arena; rows are not copied out of the answer, except those
 * that it makes one at a time (struct rows.at). May fail: memory.
 */
#pragma once

#include "answer/answer.h"

#define FLAT_STEPS 6u

struct flat_place { /* offsets into a row; between two of them a pointer is followed */
	uint32_t step[FLAT_STEPS];
	unsigned n_steps;
};

struct flat_column {
	const char *name; /* in the arena */
	const struct column *column;
	struct flat_place place;
	/* The innermost nullable object around the column: if it is null, the value is missing. */
	const struct column *holder; /* or NULL */
	struct flat_place holder_place;
	const char *const *texts; /* by row; for a column of named numbers, or of different types */
};

struct flat_table {
	const char *name; /* path of the list, "" for the single values */
	const char *doc;
	const void **rows;
	const uint32_t *parent; /* by row, for a list inside rows: the parent's row; or NULL */
	size_t n_rows, cap;
	VEC(struct flat_column) columns;
};

struct flat_tables {
	VEC(struct flat_table *) v;
};

/* Fills *out from the data of an answer. */
bool flat_make(struct flat_tables *out, const struct record *r, const void *data, struct arena *a,
	struct incore_error *e);
/* Fills *out with the tables and columns that such an answer has, without rows and without lists
 * inside rows. */
bool flat_shape(
	struct flat_tables *out, const struct record *r, struct arena *a, struct incore_error *e);
/* Finds a table by name; NULL: no such table. */
struct flat_table *flat_find(const struct flat_tables *t, const char *name);
void flat_deinit(struct flat_tables *t);
/* Address of the value of a column in a row; NULL: the value is missing. */
const void *flat_value(const struct flat_table *t, size_t row, const struct flat_column *c);
