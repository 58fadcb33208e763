/* SPDX-License-Identifier: Apache-2.0 */
/* rocpd_db.c: opens an untrusted database in memory, isolated. */
#include <sqlite3.h>
#include <stdarg.h>

#include "import/timeline/rocpd.h"

#define HEADER_BYTES 100
#define WRITE_VERSION 18 /* and 19, the read version: 2 means a write-ahead log */
#define STEPS_AT_ONCE 1000
/* A scan with four lookups per row takes about a hundred steps, and a row at least 8 bytes. */
#define STEPS_PER_BYTE 16
#define SPARE_WORK 10000

static int refuse_all_but_reading(void *ctx, int action, const char *a, const char *b,
	const char *database, const char *inner)
{
	(void)ctx;
	(void)a;
	(void)b;
	(void)database;
	/* nothing is read through views or triggers, only from tables */
	if (inner)
		return SQLITE_DENY;
	return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

static int count_work(void *ctx)
{
	struct rocpd_db *x = ctx;

	if (!x->work_left)
		return 1;
	x->work_left--;
	return 0;
}

static void set_walls(struct rocpd_db *x)
{
	static const struct {
		int id, most;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 4 << 20},
		{SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
		{SQLITE_LIMIT_COLUMN, 200},
		{SQLITE_LIMIT_EXPR_DEPTH, 50},
		{SQLITE_LIMIT_COMPOUND_SELECT, 2},
		{SQLITE_LIMIT_VDBE_OP, 25000},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(x->db, limits[i].id, limits[i].most);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_set_authorizer(x->db, refuse_all_but_reading, NULL);
	sqlite3_progress_handler(x->db, STEPS_AT_ONCE, count_work, x);
}

static bool fail(struct rocpd_db *x, struct incore_error *e)
{
	int code = x->db ? sqlite3_errcode(x->db) & 0xff : SQLITE_NOMEM;

	if (code == SQLITE_NOMEM)
		return err_nomem(e);
	if (code == SQLITE_INTERRUPT)
		return err_file(e, "bad-database", x->path, INCORE_NO_OFFSET,
			"reading it takes far more work than its size explains");
	return err_file(
		e, "bad-database", x->path, INCORE_NO_OFFSET, "SQLite: %s", sqlite3_errmsg(x->db));
}

/* A database that was left in write-ahead mode is marked by two bytes and then cannot be opened
 * from memory; the rest of the file is the same, so a copy with other bytes is used. */
static bool without_log(struct rocpd_db *x, const void **data, size_t size, struct incore_error *e)
{
	const uint8_t *head = *data;

	if (head[WRITE_VERSION] != 2 && head[WRITE_VERSION + 1] != 2)
		return true;
	x->copy = mem_alloc(size);
	if (!x->copy)
		return err_nomem(e);
	memcpy(x->copy, head, size);
	x->copy[WRITE_VERSION] = x->copy[WRITE_VERSION + 1] = 1;
	*data = x->copy;
	return true;
}

bool rocpd_db_open(
	struct rocpd_db *x, const void *data, size_t size, const char *path, struct incore_error *e)
{
	*x = (struct rocpd_db){
		.path = path, .work_left = size / (STEPS_AT_ONCE / STEPS_PER_BYTE) + SPARE_WORK};
	if (size < HEADER_BYTES)
		return err_file(e, "bad-database", path, size, "the file ends in its header");
	if (!without_log(x, &data, size, e))
		return false;
	if (sqlite3_open_v2(":memory:", &x->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK ||
		sqlite3_deserialize(x->db, "main", (unsigned char *)(uintptr_t)data,
			(sqlite3_int64)size, (sqlite3_int64)size,
			SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
		return fail(x, e);
	/* only makes SQLite check more; the first query reports a file that is not a database */
	sqlite3_exec(x->db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
	set_walls(x);
	return true;
}

void rocpd_db_close(struct rocpd_db *x)
{
	sqlite3_close(x->db);
	mem_free(x->copy);
	*x = (struct rocpd_db){0};
}

bool rocpd_db_prepare(
	struct rocpd_db *x, sqlite3_stmt **q, struct incore_error *e, const char *format, ...)
{
	va_list ap;
	char *sql;
	bool ok;

	va_start(ap, format);
	sql = sqlite3_vmprintf(format, ap);
	va_end(ap);
	*q = NULL;
	if (!sql)
		return err_nomem(e);
	ok = sqlite3_prepare_v2(x->db, sql, -1, q, NULL) == SQLITE_OK;
	sqlite3_free(sql);
	return ok || fail(x, e);
}

bool rocpd_db_step(struct rocpd_db *x, sqlite3_stmt **q, bool *at_end, struct incore_error *e)
{
	int code = sqlite3_step(*q);

	*at_end = code == SQLITE_DONE;
	if (code == SQLITE_ROW)
		return true;
	if (!*at_end)
		fail(x, e);
	sqlite3_finalize(*q);
	*q = NULL;
	return false;
}

int64_t rocpd_number(sqlite3_stmt *q, int column)
{
	int64_t v = sqlite3_column_type(q, column) == SQLITE_INTEGER
			    ? sqlite3_column_int64(q, column)
			    : -1;

	return v < 0 ? NO_VALUE : v;
}

struct str rocpd_text(sqlite3_stmt *q, int column)
{
	const char *p = sqlite3_column_type(q, column) == SQLITE_TEXT
				? (const char *)sqlite3_column_text(q, column)
				: NULL;

	return (struct str){p, p ? (size_t)sqlite3_column_bytes(q, column) : 0};
}
