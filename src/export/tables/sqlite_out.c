/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_out.c: functions common to all formats that are SQLite databases. */
#include "export/tables/sqlite_out.h"

bool sqlite_out_fail(sqlite3 *db, struct incore_error *e)
{
	if (sqlite3_errcode(db) == SQLITE_NOMEM)
		return err_nomem(e);
	return err_set(e, INCORE_FAILED, "write-failed", "SQLite: %s", sqlite3_errmsg(db));
}

bool sqlite_out_run(sqlite3 *db, const char *sql, struct incore_error *e)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || sqlite_out_fail(db, e);
}

bool sqlite_out_put(sqlite3 *db, struct incore_error *e, const char *format, ...)
{
	va_list ap;
	char *sql;
	bool ok;

	va_start(ap, format);
	sql = sqlite3_vmprintf(format, ap);
	va_end(ap);
	ok = sql ? sqlite_out_run(db, sql, e) : err_nomem(e);
	sqlite3_free(sql);
	return ok;
}

bool sqlite_out_open(const struct export *x, const char *head, sqlite3 **db, struct incore_error *e)
{
	if (sqlite3_open_v2(x->file.tmp_path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK)
		return sqlite_out_fail(*db, e);
	return sqlite_out_run(*db,
		       "PRAGMA journal_mode=off; PRAGMA synchronous=off; PRAGMA locking_mode=exclusive",
		       e) &&
	       sqlite_out_run(*db, head, e) && sqlite_out_run(*db, "BEGIN", e);
}

bool sqlite_out_close(sqlite3 **db, struct incore_error *e)
{
	if (!sqlite_out_run(*db, "COMMIT", e))
		return false;
	if (sqlite3_close(*db) != SQLITE_OK)
		return sqlite_out_fail(*db, e);
	*db = NULL;
	return true;
}
