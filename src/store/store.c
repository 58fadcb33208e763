/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c: the file. A new one is made beside its place and linked there when it is whole, so that of
 * several who make it at once all get the same one. It has a write-ahead log: readers never wait,
 * writers wait for each other, and whatever ends a process, what was committed is whole.
 */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/schema.h"

/* --- the database --- */

bool store_fail(const struct store *s, struct incore_error *e)
{
	const char *why = sqlite3_errmsg(s->db);

	switch (sqlite3_errcode(s->db) & 0xff) {
	case SQLITE_NOMEM:
		return err_nomem(e);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_ERROR: /* a schema that cannot be read, or a name that is not there */
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

bool store_run(struct store *s, const char *sql, struct incore_error *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || store_fail(s, e);
}

sqlite3_stmt *store_prepare(struct store *s, const char *sql, struct incore_error *e)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK)
		return q;
	store_fail(s, e);
	return NULL;
}

bool store_step(struct store *s, sqlite3_stmt *q, struct incore_error *e)
{
	int code = sqlite3_step(q);

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return store_fail(s, e);
	return code == SQLITE_ROW;
}

const char *store_text(sqlite3_stmt *q, int at, struct arena *a, bool *ok)
{
	const char *text = (const char *)sqlite3_column_text(q, at);
	char *copy;

	if (!text) {
		*ok = *ok && sqlite3_column_type(q, at) == SQLITE_NULL;
		return NULL;
	}
	copy = arena_strdup(a, text);
	*ok = *ok && copy;
	return copy;
}

bool store_end(struct store *s, bool ok, struct incore_error *e)
{
	if (ok && store_run(s, "COMMIT", e)) {
		s->is_changed = true;
		return true;
	}
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

static bool connect(struct store *s, const char *path, struct incore_error *e)
{
	static const char SETTINGS[] =
		"PRAGMA trusted_schema=off; PRAGMA cell_size_check=on; PRAGMA synchronous=normal";
	int code = sqlite3_open_v2(path, &s->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

	if (!s->db)
		return err_nomem(e);
	if (code != SQLITE_OK)
		return store_fail(s, e);
	sqlite3_busy_timeout(s->db, STORE_BUSY_S * 1000);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1);
	return store_run(s, SETTINGS, e);
}

/* What was added is on the disk when the store is closed: commits alone only write the log. */
static void disconnect(struct store *s)
{
	for (unsigned i = 0; i < STORE_TABLES; i++) {
		sqlite3_finalize(s->insert[i]);
		s->insert[i] = NULL;
	}
	if (s->is_changed)
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	sqlite3_close(s->db);
	s->db = NULL;
}

/* --- a new one --- */

static bool make(struct store *s, struct incore_error *e)
{
	struct out_file o;
	bool ok;

	if (!out_file_open_named(&o, s->path, e))
		return false;
	ok = connect(s, o.tmp_path, e) && store_run(s, "PRAGMA journal_mode=wal", e) &&
	     schema_make(s, e);
	disconnect(s);
	/* another that came first is as good */
	if (ok && link(o.tmp_path, s->path) != 0 && errno != EEXIST)
		ok = err_output(e, errno, s->path, "cannot create");
	out_file_abort(&o);
	return ok;
}

/* --- opened --- */

struct store *store_open(const char *path, bool is_made, struct incore_error *e)
{
	struct store *s = mem_zalloc(1, sizeof(*s));
	bool ok;

	if (!s)
		return err_nomem_null(e);
	s->path = mem_strndup(path, strlen(path));
	ok = s->path ? true : err_nomem(e);
	if (ok && !file_exists(path))
		ok = is_made ? make(s, e)
			     : err_file(e, "no-store", path, INCORE_NO_OFFSET,
				       "no store is here; incore store add makes one");
	if (ok && file_is_dir(path))
		ok = err_file(e, "bad-store", path, INCORE_NO_OFFSET, "a directory, not a store");
	if (ok && connect(s, path, e) && schema_check(s, e))
		return s;
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	disconnect(s);
	mem_free(s->path);
	mem_free(s);
}

/* --- keeping order --- */

static bool remove_one(struct store *s, uint64_t capture, struct incore_error *e)
{
	struct store_table tables[STORE_TABLES];

	store_tables(tables);
	for (unsigned i = 0; i < STORE_TABLES; i++) {
		char sql[96];

		snprintf(sql, sizeof(sql), "DELETE FROM \"%s\" WHERE capture = %llu",
			tables[i].sql.name, (unsigned long long)capture);
		if (!store_run(s, sql, e))
			return false;
	}
	return true;
}

bool store_remove(struct store *s, const uint64_t *captures, size_t n, struct incore_error *e)
{
	bool ok = store_run(s, "BEGIN IMMEDIATE", e);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < n; i++)
		ok = remove_one(s, captures[i], e);
	return store_end(s, ok, e) && (!n || store_run(s, "VACUUM", e));
}

/* A number each, without an end to the length of a statement. */
static bool keep_these(struct store *s, const uint64_t *captures, size_t n, struct incore_error *e)
{
	struct store_table tables[STORE_TABLES];
	sqlite3_stmt *q = NULL;
	bool ok = store_run(
		s, "BEGIN IMMEDIATE; CREATE TEMP TABLE kept (capture INTEGER PRIMARY KEY)", e);

	if (ok)
		q = store_prepare(s, "INSERT OR IGNORE INTO temp.kept VALUES (?)", e);
	ok = q != NULL;
	for (size_t i = 0; ok && i < n; i++) {
		sqlite3_bind_int64(q, 1, (sqlite3_int64)captures[i]);
		ok = sqlite3_step(q) == SQLITE_DONE && sqlite3_reset(q) == SQLITE_OK;
		if (!ok)
			store_fail(s, e);
	}
	sqlite3_finalize(q);
	store_tables(tables);
	for (unsigned i = 0; ok && i < STORE_TABLES; i++) {
		char sql[128];

		snprintf(sql, sizeof(sql),
			"DELETE FROM main.\"%s\" WHERE capture NOT IN (SELECT capture FROM temp.kept)",
			tables[i].sql.name);
		ok = store_run(s, sql, e);
	}
	return store_end(s, ok, e) && store_run(s, "VACUUM", e);
}

bool store_copy(
	struct store *s, const char *to, const uint64_t *captures, size_t n, struct incore_error *e)
{
	struct store copy = {0};
	struct out_file o;
	char *sql;
	bool ok;

	if (!out_file_open_named(&o, to, e))
		return false;
	copy.path = o.tmp_path;
	sql = sqlite3_mprintf("VACUUM INTO %Q", o.tmp_path);
	ok = sql ? store_run(s, sql, e) : err_nomem(e);
	sqlite3_free(sql);
	ok = ok && connect(&copy, o.tmp_path, e) && keep_these(&copy, captures, n, e) &&
	     store_run(&copy, "PRAGMA journal_mode=wal", e);
	disconnect(&copy);
	ok = ok && out_file_commit(&o, e);
	out_file_abort(&o);
	return ok;
}
