/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h: what the files of the room share. */
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
	struct table_keep **kept; /* by capture: tracks that were read; NULL: none is to stay */
	uint64_t n_run;		  /* statements */
	struct progress *progress;
	struct sql_limits limits;
	struct arena arena; /* descriptions; as long as the session */
	VEC(struct sql_table) tables;
	VEC(struct kept_answer *) answers; /* asked for the query that runs */
	struct incore_error error;	   /* what a table said when it failed */
	uint64_t n_failed;
	bool is_declaring; /* a table of ours: allowed */
};

/* Each adds its tables to the database and to s->tables. */
bool sql_add_tables(struct sql *s, struct incore_error *e);
bool sql_add_answers(struct sql *s, struct incore_error *e);
bool sql_add_functions(struct sql *s, struct incore_error *e);

/* Frees what was asked for one query. */
void sql_forget_answers(struct sql *s);

/* The texts of a table that is told to SQLite, and its description. */
struct sql_declaration {
	struct sql *sql;
	struct strbuf text; /* CREATE TABLE x("a" INTEGER, ... */
	VEC(struct sql_column) columns;
};
/* Adds a column, unless there is one of that name. May fail: memory. */
bool sql_declare(struct sql_declaration *d, const char *name, const struct column *c,
	bool is_argument, struct incore_error *e);
/* Ends it: *text is in the session's arena. Frees d in any case. */
bool sql_declared(struct sql_declaration *d, const char *name, const char *doc, const char **text,
	struct incore_error *e);

/* Tells SQLite the columns of a table; *out is vtab, or that is freed. */
int sql_connect(struct sql *s, const char *declaration, void *vtab, sqlite3_vtab **out);
/* A failure of a table while SQLite runs: s->error is moved from *e; gives what to return. */
int sql_table_failed(struct sql *s, struct incore_error *e);
/* A value of a column as SQLite takes it; texts: SQLITE_STATIC where they outlive the statement. */
void sql_result_value(sqlite3_context *ctx, const struct column *c, const void *value,
	sqlite3_destructor_type texts);
/* The limits that a constraint on an integer column sets, where it can; false: nothing passes. */
bool sql_narrow(unsigned char op, sqlite3_value *v, int64_t *first, int64_t *last);
