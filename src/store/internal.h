/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h: what the files of the room share: the database and its tables. */
#pragma once

#include <sqlite3.h>

#include "store/store.h"
#include "tables/sqlite_rows.h"

/* The tables of a store, in the order that they are made in; name NULL ends. `table` is NULL of the
 * one that is no table of a trace: entries. */
struct store_table {
	struct sqlite_table sql;
	const struct table *table;
};
#define STORE_TABLES 7

struct store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *insert[STORE_TABLES]; /* made when first needed */
	bool is_changed;
};

/* Fills the list. */
void store_tables(struct store_table out[STORE_TABLES]);

/* The last failure of the database as an error. */
bool store_fail(const struct store *s, struct incore_error *e);
bool store_run(struct store *s, const char *sql, struct incore_error *e);
/* NULL with *e filled. */
sqlite3_stmt *store_prepare(struct store *s, const char *sql, struct incore_error *e);
/* Is there another row? False with *e filled, and without: the end. */
bool store_step(struct store *s, sqlite3_stmt *q, struct incore_error *e);
/* Text of a result in the arena; NULL: null. *ok becomes false on lack of memory. */
const char *store_text(sqlite3_stmt *q, int at, struct arena *a, bool *ok);
/* All of a change or nothing: ends the transaction that "BEGIN IMMEDIATE" began; returns ok. */
bool store_end(struct store *s, bool ok, struct incore_error *e);
