/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h: the tables of a store. Internal to the room. */
#pragma once

#include "store/internal.h"

#define SCHEMA_APPLICATION 0x696e6373 /* "incs" */
#define SCHEMA_VERSION 1	      /* one more wherever a kept table gets a column */

extern const struct record store_entries_record; /* of the table: struct store_entry */

/* All of it in an empty database. */
bool schema_make(struct store *s, struct incore_error *e);
/* Is it a store? One of an earlier version is brought to this one. BAD_INPUT where it is none. */
bool schema_check(struct store *s, struct incore_error *e);
