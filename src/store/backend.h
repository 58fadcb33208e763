/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h: interface of a store to its database; implemented by sqlite.c and postgres.c. Both run
 * the same SQL: parameters are $1, $2 ...; every table has a `rowid` in the order of insertion.
 *
 *	struct store_query *q = store_ask(s, "SELECT a FROM t WHERE b = $1", e, V_INT(7));
 *	while (store_step(s, q, e))
 *		use store_int(s, q, 0);
 *	store_done(s, q);
 *
 * Owner: a query is freed with store_done(); its texts are valid until the next step. A store has
 * one query or one series of added rows open at a time, and a failure of either ends it.
 */
#pragma once

#include "store/store.h"
#include "tables/sqlite_rows.h"

enum store_type { STORE_NULL, STORE_INT, STORE_REAL, STORE_TEXT };
struct store_value {
	enum store_type type;
	int64_t i;
	double d;
	const char *text; /* NULL in a STORE_TEXT: no memory */
};
#define V_NULL ((struct store_value){.type = STORE_NULL})
#define V_INT(X) ((struct store_value){.type = STORE_INT, .i = (int64_t)(X)})
#define V_REAL(X) ((struct store_value){.type = STORE_REAL, .d = (X)})
#define V_TEXT(X) ((struct store_value){.type = STORE_TEXT, .text = (X)})

enum store_access { STORE_READ, STORE_WRITE };

struct store_query;
struct store_params {
	const struct store_value *v;
	unsigned n;
};

struct store_backend {
	/* Opens the store; creates it if it does not exist and is_made is set. */
	bool (*open)(struct store *s, bool is_made, struct incore_error *e);
	void (*close)(struct store *s); /* allowed for a store that was never open */
	/* Runs one or several statements that return no rows. */
	bool (*run)(struct store *s, const char *sql, struct incore_error *e);
	/* Readers see the store as of now; writers wait for each other, up to STORE_BUSY_S. */
	bool (*begin)(struct store *s, enum store_access access, struct incore_error *e);
	/* Commits, or rolls back if !ok; returns whether it was committed. */
	bool (*end)(struct store *s, bool ok, struct incore_error *e);

	struct store_query *(*ask)(struct store *s, const char *sql, const struct store_params *p,
		struct incore_error *e);
	bool (*step)(struct store *s, struct store_query *q, struct incore_error *e);
	struct store_value (*value)(struct store_query *q, int at, enum store_type as);
	void (*done)(struct store_query *q); /* NULL is fine */

	/* Add rows to one table, value by value in the order of its columns; texts must stay valid
	 * until row(). */
	bool (*rows)(struct store *s, unsigned table, struct incore_error *e);
	void (*put)(struct store *s, const struct store_value *v);
	bool (*row)(struct store *s, struct incore_error *e);
	bool (*rows_end)(struct store *s, bool ok, struct incore_error *e); /* returns ok */

	/* --- the schema --- */
	const char *types[3]; /* of STORE_INT, STORE_REAL, STORE_TEXT */
	const char *columns;  /* SQL: name, type, whether computed, for each column of table $1 */
	const char *reclaim;  /* SQL: frees space after a removal; NULL: the server does it */
	bool (*is_safe)(
		struct store *s, struct incore_error *e); /* contains no foreign code to run */
	bool (*version)(
		struct store *s, int64_t *application, int64_t *version, struct incore_error *e);
	void (*put_version)(struct strbuf *sql);
	void (*put_create)(struct strbuf *sql, const struct sqlite_table *t);
};
extern const struct store_backend sqlite_backend, postgres_backend;

struct store {
	const struct store_backend *backend;
	char *path;	     /* in the form that may be shown */
	const char *address; /* address to open; borrowed during store_open() */
	void *db;	     /* the backend's own */
};

/* Opens an empty file as a new store, with sqlite_backend. */
bool sqlite_make(struct store *s, const char *path, struct incore_error *e);

/* --- calls of the backend --- */

static inline bool store_run(struct store *s, const char *sql, struct incore_error *e)
{
	return s->backend->run(s, sql, e);
}
static inline bool store_begin(struct store *s, enum store_access access, struct incore_error *e)
{
	return s->backend->begin(s, access, e);
}
static inline bool store_end(struct store *s, bool ok, struct incore_error *e)
{
	return s->backend->end(s, ok, e);
}
/* Starts a query; NULL with *e filled on failure. */
#define store_ask(S, SQL, E, ...) ((S)->backend->ask((S), (SQL), &STORE_PARAMS(__VA_ARGS__), (E)))
#define STORE_VALUES(...) ((const struct store_value[]){{.type = STORE_NULL}, __VA_ARGS__})
#define STORE_PARAMS(...)                                                                          \
	((struct store_params){STORE_VALUES(__VA_ARGS__) + 1,                                      \
		sizeof(STORE_VALUES(__VA_ARGS__)) / sizeof(struct store_value) - 1})
/* Is there another row? False: a failure if *e is filled, otherwise the end. */
static inline bool store_step(struct store *s, struct store_query *q, struct incore_error *e)
{
	return s->backend->step(s, q, e);
}
static inline int64_t store_int(struct store *s, struct store_query *q, int at)
{
	return s->backend->value(q, at, STORE_INT).i;
}
/* NULL becomes NO_I64. */
static inline int64_t store_int_or_none(struct store *s, struct store_query *q, int at)
{
	struct store_value v = s->backend->value(q, at, STORE_INT);

	return v.type == STORE_NULL ? NO_I64 : v.i;
}
static inline void store_done(struct store *s, struct store_query *q)
{
	s->backend->done(q);
}
