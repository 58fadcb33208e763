/* SPDX-License-Identifier: Apache-2.0 */
/* row.h: rows of a store read into structs and written from them. Internal to the room. */
#pragma once

#include "store/backend.h"

/* The row that a query is at; `ok` becomes false on lack of memory. */
struct store_row {
	struct store *s;
	struct store_query *q;
	struct arena *a;
	bool ok;
};
/* Text of it in the arena; NULL: null, or no memory. */
const char *store_text_at(struct store_row *r, int at);
/* The same; STRICT does not hold where bytes of the file were changed. */
const char *store_text_or(struct store_row *r, int at, const char *nothing);

/* Of rows() of a backend: the values of a struct, in the order of its record. */
struct store_value store_value_of(const struct column *c, const void *value);
void store_put_values(struct store *s, const struct record *r, const void *value);
/* A statement with one number and without rows. */
bool store_run_with(struct store *s, const char *sql, uint64_t number, struct incore_error *e);
