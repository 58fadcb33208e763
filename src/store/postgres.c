/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.c: a store in a PostgreSQL database, in its schema `incore`. A writer holds one lock
 * from the time a capture gets its number until it is committed; the server releases it if the
 * writer disappears. Rows are added by COPY; queries are prepared once per connection. Parts: the
 * library; texts; the backend.
 */
#include <dlfcn.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "store/schema.h"

/* --- the library ------------------------------------------------------------------------------ */

/*
 * Libpq, loaded when the first PostgreSQL store is opened: if it were linked, it and its libraries
 * would be loaded in every run of the program. Also converts texts: bytes that are not UTF-8, which
 * PostgreSQL refuses, become characters of a private range. Loads libpq, if the system has it.
 */

#define PQ_FUNCTIONS(X)                                                                            \
	X(PQclear)                                                                                 \
	X(PQcmdStatus)                                                                             \
	X(PQconnectdbParams)                                                                       \
	X(PQconninfoFree)                                                                          \
	X(PQconninfoParse)                                                                         \
	X(PQerrorMessage)                                                                          \
	X(PQexec)                                                                                  \
	X(PQfinish)                                                                                \
	X(PQgetResult)                                                                             \
	X(PQgetisnull)                                                                             \
	X(PQgetvalue)                                                                              \
	X(PQparameterStatus)                                                                       \
	X(PQpass)                                                                                  \
	X(PQprepare)                                                                               \
	X(PQputCopyData)                                                                           \
	X(PQputCopyEnd)                                                                            \
	X(PQresultErrorField)                                                                      \
	X(PQresultStatus)                                                                          \
	X(PQsendQueryPrepared)                                                                     \
	X(PQsetNoticeProcessor)                                                                    \
	X(PQsetSingleRowMode)                                                                      \
	X(PQstatus)

struct pq {
#define PQ_MEMBER(NAME) __typeof__(&NAME) NAME;
	PQ_FUNCTIONS(PQ_MEMBER)
#undef PQ_MEMBER
};

#define LIBRARY "libpq.so.5"

static bool postgres_library_find_all(void *library, struct pq *out)
{
	bool ok = true;

#define PQ_FIND(NAME)                                                                              \
	out->NAME = (__typeof__(&NAME))(uintptr_t)dlsym(library, #NAME);                           \
	ok = ok && out->NAME;
	PQ_FUNCTIONS(PQ_FIND)
#undef PQ_FIND
	return ok;
}

/* Loads libpq, for good. NULL with *e filled (MISSING) if the system does not have it. */
static const struct pq *pq_load(struct incore_error *e)
{
	static struct pq pq;
	static bool is_loaded; /* a store belongs to one thread, and the program opens one */
	void *library;

	if (is_loaded)
		return &pq;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library || !postgres_library_find_all(library, &pq)) {
		err_set(e, INCORE_MISSING, "no-libpq",
			"a store of PostgreSQL needs " LIBRARY
			", which is not here: apt install libpq5");
		return NULL;
	}
	is_loaded = true;
	return &pq;
}

/* --- texts ------------------------------------------------------------------------------------ */

/*
 * Any bytes as UTF-8, and back.
 */

/* U+10FE80 .. U+10FEBF stand for the bytes 0x80 .. 0xBF, U+10FEC0 .. U+10FEFF for 0xC0 .. 0xFF. */
#define LEAD "\xf4\x8f"
#define LOW 0xba
#define HIGH 0xbb

static bool is_replaced(const unsigned char *p)
{
	return p[0] == 0xf4 && p[1] == 0x8f && (p[2] == LOW || p[2] == HIGH);
}

/* Appends a text in a form that PostgreSQL accepts: each byte that is not part of a UTF-8 character
 * becomes U+10FE00 plus its value, and so do the bytes of characters U+10FE80 to U+10FEFF, so that
 * the original can be restored. */
