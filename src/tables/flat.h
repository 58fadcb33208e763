/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat.h: an answer as flat tables: which there are, their columns, and where a value stands.
 * Owner: the arena given; rows stay where the answer has them. May fail: memory.
 */
#pragma once

#include "answer/answer.h"

#define FLAT_STEPS 6u

struct flat_place { /* in a row: offsets; a pointer is followed between two of them */
	uint32_t step[FLAT_STEPS];
	unsigned n_steps;
};

struct flat_column {
	const char *name; /* in the arena */
	const struct column *column;
	struct flat_place place;
	/* The innermost object that may be null: then nothing in it is there. */
	const struct column *holder; /* or NULL */
	struct flat_place holder_place;
	const char *const *texts; /* by row, of a column whose values each have their own type */
};

struct flat_table {
	const char *name; /* path of the list, "" for the single values */
	const char *doc;
	const void **rows;
	const uint32_t *parent; /* by row, of a list inside rows; or NULL */
	size_t n_rows, cap;
	VEC(struct flat_column) columns;
};

struct flat_tables {
	VEC(struct flat_table *) v;
};

/* Fills *out from an answer's data. */
bool flat_make(struct flat_tables *out, const struct record *r, const void *data, struct arena *a,
	struct incore_error *e);
/* The tables and columns of any such answer, without rows; lists inside rows are left out. */
bool flat_shape(
	struct flat_tables *out, const struct record *r, struct arena *a, struct incore_error *e);
/* The table of that name; NULL: there is none. */
struct flat_table *flat_find(const struct flat_tables *t, const char *name);
void flat_deinit(struct flat_tables *t);
/* Where the value of a column stands; NULL: nowhere. */
const void *flat_value(const struct flat_table *t, size_t row, const struct flat_column *c);
