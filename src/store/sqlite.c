/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c: a store in one file. A new file is created under a temporary name beside it and linked
 * into place when complete, so that processes that create it at once all get the same one. It has a
 * write-ahead log: readers never wait, writers wait for each other, and committed data is complete
 * however a process ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/schema.h"

struct sqlite_store {
	sqlite3 *db;
	sqlite3_stmt *insert[STORE_TABLES]; /* prepared on first use */
	sqlite3_stmt *rows;		    /* statement of the table being filled */
	int at;				    /* its next parameter, from 1 on */
	bool is_bad;			    /* a value could not be bound */
	bool is_changed;
};

/* --- statements --- */

static bool store_sqlite_fail(const struct store *s, struct incore_error *e)
{
	sqlite3 *db = ((struct sqlite_store *)s->db)->db;
	const char *why = sqlite3_errmsg(db);

	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_NOMEM:
		return err_nomem(e);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_ERROR: /* an unreadable schema, or a missing name */
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return err_file(
			e, "bad-store", s->path, INCORE_NO_OFFSET, "not a usable store: %s", why);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(e, INCORE_FAILED, "store-busy",
			"%s: others kept it busy for %d seconds", s->path, STORE_BUSY_S);
	default:
		return err_set(e, INCORE_FAILED, "store-failed", "%s: %s", s->path, why);
	}
}

static bool store_sqlite_run(struct store *s, const char *sql, struct incore_error *e)
{
	struct sqlite_store *x = s->db;

	return sqlite3_exec(x->db, sql, NULL, NULL, NULL) == SQLITE_OK || store_sqlite_fail(s, e);
}