static void pg_put_text(struct strbuf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text, *from = p;
	const unsigned char *end = p + strlen(text);

	while (p < end) {
		size_t n = utf8_length(p, (size_t)(end - p));

		if (n && !(n == 4 && is_replaced(p))) {
			p += n;
			continue;
		}
		sb_add(out, (const char *)from, (size_t)(p - from));
		sb_puts(out, LEAD);
		sb_putc(out, (char)(*p < 0xc0 ? LOW : HIGH));
		sb_putc(out, (char)(0x80 | (*p & 0x3f)));
		from = ++p;
	}
	sb_add(out, (const char *)from, (size_t)(p - from));
}

/* Restores the original: the text itself if nothing was replaced, otherwise a copy in the arena;
 * NULL: no memory. */
static const char *pg_plain_text(const char *text, struct arena *a)
{
	const char *p = strstr(text, LEAD);
	char *out, *to;

	if (!p)
		return text;
	to = out = arena_alloc(a, strlen(text) + 1);
	if (!out)
		return NULL;
	for (p = text; *p;)
		if (is_replaced((const unsigned char *)p) && p[3]) {
			*to++ = (char)((p[2] == (char)LOW ? 0x80 : 0xc0) | (p[3] & 0x3f));
			p += 4;
		} else {
			*to++ = *p++;
		}
	*to = 0;
	return out;
}

/* --- the backend ------------------------------------------------------------------------------ */

#define COPY_BYTES (64u << 10)
#define CONNECT_S "10"
#define STATE_BUSY "55P03"

struct postgres {
	const struct pq *pq;
	PGconn *c;
	VEC(char *) prepared; /* SQL of the prepared statements q0, q1 ... */
	struct strbuf rows;   /* COPY data not yet sent */
	unsigned table;
	int64_t rowid;
	size_t row_at; /* start of the current row */
};

struct store_query {
	struct postgres *x;
	PGresult *row;
	struct arena texts; /* texts that had to be restored */
	bool is_over;
};

/* --- errors --- */

/* Appends an error text as one line and masks the password, which libpq should not put there. */
static void postgres_put_reason(struct strbuf *out, const struct postgres *x, const char *text)
{
	const char *secret = x->pq->PQpass(x->c);
	struct str s = str_trim(str_of(text ? text : ""));

	while (s.n) {
		if (secret && *secret && str_starts(s, secret)) {
			sb_puts(out, "***");
			s = str_sub(s, strlen(secret), s.n);
			continue;
		}
		if ((unsigned char)*s.p > ' ')
			sb_putc(out, *s.p);
		else if (out->n && out->p[out->n - 1] != ' ')
			sb_putc(out, ' ');
		s = str_sub(s, 1, s.n);
	}
}

static bool fail_as(struct store *s, const char *state, const char *text, struct incore_error *e)
{
	struct postgres *x = s->db;
	struct strbuf b = {0};

	postgres_put_reason(&b, x, text);
	if (b.failed)
		err_nomem(e);
	else if (x->pq->PQstatus(x->c) == CONNECTION_BAD)
		err_set(e, INCORE_FAILED, "store-lost", "%s: the connection was lost: %s", s->path,
			b.p);
	else if (state && strcmp(state, STATE_BUSY) == 0)
		err_set(e, INCORE_FAILED, "store-busy", "%s: others kept it busy for %d seconds",
			s->path, STORE_BUSY_S);
	else if (state && (strncmp(state, "42P", 3) == 0 || strncmp(state, "427", 3) == 0 ||
				  strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0))
		err_file(e, "bad-store", s->path, INCORE_NO_OFFSET, "not a usable store: %s", b.p);
	else
		err_set(e, INCORE_FAILED, "store-failed", "%s: %s", s->path, b.p ? b.p : "?");
	sb_free(&b);
	return false;
}

