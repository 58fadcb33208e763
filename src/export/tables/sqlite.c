/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c: the tables of a trace as one SQLite database. See incore-sqlite(7). Rows are inserted
 * as they are read, in one transaction without a journal: the file is moved into place when
 * complete.
 */
#include "base/mem.h"
#include "export/tables/sqlite_out.h"
#include "export/tables/tabular.h"
#include "export/writer.h"
#include "tables/sqlite_rows.h"

/* The application is "inco". */
#define HEAD "PRAGMA application_id=0x696e636f; PRAGMA user_version=1"

struct sqlite_state {
	sqlite3 *db;
	sqlite3_stmt *insert;
	const struct table *table;
	struct strbuf sql;
};

static bool sqlite_export_begin_table(void *ctx, const struct table *t, struct incore_error *e)
{
	struct sqlite_state *s = ctx;
	struct sqlite_table out = {.name = t->name, .doc = t->doc, .record = t->record};

	s->table = t;
	sb_reset(&s->sql);
	sqlite_put_create(&s->sql, &out);
	if (s->sql.failed)
		return err_nomem(e);
	if (!sqlite_out_run(s->db, s->sql.p, e))
		return false;
	sb_reset(&s->sql);
	sqlite_put_insert(&s->sql, &out);
	if (s->sql.failed)
		return err_nomem(e);
	return sqlite3_prepare_v2(s->db, s->sql.p, -1, &s->insert, NULL) == SQLITE_OK ||
	       sqlite_out_fail(s->db, e);
}

static bool insert_rows(void *ctx, const struct table_batch *b, struct incore_error *e)
{
	struct sqlite_state *s = ctx;

	for (uint32_t i = 0; i < b->n; i++)
		if (!sqlite_bind_row(s->insert, s->table, b, i) || !sqlite_insert(s->insert))
			return sqlite_out_fail(s->db, e);
	return true;
}

static bool sqlite_export_end_table(void *ctx, struct incore_error *e)
{
	struct sqlite_state *s = ctx;

	(void)e;
	sqlite3_finalize(s->insert);
	s->insert = NULL;
	return true;
}

static bool sqlite_export_begin(struct export *x, struct incore_error *e)
{
	struct sqlite_state *s = mem_zalloc(1, sizeof(*s));
	struct tabular_sink sink = {
		s, sqlite_export_begin_table, insert_rows, sqlite_export_end_table};

	if (!s)
		return err_nomem(e);
	x->state = s;
	return sqlite_out_open(x, HEAD, &s->db, e) && tabular_send(x, &sink, e);
}

static bool sqlite_export_end(struct export *x, struct incore_error *e)
{
	return sqlite_out_close(&((struct sqlite_state *)x->state)->db, e);
}

static void sqlite_export_free_state(struct export *x)
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
	.begin = sqlite_export_begin,
	.end = sqlite_export_end,
	.abort = sqlite_export_free_state,
};
