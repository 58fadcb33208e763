/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c: the tables of a trace as one SQLite database. See incore-sqlite(7). Rows are inserted as
 * they come, in one transaction without a journal: the file is put in its place when it is whole.
 */
#include "base/mem.h"
#include "export/tables/sqlite_out.h"
#include "export/tables/tabular.h"
#include "export/writer.h"

/* The application is "inco". */
#define HEAD "PRAGMA application_id=0x696e636f; PRAGMA user_version=1"

struct sqlite_state {
	sqlite3 *db;
	sqlite3_stmt *insert;
	const struct table *table;
	struct strbuf sql;
};

static const char *sql_type(enum column_type type)
{
	return type == COLUMN_TEXT ? "TEXT" : type == COLUMN_F64 ? "REAL" : "INTEGER";
}

static bool is_nullable(const struct column *c)
{
	return c->flags & (COLUMN_NULLABLE | COLUMN_OPTIONAL) || c->type == COLUMN_F64;
}

/* The description of a column stays in the schema, where .schema shows it. */
static bool create_table(struct sqlite_state *s, const struct table *t, struct incore_error *e)
{
	const struct record *r = t->record;

	sb_reset(&s->sql);
	sb_printf(&s->sql, "CREATE TABLE \"%s\" ( -- %s\n", t->name, t->doc);
	for (uint16_t i = 0; i < r->n_columns; i++) {
		const struct column *c = &r->columns[i];
		const char *unit = unit_name(c->unit);

		sb_printf(&s->sql, "\t\"%s\" %s%s%s -- %s%s%s\n", c->name, sql_type(c->type),
			is_nullable(c) ? "" : " NOT NULL", i + 1 < r->n_columns ? "," : "", c->doc,
			*unit ? "; " : "", unit);
	}
	sb_puts(&s->sql, ") STRICT");
	return s->sql.failed ? err_nomem(e) : sqlite_out_run(s->db, s->sql.p, e);
}

static bool begin_table(void *ctx, const struct table *t, struct incore_error *e)
{
	struct sqlite_state *s = ctx;

	if (!create_table(s, t, e))
		return false;
	s->table = t;
	sb_reset(&s->sql);
	sb_printf(&s->sql, "INSERT INTO \"%s\" VALUES (?", t->name);
	for (uint16_t i = 1; i < t->record->n_columns; i++)
		sb_puts(&s->sql, ",?");
	sb_putc(&s->sql, ')');
	if (s->sql.failed)
		return err_nomem(e);
	return sqlite3_prepare_v2(s->db, s->sql.p, -1, &s->insert, NULL) == SQLITE_OK ||
	       sqlite_out_fail(s->db, e);
}

/* Numbers above 2^63 keep their bits: SQLite has no unsigned ones, and %x shows them right. */
static int bind_value(sqlite3_stmt *q, int at, const struct column *c, const void *value)
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

static bool insert_rows(void *ctx, const struct table_batch *b, struct incore_error *e)
{
	struct sqlite_state *s = ctx;
	const struct record *r = s->table->record;

	for (uint32_t i = 0; i < b->n; i++) {
		for (uint16_t k = 0; k < r->n_columns; k++)
			if (bind_value(s->insert, k + 1, &r->columns[k],
				    table_value(s->table, b, k, i)) != SQLITE_OK)
				return sqlite_out_fail(s->db, e);
		if (sqlite3_step(s->insert) != SQLITE_DONE || sqlite3_reset(s->insert) != SQLITE_OK)
			return sqlite_out_fail(s->db, e);
	}
	return true;
}

static bool end_table(void *ctx, struct incore_error *e)
{
	struct sqlite_state *s = ctx;

	(void)e;
	sqlite3_finalize(s->insert);
	s->insert = NULL;
	return true;
}

static bool begin(struct export *x, struct incore_error *e)
{
	struct sqlite_state *s = mem_zalloc(1, sizeof(*s));
	struct tabular_sink sink = {s, begin_table, insert_rows, end_table};

	if (!s)
		return err_nomem(e);
	x->state = s;
	return sqlite_out_open(x, HEAD, &s->db, e) && tabular_send(x, &sink, e);
}

static bool end(struct export *x, struct incore_error *e)
{
	return sqlite_out_close(&((struct sqlite_state *)x->state)->db, e);
}

static void free_state(struct export *x)
{
	struct sqlite_state *s = x->state;

	if (!s)
		return;
	sqlite3_finalize(s->insert);
	sqlite3_close(s->db);
	sb_free(&s->sql);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_sqlite = {
	.name = "sqlite",
	.suffix = ".sqlite",
	.media_type = "application/vnd.sqlite3",
	.summary = "the tables of incore sql as one SQLite database",
	.needs_name = true,
	TABULAR_WRITER,
	.begin = begin,
	.end = end,
	.abort = free_state,
};
