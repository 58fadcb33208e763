/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_out.h: a new database at x->file.tmp_path, for formats that are SQLite databases: no
 * journal, one transaction from open to close. Owner: the writer, which initialises its pointer to
 * NULL; sqlite_out_close() frees.
 */
#pragma once

#include <sqlite3.h>

#include "export/export.h"

/* head: SQL to run before the transaction. */
bool sqlite_out_open(
	const struct export *x, const char *head, sqlite3 **db, struct incore_error *e);
bool sqlite_out_run(sqlite3 *db, const char *sql, struct incore_error *e);
/* Runs SQL formatted as by sqlite3_mprintf(): %Q is a quoted text or NULL. */
bool sqlite_out_put(sqlite3 *db, struct incore_error *e, const char *format, ...);
/* Sets *e from the last failure of the database; returns false. */
bool sqlite_out_fail(sqlite3 *db, struct incore_error *e);
/* Commits and closes; sets *db to NULL. */
bool sqlite_out_close(sqlite3 **db, struct incore_error *e);
