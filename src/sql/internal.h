/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h: shared by the files of this folder. */
#pragma once

#include <sqlite3.h>

#include "base/arena.h"
#include "base/vec.h"
#include "sql/sql.h"
#include "tables/flat.h"
#include "tables/tables.h"

struct kept_answer; /* answers.c */

struct sql {
	sqlite3 *db;
	const struct request *like;
	struct answer *about;
	const char *const *paths;
	unsigned n_captures;
	struct trace **traces;	  /* by capture */
	struct table_keep **kept; /* by capture: cache of tracks that were read; NULL: no cache */
	uint64_t n_run;		  /* statements run so far */
	struct progress *progress;
	struct sql_limits limits;
	struct arena arena; /* descriptions; lives as long as the session */
	VEC(struct sql_table) tables;
	VEC(struct kept_answer *) answers; /* computed for the current query */
	struct incore_error error;	   /* reported by a table that failed */
	uint64_t n_failed;
	bool is_declaring; /* we declare a table of our own, which is allowed */
};

/* Each adds its tables to the database and to s->tables. */
bool sql_add_tables(struct sql *s, struct incore_error *e);
bool sql_add_answers(struct sql *s, struct incore_error *e);

/* Frees the answers that were computed for one query. */
void sql_forget_answers(struct sql *s);

/* The declaration of a table for SQLite, and its description. */
struct sql_declaration {
	struct sql *sql;
	struct strbuf text; /* CREATE TABLE x("a" INTEGER, ... */
	VEC(struct sql_column) columns;
};
/* Adds a column, unless one of that name exists. May fail: memory. */
bool sql_declare(struct sql_declaration *d, const char *name, const struct column *c,
	bool is_argument, struct incore_error *e);
/* Completes the declaration: *text is in the session's arena. Frees d in any case. */
bool sql_declared(struct sql_declaration *d, const char *name, const char *doc, const char **text,
	struct incore_error *e);

/* Declares the columns of a table to SQLite. Sets *out to vtab; frees vtab on failure. */
int sql_connect(struct sql *s, const char *declaration, void *vtab, sqlite3_vtab **out);
/* Records a failure of a table while SQLite runs: moves *e to s->error; returns the SQLite code. */
int sql_table_failed(struct sql *s, struct incore_error *e);
/* Returns a value of a column to SQLite; texts: SQLITE_STATIC where they outlive the statement. */
void sql_result_value(sqlite3_context *ctx, const struct column *c, const void *value,
	sqlite3_destructor_type texts);
/* Narrows [*first, *last] by a constraint on an integer column, if possible; false: no value can
 * match. */
bool sql_narrow(unsigned char op, sqlite3_value *v, int64_t *first, int64_t *last);
