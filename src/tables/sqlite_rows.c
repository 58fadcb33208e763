/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_rows.c: rows of a record as a table of SQLite. */
#include "tables/sqlite_rows.h"

/* INTEGER, REAL or TEXT. */
static const char *sqlite_type(const struct column *c)
{
	return c->type == COLUMN_TEXT ? "TEXT" : c->type == COLUMN_F64 ? "REAL" : "INTEGER";
}

bool sqlite_is_nullable(const struct column *c)
{
	return c->flags & (COLUMN_NULLABLE | COLUMN_OPTIONAL) || c->type == COLUMN_F64;
}

void sqlite_put_create(struct strbuf *out, const struct sqlite_table *t)
{
	const struct record *r = t->record;

	sb_printf(out, "CREATE TABLE \"%s\" ( -- %s\n", t->name, t->doc);
	for (uint16_t i = 0; i < r->n_columns; i++) {
		const struct column *c = &r->columns[i];
		const char *unit = unit_name(c->unit);

		sb_printf(out, "\t\"%s\" %s%s%s -- %s%s%s\n", c->name, sqlite_type(c),
			sqlite_is_nullable(c) ? "" : " NOT NULL",
			t->key || i + 1 < r->n_columns ? "," : "", c->doc, *unit ? "; " : "", unit);
	}
	sb_printf(out, "%s%s%s) STRICT", t->key ? "\t" : "", t->key ? t->key : "",
		t->key ? "\n" : "");
}

void sqlite_put_insert(struct strbuf *out, const struct sqlite_table *t)
{
	const struct record *r = t->record;

	sb_printf(out, "INSERT INTO \"%s\" (", t->name);
	for (uint16_t i = 0; i < r->n_columns; i++)
		sb_printf(out, "%s\"%s\"", i ? "," : "", r->columns[i].name);
	sb_puts(out, ") VALUES (?");
	for (uint16_t i = 1; i < r->n_columns; i++)
		sb_puts(out, ",?");
	sb_putc(out, ')');
}

/* Texts are borrowed until the statement is reset. Numbers above 2^63 keep their bits: SQLite has
 * no unsigned numbers, and %x shows them correctly. */
static int sqlite_bind_value(sqlite3_stmt *q, int at, const struct column *c, const void *value)
{
	if (c->flags && column_is_null(c, value))
		return sqlite3_bind_null(q, at);
	switch (c->type) {
	case COLUMN_TEXT:
		return sqlite3_bind_text(q, at, *(const char *const *)value, -1, SQLITE_STATIC);
	case COLUMN_F64:
		return sqlite3_bind_double(q, at, *(const double *)value);
	case COLUMN_I64:
		return sqlite3_bind_int64(q, at, *(const int64_t *)value);
	default:
		return sqlite3_bind_int64(q, at, (sqlite3_int64)column_u64(c, value));
	}
}

bool sqlite_bind_row(
	sqlite3_stmt *q, const struct table *t, const struct table_batch *b, uint32_t row)
{
	const struct record *r = t->record;

	for (uint16_t k = 0; k < r->n_columns; k++)
		if (sqlite_bind_value(q, k + 1, &r->columns[k], table_value(t, b, k, row)) !=
			SQLITE_OK)
			return false;
	return true;
}