/* Checks and frees a result; false if it is an error. */
static bool postgres_take(struct store *s, PGresult *r, struct incore_error *e)
{
	struct postgres *x = s->db;
	ExecStatusType status = x->pq->PQresultStatus(r); /* NULL gives an error */
	bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
		  status == PGRES_COPY_IN || status == PGRES_SINGLE_TUPLE;

	if (!ok) {
		const char *text = x->pq->PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);

		fail_as(s, x->pq->PQresultErrorField(r, PG_DIAG_SQLSTATE),
			text ? text : x->pq->PQerrorMessage(x->c), e);
	}
	x->pq->PQclear(r);
	return ok;
}

static bool postgres_run(struct store *s, const char *sql, struct incore_error *e)
{
	struct postgres *x = s->db;

	return postgres_take(s, x->pq->PQexec(x->c, sql), e);
}

/* --- transactions --- */

static bool postgres_begin(struct store *s, enum store_access access, struct incore_error *e)
{
	char sql[128];

	/* Each statement sees what was committed before it, also by the last holder of the lock. */
	snprintf(sql, sizeof(sql),
		"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(%d)",
		SCHEMA_APPLICATION);
	if (postgres_run(s,
		    access == STORE_WRITE ? sql
					  : "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
		    e))
		return true;
	postgres_run(s, "ROLLBACK", NULL); /* the error was already reported */
	return false;
}

static bool postgres_end(struct store *s, bool ok, struct incore_error *e)
{
	struct postgres *x = s->db;
	PGresult *r;

	if (!ok) {
		postgres_run(s, "ROLLBACK", NULL);
		return false;
	}
	r = x->pq->PQexec(x->c, "COMMIT");
	/* if the transaction failed before, the command status is ROLLBACK */
	ok = x->pq->PQresultStatus(r) != PGRES_COMMAND_OK ||
	     strcmp(x->pq->PQcmdStatus(r), "COMMIT") == 0;
	if (!postgres_take(s, r, e))
		return err_wrap(e, "whether it was added is not known; adding it again is safe");
	return ok ||
	       err_set(e, INCORE_FAILED, "store-failed", "%s: the change was taken back", s->path);
}

/* --- queries --- */

static bool postgres_prepare(
	struct store *s, const char *sql, char name[16], struct incore_error *e)
{
	struct postgres *x = s->db;
	char *kept;
	size_t i = 0;

	while (i < x->prepared.n && strcmp(x->prepared.v[i], sql) != 0)
		i++;
	snprintf(name, 16, "q%zu", i);
	if (i < x->prepared.n)
		return true;
	if (!postgres_take(s, x->pq->PQprepare(x->c, name, sql, 0, NULL), e))
		return false;
	kept = mem_strndup(sql, strlen(sql));
	if (kept && VEC_PUSH(&x->prepared, kept))
		return true;
	mem_free(kept);
	return err_nomem(e);
}

#define MOST_PARAMS 8

/* Formats the parameters as texts, one after the other in b. */
static bool put_params(const struct store_params *p, struct strbuf *b, const char *out[MOST_PARAMS])
{
	size_t at[MOST_PARAMS];

	for (unsigned i = 0; i < p->n; i++) {
		at[i] = b->n;
		if (p->v[i].type == STORE_TEXT)
			pg_put_text(b, p->v[i].text);
		else
			sb_printf(b, "%lld", (long long)p->v[i].i);
		sb_putc(b, 0);
	}
	for (unsigned i = 0; i < p->n && !b->failed; i++)
		out[i] = b->p + at[i];
	return !b->failed;
}

static struct store_query *postgres_ask(
	struct store *s, const char *sql, const struct store_params *p, struct incore_error *e)
{
	struct postgres *x = s->db;
	const char *params[MOST_PARAMS] = {NULL};
	struct store_query *q = mem_zalloc(1, sizeof(*q));
	struct strbuf b = {0};
	char name[16];
	bool ok = (q && put_params(p, &b, params)) || err_nomem(e);

