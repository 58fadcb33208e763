/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h: the tables of a store. Internal to the room. */
#pragma once

#include "store/backend.h"

#define SCHEMA_APPLICATION 0x696e6373 /* "incs" */
#define SCHEMA_VERSION 2	      /* one more wherever a table or a column is added */

/* The tables of a store, in the order that they are made in. `table` is NULL of those that are no
 * tables of a trace: entries, the first, and acceptances, the last, which has no rows of captures. */
struct store_table {
	struct sqlite_table sql;
	const struct table *table;
};
#define STORE_ACCEPTANCES 7
#define STORE_TABLES 8
void store_tables(struct store_table out[STORE_TABLES]); /* fills the list */

extern const struct record store_entries_record; /* of the table: struct store_entry */

enum store_type store_type_of(const struct column *c); /* what a column is kept as */

/* All of it in an empty database; make: in a transaction of its own. */
bool schema_fill(struct store *s, struct incore_error *e);
bool schema_make(struct store *s, struct incore_error *e);
/* Is it a store? One of an earlier version is brought to this one. BAD_INPUT where it is none. */
bool schema_check(struct store *s, struct incore_error *e);