static bool store_sqlite_begin(struct store *s, enum store_access access, struct incore_error *e)
{
	return store_sqlite_run(s, access == STORE_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", e);
}

static bool store_sqlite_end(struct store *s, bool ok, struct incore_error *e)
{
	struct sqlite_store *x = s->db;

	if (ok && store_sqlite_run(s, "COMMIT", e)) {
		x->is_changed = true;
		return true;
	}
	sqlite3_exec(x->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

static sqlite3_stmt *store_sqlite_prepare(struct store *s, const char *sql, struct incore_error *e)
{
	struct sqlite_store *x = s->db;
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(x->db, sql, -1, &q, NULL) == SQLITE_OK)
		return q;
	store_sqlite_fail(s, e);
	return NULL;
}

static int store_sqlite_bind(sqlite3_stmt *q, int at, const struct store_value *v)
{
	switch (v->type) {
	case STORE_INT:
		return sqlite3_bind_int64(q, at, v->i);
	case STORE_REAL:
		return sqlite3_bind_double(q, at, v->d);
	case STORE_TEXT:
		return sqlite3_bind_text(q, at, v->text, -1, SQLITE_STATIC);
	default:
		return sqlite3_bind_null(q, at);
	}
}

/* A query is the statement itself. SQLite has named parameters: $1 is a name here. */
static struct store_query *store_sqlite_ask(
	struct store *s, const char *sql, const struct store_params *p, struct incore_error *e)
{
	sqlite3_stmt *q = store_sqlite_prepare(s, sql, e);

	for (unsigned i = 0; q && i < p->n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "$%u", i + 1);
		if (store_sqlite_bind(q, sqlite3_bind_parameter_index(q, name), &p->v[i]) ==
			SQLITE_OK)
			continue;
		store_sqlite_fail(s, e);
		sqlite3_finalize(q);
		return NULL;
	}
	return (struct store_query *)q;
}

static bool store_sqlite_step(struct store *s, struct store_query *q, struct incore_error *e)
{
	int code = sqlite3_step((sqlite3_stmt *)q);

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return store_sqlite_fail(s, e);
	return code == SQLITE_ROW;
}

static struct store_value store_sqlite_value(struct store_query *query, int at, enum store_type as)
{
	sqlite3_stmt *q = (sqlite3_stmt *)query;

	if (sqlite3_column_type(q, at) == SQLITE_NULL)
		return V_NULL;
	return as == STORE_TEXT	  ? V_TEXT((const char *)sqlite3_column_text(q, at))
	       : as == STORE_REAL ? V_REAL(sqlite3_column_double(q, at))
				  : V_INT(sqlite3_column_int64(q, at));
}

static void store_sqlite_done(struct store_query *q)
{
	sqlite3_finalize((sqlite3_stmt *)q);
}

/* --- rows --- */

static bool store_sqlite_rows(struct store *s, unsigned table, struct incore_error *e)
{
	struct sqlite_store *x = s->db;
	sqlite3_stmt **q = &x->insert[table];

	if (!*q) {
		struct store_table tables[STORE_TABLES];
		struct strbuf sql = {0};

		store_tables(tables);
		sqlite_put_insert(&sql, &tables[table].sql);
		*q = sql.failed ? err_nomem_null(e) : store_sqlite_prepare(s, sql.p, e);
		sb_free(&sql);
	}
	x->rows = *q;
	x->at = 1;
	x->is_bad = false;
	return *q != NULL;
}

static void store_sqlite_put(struct store *s, const struct store_value *v)
{
	struct sqlite_store *x = s->db;

	x->is_bad |= store_sqlite_bind(x->rows, x->at++, v) != SQLITE_OK;
}

static bool store_sqlite_row(struct store *s, struct incore_error *e)
{
	struct sqlite_store *x = s->db;

	x->at = 1;
	return (!x->is_bad && sqlite_insert(x->rows)) || store_sqlite_fail(s, e);
}

/* Also releases the bound texts, which are only valid as long as their row. */
static bool store_sqlite_rows_end(struct store *s, bool ok, struct incore_error *e)
{
	struct sqlite_store *x = s->db;

	(void)e;
	if (x->rows) {
		sqlite3_reset(x->rows);
		sqlite3_clear_bindings(x->rows);
	}
	x->rows = NULL;
	return ok;
}

/* --- the file --- */

static bool store_sqlite_connect(struct store *s, const char *path, struct incore_error *e)
{
	static const char SETTINGS[] =
		"PRAGMA trusted_schema=off; PRAGMA cell_size_check=on; PRAGMA synchronous=normal";
	struct sqlite_store *x = s->db = mem_zalloc(1, sizeof(*x));
	int code;

	if (!x)
		return err_nomem(e);
	code = sqlite3_open_v2(path, &x->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (!x->db)
		return err_nomem(e);
	if (code != SQLITE_OK)
		return store_sqlite_fail(s, e);
	sqlite3_busy_timeout(x->db, STORE_BUSY_S * 1000);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(x->db, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_limit(x->db, SQLITE_LIMIT_ATTACHED, 1);
	return store_sqlite_run(s, SETTINGS, e);
}

/* Flushes added data to the file: commits only write the log. */
static void store_sqlite_disconnect(struct store *s)
{
	struct sqlite_store *x = s->db;

	if (!x)
		return;
	for (unsigned i = 0; i < STORE_TABLES; i++)
		sqlite3_finalize(x->insert[i]);
	if (x->is_changed)
		sqlite3_wal_checkpoint_v2(x->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	sqlite3_close(x->db);
	mem_free(x);
	s->db = NULL;
}

bool sqlite_make(struct store *s, const char *path, struct incore_error *e)
{
	return store_sqlite_connect(s, path, e) &&
	       store_sqlite_run(s, "PRAGMA journal_mode=wal", e) && schema_make(s, e);
}

static bool make_beside(struct store *s, struct incore_error *e)
{
	struct out_file o;
	bool ok;

	if (!out_file_open_named(&o, s->path, e))
		return false;
	ok = sqlite_make(s, o.tmp_path, e);
	store_sqlite_disconnect(s);
	/* EEXIST: another process was first; its file is as good */
	if (ok && link(o.tmp_path, s->path) != 0 && errno != EEXIST)
		ok = err_output(e, errno, s->path, "cannot create");
	out_file_abort(&o);
	return ok;
}

static bool store_sqlite_open_file(struct store *s, bool is_made, struct incore_error *e)
{
	if (!file_exists(s->path) && !is_made)
		return err_file(e, "no-store", s->path, INCORE_NO_OFFSET,
			"no store is here; incore store add makes one");
	if (!file_exists(s->path) && !make_beside(s, e))
		return false;
	if (file_is_dir(s->path))
		return err_file(e, "bad-store", s->path, INCORE_NO_OFFSET,
			"is a directory: a store is one file");
	return store_sqlite_connect(s, s->path, e);
}

/* --- the schema --- */

static bool store_sqlite_ask_number(
	struct store *s, const char *sql, int64_t *out, struct incore_error *e)
{
	sqlite3_stmt *q = store_sqlite_prepare(s, sql, e);
	bool ok = q && sqlite3_step(q) == SQLITE_ROW;

	*out = ok ? sqlite3_column_int64(q, 0) : 0;
	sqlite3_finalize(q);
	return ok || (q ? store_sqlite_fail(s, e) : false);
}

/* Checks for foreign code: triggers run when we write, virtual tables and views when we read. */
static bool store_sqlite_is_safe(struct store *s, struct incore_error *e)
{
	int64_t n;

	if (!store_sqlite_ask_number(s,
		    "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' OR (type = 'view' AND "
		    "name NOT IN ('kernels', 'lines')) OR sql LIKE 'CREATE VIRTUAL%'",
		    &n, e))
		return false;
	return !n || err_file(e, "bad-store", s->path, INCORE_NO_OFFSET,
			     "not a store of incore alone: it has triggers, views or virtual "
			     "tables, which are not run");
}

static bool store_sqlite_version(
	struct store *s, int64_t *application, int64_t *number, struct incore_error *e)
{
	return store_sqlite_ask_number(s, "PRAGMA application_id", application, e) &&
	       store_sqlite_ask_number(s, "PRAGMA user_version", number, e);
}

static void store_sqlite_put_version(struct strbuf *sql)
{
	sb_printf(sql, "PRAGMA application_id=%d; PRAGMA user_version=%d", SCHEMA_APPLICATION,
		SCHEMA_VERSION);
}

const struct store_backend sqlite_backend = {
	.open = store_sqlite_open_file,
	.close = store_sqlite_disconnect,
	.run = store_sqlite_run,
	.begin = store_sqlite_begin,
	.end = store_sqlite_end,
	.ask = store_sqlite_ask,
	.step = store_sqlite_step,
	.value = store_sqlite_value,
	.done = store_sqlite_done,
	.rows = store_sqlite_rows,
	.put = store_sqlite_put,
	.row = store_sqlite_row,
	.rows_end = store_sqlite_rows_end,
	.types = {"INTEGER", "REAL", "TEXT"},
	.columns = "SELECT name, type, hidden FROM pragma_table_xinfo($1)",
	.reclaim = "VACUUM",
	.is_safe = store_sqlite_is_safe,
	.version = store_sqlite_version,
	.put_version = store_sqlite_put_version,
	.put_create = sqlite_put_create,
};