	if (ok && (ok = postgres_prepare(s, sql, name, e)))
		ok = (x->pq->PQsendQueryPrepared(x->c, name, (int)p->n, params, NULL, NULL, 0) &&
			     x->pq->PQsetSingleRowMode(x->c)) ||
		     fail_as(s, NULL, x->pq->PQerrorMessage(x->c), e);
	sb_free(&b);
	if (!ok) {
		mem_free(q);
		return NULL;
	}
	q->x = x;
	arena_init(&q->texts);
	return q;
}

static bool postgres_step(struct store *s, struct store_query *q, struct incore_error *e)
{
	struct postgres *x = s->db;
	PGresult *r;

	x->pq->PQclear(q->row);
	q->row = NULL;
	if (q->is_over)
		return false;
	arena_reset(&q->texts);
	r = x->pq->PQgetResult(x->c);
	if (x->pq->PQresultStatus(r) == PGRES_SINGLE_TUPLE) {
		q->row = r;
		return true;
	}
	q->is_over = true;
	postgres_take(s, r, e);
	while ((r = x->pq->PQgetResult(x->c)))
		x->pq->PQclear(r);
	return false;
}

static struct store_value postgres_value(struct store_query *q, int at, enum store_type as)
{
	const struct pq *pq = q->x->pq;
	const char *text = pq->PQgetvalue(q->row, 0, at);

	if (pq->PQgetisnull(q->row, 0, at))
		return V_NULL;
	return as == STORE_TEXT	  ? V_TEXT(pg_plain_text(text, &q->texts))
	       : as == STORE_REAL ? V_REAL(strtod(text, NULL))
				  : V_INT(strtoll(text, NULL, 10));
}

static void postgres_done(struct store_query *q)
{
	PGresult *r;

	if (!q)
		return;
	q->x->pq->PQclear(q->row);
	while (!q->is_over && (r = q->x->pq->PQgetResult(q->x->c)))
		q->x->pq->PQclear(r);
	arena_deinit(&q->texts);
	mem_free(q);
}

/* --- rows: COPY, each value as a length and its bytes, big-endian --- */

static void put_be(struct strbuf *b, uint64_t v, unsigned bytes)
{
	while (bytes--)
		sb_putc(b, (char)(v >> (8 * bytes)));
}

static void postgres_put_columns(struct strbuf *sql, const struct record *r)
{
	sb_puts(sql, "(rowid");
	for (uint16_t i = 0; i < r->n_columns; i++)
		sb_printf(sql, ", \"%s\"", r->columns[i].name);
	sb_putc(sql, ')');
}

static void begin_row(struct postgres *x)
{
	struct store_table tables[STORE_TABLES];

	store_tables(tables);
	x->row_at = x->rows.n;
	put_be(&x->rows, tables[x->table].sql.record->n_columns + 1u, 2);
	put_be(&x->rows, 8, 4);
	put_be(&x->rows, (uint64_t)x->rowid++, 8);
}

