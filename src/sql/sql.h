/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h: SQL queries over open captures. SQLite reads the tables of tables/tables.h straight from
 * the traces, and the answers of the verbs as further tables; nothing is copied into a database
 * first. Queries may come from anyone: a query only reads, opens no file, and is stopped at the
 * limits. SQLite can stop only between two steps of a query; one step (replace() in long texts, the
 * expansion of common table expressions) can outlast any limit and only ends with its process.
 *
 * Owner: the caller; sql_close(). The request and the answer given to sql_open() must outlive it.
 * May fail: an invalid query with status USAGE and its line and column; a limit with status FAILED;
 * an input as its verb would fail. After a failure the next query may be run.
 * Threads: one at a time; a query may use the request's pool.
 */
#pragma once

#include "answer/answer.h"

struct sql_limits {
	uint64_t timeout_s;    /* of one query; 0: no limit */
	uint64_t memory_bytes; /* of SQLite in all, and of the answers a query uses; 0: no limit */
	uint64_t max_rows;     /* of one result; the rest is left out, and the result says so */
	/* Called on a thread of its own if a cancelled query is still in the same step after
	 * SQL_GRACE_MS. It reports the error and ends the process. NULL: wait for the step. */
	void (*on_stuck)(void *ctx, const struct incore_error *e);
	void *stuck_ctx;
};
#define SQL_GRACE_MS 300u
#define SQL_TIMEOUT_S 60
#define SQL_MEMORY_MIB 512
#define SQL_MAX_ROWS 100000

enum sql_type { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT, SQL_BLOB };

struct sql_value {
	enum sql_type type;
	int64_t i;
	double d;
	struct str bytes; /* of a text or blob; valid during the call */
};

#define SQL_MAX_COLUMNS 512u /* of a result */

struct sql_sink { /* receives a result; false: stop, with *e filled */
	void *ctx;
	bool (*columns)(void *ctx, const char *const *names, unsigned n, struct incore_error *e);
	bool (*row)(void *ctx, const struct sql_value *v, unsigned n, struct incore_error *e);
};

struct sql_result {
	uint64_t n_rows;
	bool is_cut; /* there were more than max_rows */
};

struct sql;

bool sql_is_built(void); /* built with SQLite? If not, sql_open() fails and says so */
/* Reads the captures: capture k of the tables is path k - 1. `like` says how to read them; `about`
 * keeps them open and collects their warnings. NULL with *e filled on failure. */
struct sql *sql_open(const struct request *like, struct answer *about, const char *const *paths,
	unsigned n_paths, const struct sql_limits *limits, struct incore_error *e);
void sql_close(struct sql *s); /* NULL is fine */

/* Runs the first statement of the text; *rest is the text after it. A statement that consists only
 * of blanks and comments has no columns. */
bool sql_run(struct sql *s, const char *text, const char **rest, const struct sql_sink *sink,
	struct sql_result *out, struct incore_error *e);
/* Is there a statement left, other than blanks, semicolons and comments? */
bool sql_has_more(const char *text);
/* Is the last statement of the text complete, so that a shell can run it? */
bool sql_is_complete(const char *text);
/* Number of tracks that could not be read so far. */
uint64_t sql_failed(const struct sql *s);

/* Tables and columns to query: for .tables, .schema and completion. */
struct sql_column {
	const char *name, *type, *unit, *doc;
	bool is_argument; /* hidden: an argument of the table, in this order */
};
struct sql_table {
	const char *name, *doc;
	struct rows columns; /* sql_column */
};
/* The *n tables, in display order. Valid until sql_close(). */
const struct sql_table *sql_tables(const struct sql *s, size_t *n);
