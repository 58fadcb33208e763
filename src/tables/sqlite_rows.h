/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_rows.h: described rows as a table of SQLite: for the SQLite file and the store. Only where
 * the program is built with SQLite. Texts are appended; who made the buffer looks at `failed`.
 */
#pragma once

#include <sqlite3.h>

#include "tables/tables.h"

struct sqlite_table {
	const char *name, *doc;
	const struct record *record;
	const char *key; /* a constraint behind the columns; NULL: none */
};

/* INTEGER, REAL or TEXT. */
const char *sqlite_type(const struct column *c);
bool sqlite_is_nullable(const struct column *c);
/* CREATE TABLE with the description of each column beside it, where .schema shows it. */
void sqlite_put_create(struct strbuf *out, const struct sqlite_table *t);
/* INSERT with its columns by name and a parameter for each, from 1 on. */
void sqlite_put_insert(struct strbuf *out, const struct sqlite_table *t);
/* Texts are borrowed until the statement is reset. Numbers above 2^63 keep their bits: SQLite has no
 * unsigned ones, and %x shows them right. */
int sqlite_bind_value(sqlite3_stmt *q, int at, const struct column *c, const void *value);
/* One row of a batch as parameters of sqlite_put_insert(); false: the database says why. */
bool sqlite_bind_row(
	sqlite3_stmt *q, const struct table *t, const struct table_batch *b, uint32_t row);
/* Runs it, ready for the next row. */
static inline bool sqlite_insert(sqlite3_stmt *q)
{
	return sqlite3_step(q) == SQLITE_DONE && sqlite3_reset(q) == SQLITE_OK;
}