static bool postgres_rows(struct store *s, unsigned table, struct incore_error *e)
{
	static const char HEAD[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* no flags, no extension */
	struct store_table tables[STORE_TABLES];
	struct postgres *x = s->db;
	struct strbuf sql = {0};
	bool ok;

	store_tables(tables);
	sb_printf(&sql, "COPY \"%s\" ", tables[table].sql.name);
	postgres_put_columns(&sql, tables[table].sql.record);
	sb_puts(&sql, " FROM STDIN (FORMAT binary)");
	ok = sql.failed ? err_nomem(e) : postgres_run(s, sql.p, e);
	sb_free(&sql);
	sb_free(&x->rows);
	sb_add(&x->rows, HEAD, sizeof(HEAD));
	x->table = table;
	x->rowid = 1;
	begin_row(x);
	return ok;
}

static void postgres_put(struct store *s, const struct store_value *v)
{
	struct strbuf *b = &((struct postgres *)s->db)->rows;
	size_t at = b->n;
	uint64_t bits = (uint64_t)v->i;

	put_be(b, v->type == STORE_NULL || (v->type == STORE_TEXT && !v->text) ? UINT32_MAX : 8, 4);
	if (v->type == STORE_TEXT && v->text) {
		struct strbuf length = {0};

		pg_put_text(b, v->text);
		put_be(&length, b->n - at - 4, 4);
		if (!b->failed && !length.failed)
			memcpy(b->p + at, length.p, 4);
		b->failed = b->failed || length.failed;
		sb_free(&length);
	} else if (v->type == STORE_INT || v->type == STORE_REAL) {
		if (v->type == STORE_REAL)
			memcpy(&bits, &v->d, sizeof(bits));
		put_be(b, bits, 8);
	}
}

static bool postgres_send_rows(struct store *s, size_t n, struct incore_error *e)
{
	struct postgres *x = s->db;

	if (x->rows.failed)
		return err_nomem(e);
	return x->pq->PQputCopyData(x->c, x->rows.p, (int)n) == 1 ||
	       fail_as(s, NULL, x->pq->PQerrorMessage(x->c), e);
}

static bool postgres_row(struct store *s, struct incore_error *e)
{
	struct postgres *x = s->db;
	bool ok = true;

	if (x->rows.n >= COPY_BYTES || x->rows.failed) {
		ok = postgres_send_rows(s, x->rows.n, e);
		sb_reset(&x->rows);
	}
	begin_row(x);
	return ok;
}

static bool postgres_rows_end(struct store *s, bool ok, struct incore_error *e)
{
	struct postgres *x = s->db;
	PGresult *r;

	if (ok && !x->rows.failed) /* drop the row that was begun */
		x->rows.n = x->row_at;
	put_be(&x->rows, UINT16_MAX, 2);
	ok = ok && postgres_send_rows(s, x->rows.n, e);
	sb_free(&x->rows);
	if (x->pq->PQputCopyEnd(x->c, ok ? NULL : "it is taken back") != 1 && ok)
		ok = fail_as(s, NULL, x->pq->PQerrorMessage(x->c), e);
	while ((r = x->pq->PQgetResult(x->c)))
		if (!ok)
			x->pq->PQclear(r);
		else
			ok = postgres_take(s, r, e);
	return ok;
}

/* --- the connection --- */

static void say_nothing(void *ctx, const char *text)
{
	(void)ctx;
	(void)text;
}

/* Checks the address. Nothing of an invalid one is shown, as any part of it may be the password; an
 * invalid port makes it invalid, too, as libpq takes anything after a colon for the port. */
static bool check_address(struct store *s, struct incore_error *e)
{
	struct postgres *x = s->db;
	PQconninfoOption *parts = x->pq->PQconninfoParse(s->address, NULL);
	bool ok = parts != NULL;

	for (PQconninfoOption *p = parts; ok && p->keyword; p++)
		ok = !p->val || strcmp(p->keyword, "port") != 0 ||
		     !p->val[strspn(p->val, "0123456789,")];
	x->pq->PQconninfoFree(parts);
	return ok ||
	       err_set(e, INCORE_USAGE, "bad-address",
		       "%s: an address is postgresql://[USER@][HOST][:PORT]/DATABASE, with %% "
		       "and two digits for each of :/?#[]@ in a name, and KEY=VALUE of libpq "
		       "behind a ?",
		       s->path);
}

/* Reports a failed connection; after a timeout it adds how to set the limit, unlike libpq. */
static bool fail_connect(struct store *s, struct incore_error *e)
{
	struct postgres *x = s->db;
	struct strbuf b = {0};
	bool is_late;

	postgres_put_reason(&b, x, x->pq->PQerrorMessage(x->c));
	is_late = b.p && strstr(b.p, "timeout expired");
	err_set(e, INCORE_FAILED, "no-connection", "%s: %s%s", s->path, b.p ? b.p : "?",
		is_late ? ": the server does not answer (connect_timeout in the address or "
			  "PGCONNECT_TIMEOUT is how many seconds to wait, else " CONNECT_S ")"
			: "");
	sb_free(&b);
	return false;
}

static bool postgres_connect(struct store *s, struct incore_error *e)
{
	/* keys before the address are defaults that the address can override */
	const char *const keys[] = {"connect_timeout", "tcp_user_timeout", "dbname",
		"fallback_application_name", "client_encoding", NULL};
	const char *const values[] = {getenv("PGCONNECT_TIMEOUT") ? NULL : CONNECT_S, "60000",
		s->address, "incore", "UTF8", NULL};
	struct postgres *x = s->db;
	const char *encoding;
	struct strbuf b = {0};

	x->c = x->pq->PQconnectdbParams(keys, values, 1);
	if (!x->c)
		return err_nomem(e);
	if (x->pq->PQstatus(x->c) != CONNECTION_OK)
		return fail_connect(s, e);
	x->pq->PQsetNoticeProcessor(x->c, say_nothing, NULL);
	encoding = x->pq->PQparameterStatus(x->c, "server_encoding");
	if (encoding && strcmp(encoding, "UTF8") != 0)
		return err_file(e, "bad-store", s->path, INCORE_NO_OFFSET,
			"a database of the encoding %s: a store needs one of UTF8", encoding);
	sb_printf(&b,
		"SET search_path = incore, pg_temp; SET lock_timeout = '%ds';"
		"SET idle_in_transaction_session_timeout = '%ds'",
		STORE_BUSY_S, STORE_BUSY_S);
	if (b.failed)
		err_nomem(e);
	else
		postgres_run(s, b.p, e);
	sb_free(&b);
	return !e->code;
}

static void postgres_disconnect(struct store *s)
{
	struct postgres *x = s->db;

	if (!x)
		return;
	sb_free(&x->rows);
	for (size_t i = 0; i < x->prepared.n; i++)
		mem_free(x->prepared.v[i]);
	VEC_FREE(&x->prepared);
	if (x->c)
		x->pq->PQfinish(x->c);
	mem_free(x);
	s->db = NULL;
}

/* Queries one number; the query always returns a row in a valid store. */
static bool postgres_ask_number(
	struct store *s, const char *sql, int64_t *out, struct incore_error *e)
{
	struct store_query *q = store_ask(s, sql, e);
	bool ok = q && store_step(s, q, e);

	*out = ok ? store_int(s, q, 0) : 0;
	postgres_done(q);
	return ok || e->code ||
	       err_file(e, "bad-store", s->path, INCORE_NO_OFFSET,
		       "not a store of incore: it does not say its version");
}

/* Reads the catalog tables: the result of to_regclass() may be from before we waited for a lock. */
static const char IS_THERE[] = "SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid ="
			       " relnamespace WHERE nspname = 'incore' AND relname = 'about'";
static const char HAS_SCHEMA[] = "SELECT count(*) FROM pg_namespace WHERE nspname = 'incore'";

static bool postgres_make(struct store *s, struct incore_error *e)
{
	int64_t is_there, has_schema;
	bool ok;

	if (!postgres_begin(s, STORE_WRITE, e))
		return false;
	/* another process may have created it while we waited */
	ok = postgres_ask_number(s, IS_THERE, &is_there, e) &&
	     postgres_ask_number(s, HAS_SCHEMA, &has_schema, e) &&
	     (has_schema || postgres_run(s, "CREATE SCHEMA incore", e)) &&
	     (is_there || schema_fill(s, e));
	return postgres_end(s, ok, e);
}

static bool postgres_open_database(struct store *s, bool is_made, struct incore_error *e)
{
	struct postgres *x = s->db = mem_zalloc(1, sizeof(*x));
	int64_t is_there;

	if (!x)
		return err_nomem(e);
	x->pq = pq_load(e);
	if (!x->pq || !check_address(s, e) || !postgres_connect(s, e) ||
		!postgres_ask_number(s, IS_THERE, &is_there, e))
		return false;
	if (!is_there && !is_made)
		return err_file(e, "no-store", s->path, INCORE_NO_OFFSET,
			"no store is in this database; incore store add makes one");
	return is_there || postgres_make(s, e);
}

/* --- the schema --- */

/* Always: the owner of a database decides what runs in it, and could change the rows anyway. */
static bool postgres_is_safe(struct store *s, struct incore_error *e)
{
	(void)s;
	(void)e;
	return true;
}

static bool postgres_version(
	struct store *s, int64_t *application, int64_t *number, struct incore_error *e)
{
	return postgres_ask_number(s, "SELECT application FROM about", application, e) &&
	       postgres_ask_number(s, "SELECT version FROM about", number, e);
}

static void postgres_put_version(struct strbuf *sql)
{
	sb_printf(sql,
		"CREATE TABLE IF NOT EXISTS about (application bigint NOT NULL, version bigint NOT "
		"NULL); DELETE FROM about; INSERT INTO about VALUES (%d, %d)",
		SCHEMA_APPLICATION, SCHEMA_VERSION);
}

static void postgres_put_quoted(struct strbuf *sql, const char *text)
{
	sb_putc(sql, '\'');
	for (; *text; text++) {
		sb_putc(sql, *text);
		if (*text == '\'')
			sb_putc(sql, *text);
	}
	sb_putc(sql, '\'');
}

static void put_create(struct strbuf *sql, const struct sqlite_table *t)
{
	const struct record *r = t->record;

	sb_printf(sql, "CREATE TABLE \"%s\" (rowid bigint NOT NULL", t->name);
	for (uint16_t i = 0; i < r->n_columns; i++)
		sb_printf(sql, ", \"%s\" %s%s", r->columns[i].name,
			postgres_backend.types[store_type_of(&r->columns[i]) - STORE_INT],
			sqlite_is_nullable(&r->columns[i]) ? "" : " NOT NULL");
	sb_printf(sql, "%s%s); COMMENT ON TABLE \"%s\" IS ", t->key ? ", " : "",
		t->key ? t->key : "", t->name);
	postgres_put_quoted(sql, t->doc);
	for (uint16_t i = 0; i < r->n_columns; i++) {
		sb_printf(
			sql, "; COMMENT ON COLUMN \"%s\".\"%s\" IS ", t->name, r->columns[i].name);
		postgres_put_quoted(sql, r->columns[i].doc);
	}
}

const struct store_backend postgres_backend = {
	.open = postgres_open_database,
	.close = postgres_disconnect,
	.run = postgres_run,
	.begin = postgres_begin,
	.end = postgres_end,
	.ask = postgres_ask,
	.step = postgres_step,
	.value = postgres_value,
	.done = postgres_done,
	.rows = postgres_rows,
	.put = postgres_put,
	.row = postgres_row,
	.rows_end = postgres_rows_end,
	.types = {"bigint", "double precision", "text COLLATE \"C\""},
	.columns = "SELECT attname, format_type(atttypid, NULL) || CASE WHEN attcollation ="
		   " 'pg_catalog.\"C\"'::regcollation THEN ' COLLATE \"C\"' ELSE '' END,"
		   " (attgenerated <> '' OR relkind NOT IN ('r', 'p'))::int"
		   " FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
		   " JOIN pg_namespace n ON n.oid = relnamespace"
		   " WHERE nspname = 'incore' AND relname = $1"
		   " AND attnum > 0 AND NOT attisdropped AND attname <> 'rowid'",
	.is_safe = postgres_is_safe,
	.version = postgres_version,
	.put_version = postgres_put_version,
	.put_create = put_create,
};
