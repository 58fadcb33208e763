/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_result.h: the result of a query, whose columns are only known when it runs: names, and rows of
 * values that carry their types. CSV is written row by row; everything else is collected first.
 * Owner: the caller; sql_out_deinit().
 */
#pragma once

#include "answer/answer.h"
#include "base/vec.h"
#include "sql/sql.h"

struct sql_out {
	FILE *csv; /* rows go there and are not kept; NULL: they are collected */
	struct arena arena;
	const char **names;
	unsigned n_columns;
	VEC(struct any) cells; /* row after row */
	uint64_t bytes, most_bytes;
	struct strbuf line; /* of CSV */
};

/* What is shown at a time: a result, or what a command lists. */
struct sql_shown {
	/* Described by sql_record: what programs get. */
	const char *query;
	struct rows columns, rows; /* text_item; rows of any */
	bool is_cut;
	/* For people, one of these; the others are NULL. */
	const struct sql_out *out;     /* a result */
	const char *file;	       /* to which a result was written */
	const struct sql *tables;      /* its tables */
	const struct sql_table *table; /* its columns */
	const char *text;	       /* lines of ours */
};
extern const struct record sql_record;

void sql_out_init(struct sql_out *o, FILE *csv, uint64_t most_bytes);
void sql_out_deinit(struct sql_out *o);
void sql_out_forget(struct sql_out *o); /* clears it for the next result */
struct sql_sink sql_out_sink(struct sql_out *o);
/* Writes what is left of the CSV. */
bool sql_out_flush(struct sql_out *o, struct incore_error *e);
/* Describes the result for programs. */
bool sql_out_rows(
	struct sql_out *o, const struct sql_result *r, struct sql_shown *x, struct incore_error *e);
/* Writes it to a Parquet file, whole or not at all. */
bool sql_out_parquet(struct sql_out *o, const char *path, struct incore_error *e);
/* The table of that name; NULL with *e filled: none has it. */
const struct sql_table *sql_find_table(
	const struct sql *s, const char *name, struct incore_error *e);
void sql_page(const struct answer *a, struct page *p);
