/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h: the tables of a store. Internal to this folder. */
#pragma once

#include "store/backend.h"

#define SCHEMA_APPLICATION 0x696e6373 /* "incs" */
#define SCHEMA_VERSION 2	      /* incremented when a table or column is added */

/* The tables of a store, in the order of their creation. `table` is NULL for those that are not
 * tables of a trace: entries, the first, and acceptances, the last, whose rows belong to no
 * capture. */
struct store_table {
	struct sqlite_table sql;
	const struct table *table;
};
#define STORE_ACCEPTANCES 7
#define STORE_TABLES 8
void store_tables(struct store_table out[STORE_TABLES]); /* fills the list */

extern const struct record store_entries_record; /* for the database table: struct store_entry */

enum store_type store_type_of(const struct column *c); /* database type of a column */

/* Creates all tables in an empty database; schema_make() does so in its own transaction. */
bool schema_fill(struct store *s, struct incore_error *e);
bool schema_make(struct store *s, struct incore_error *e);
/* Is it a store? Upgrades one of an earlier version. BAD_INPUT if it is not a store. */
bool schema_check(struct store *s, struct incore_error *e);
