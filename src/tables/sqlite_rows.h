/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_rows.h: rows of a record as a table of SQLite: for the SQLite file and the store. Only in
 * builds with SQLite. Texts are appended; the owner of the buffer checks its `failed`.
 */
#pragma once

#include <sqlite3.h>

#include "tables/tables.h"

struct sqlite_table {
	const char *name, *doc;
	const struct record *record;
	const char *key; /* a constraint after the columns; NULL: none */
};

bool sqlite_is_nullable(const struct column *c);
/* Appends CREATE TABLE with a comment that describes each column, so that .schema shows it. */
void sqlite_put_create(struct strbuf *out, const struct sqlite_table *t);
/* Appends INSERT with the column names and a parameter for each, numbered from 1. */
void sqlite_put_insert(struct strbuf *out, const struct sqlite_table *t);
/* Binds one row of a batch to the parameters of sqlite_put_insert(); on false the database holds
 * the error. */
bool sqlite_bind_row(
	sqlite3_stmt *q, const struct table *t, const struct table_batch *b, uint32_t row);
/* Runs the statement and resets it for the next row. */
static inline bool sqlite_insert(sqlite3_stmt *q)
{
	return sqlite3_step(q) == SQLITE_DONE && sqlite3_reset(q) == SQLITE_OK;
}
