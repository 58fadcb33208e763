/* SPDX-License-Identifier: Apache-2.0 */
/* row.h: reads rows of a store into structs and writes them. Internal to this folder. */
#pragma once

#include "store/backend.h"

/* The current row of a query; `ok` becomes false on lack of memory. */
struct store_row {
	struct store *s;
	struct store_query *q;
	struct arena *a;
	bool ok;
};
/* Text of a column, in the arena; NULL: null, or no memory. */
const char *store_text_at(struct store_row *r, int at);
/* Like store_text_at(), with `nothing` for NULL: a corrupt file can contain NULL even in a STRICT
 * table. */
const char *store_text_or(struct store_row *r, int at, const char *nothing);

/* For rows() of a backend: the values of a struct, in the order of its record. */
struct store_value store_value_of(const struct column *c, const void *value);
void store_put_values(struct store *s, const struct record *r, const void *value);
/* Runs a statement that takes one number and returns no rows. */
bool store_run_with(struct store *s, const char *sql, uint64_t number, struct incore_error *e);
