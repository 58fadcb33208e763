/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c: opens, shrinks and copies a store, for any database behind it. Parts: addresses; the
 * store.
 */
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "store/backend.h"
#include "store/row.h"
#include "store/schema.h"

/* --- addresses -------------------------------------------------------------------------------- */

/*
 * The name of a store as shown to others, never with a password.
 */

#define HIDDEN "postgresql://..."

static const char *const schemes[] = {"postgresql://", "postgres://"};

static struct str behind_scheme(const char *path)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (str_starts(str_of(path), schemes[i]))
			return str_of(path + strlen(schemes[i]));
	return (struct str){NULL, 0};
}

static bool store_is_postgres(const char *path)
{
	return behind_scheme(path).p != NULL;
}

/* Does it consist only of hosts with ports and a database, and of nothing else? */
static bool store_address_is_plain(struct str s)
{
	static const char digits[] = "0123456789";
	bool is_port = false, is_in_brackets = false;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		is_in_brackets = (is_in_brackets || c == '[') && c != ']';
		is_port = (is_port || (c == ':' && !is_in_brackets)) && c != ',' && c != '/';
		if (is_port && c != ':' && !strchr(digits, c))
			return false;
		if (c <= ' ' || c == 0x7f || strchr("@?&=\"'\\", c))
			return false;
	}
	return true;
}

char *store_shown_path(const char *path)
{
	struct str rest = behind_scheme(path), place = rest;
	ptrdiff_t query = str_find(rest, "?"), at;
	struct strbuf b = {0};

	if (!rest.p)
		return mem_strndup(path, strlen(path));
	if (query >= 0)
		place.n = (size_t)query;
	at = str_rfind_char(place, '@');
	if (at >= 0)
		place = str_sub(place, (size_t)at + 1, place.n);
	/* with an '@' after the '?' it is not clear which one ends a password */
	if ((query >= 0 && at < 0 && str_has(rest, "@")) || !store_address_is_plain(place))
		return mem_strndup(HIDDEN, strlen(HIDDEN));
	sb_printf(&b, "%s%.*s", schemes[0], STR_ARG(place));
	if (b.failed)
		sb_free(&b);
	return b.p;
}

/* --- the store -------------------------------------------------------------------------------- */

struct store *store_open(const char *path, bool is_made, struct incore_error *e)
{
	struct store *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem_null(e);
	s->backend = store_is_postgres(path) ? &postgres_backend : &sqlite_backend;
	s->address = path;
	s->path = store_shown_path(path);
	if ((s->path || err_nomem(e)) && s->backend->open(s, is_made, e) && schema_check(s, e)) {
		s->address = NULL;
		return s;
	}
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	s->backend->close(s);
	mem_free(s->path);
	mem_free(s);
}

/* --- removing --- */

static bool remove_one(struct store *s, uint64_t capture, struct incore_error *e)
{
	struct store_table tables[STORE_TABLES];

	store_tables(tables);
	for (unsigned i = 0; i < STORE_ACCEPTANCES; i++) {
		char sql[96];

		snprintf(sql, sizeof(sql), "DELETE FROM \"%s\" WHERE capture = $1",
			tables[i].sql.name);
		if (!store_run_with(s, sql, capture, e))
			return false;
	}
	return true;
}

bool store_remove(struct store *s, const uint64_t *captures, size_t n, struct incore_error *e)
{
	bool ok = store_begin(s, STORE_WRITE, e);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < n; i++)
		ok = remove_one(s, captures[i], e);
	return store_end(s, ok, e) &&
	       (!n || !s->backend->reclaim || store_run(s, s->backend->reclaim, e));
}

/* --- copying --- */

struct copying {
	struct store *from, *to;
	const uint64_t *captures;
	size_t n;
};

static bool copy_rows(
	struct copying *x, struct store_query *q, const struct record *r, struct incore_error *e)
{
	while (store_step(x->from, q, e)) {
		for (uint16_t i = 0; i < r->n_columns; i++) {
			struct store_value v =
				x->from->backend->value(q, i, store_type_of(&r->columns[i]));

			if (v.type == STORE_TEXT && !v.text)
				return err_nomem(e);
			x->to->backend->put(x->to, &v);
		}
		if (!x->to->backend->row(x->to, e))
			return false;
	}
	return !e->code;
}

/* Copies a table; acceptances belong to no capture and are all copied, once. */
static bool copy_table(struct copying *x, unsigned at, const char *sql, const struct record *r,
	struct incore_error *e)
{
	size_t n = at == STORE_ACCEPTANCES ? 1 : x->n;
	bool ok = x->to->backend->rows(x->to, at, e);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < n; i++) {
		struct store_query *q = at == STORE_ACCEPTANCES
						? store_ask(x->from, sql, e)
						: store_ask(x->from, sql, e, V_INT(x->captures[i]));

		ok = q && copy_rows(x, q, r, e);
		store_done(x->from, q);
	}
	return x->to->backend->rows_end(x->to, ok, e);
}

static bool copy_tables(struct copying *x, struct incore_error *e)
{
	struct store_table tables[STORE_TABLES];
	bool ok = true;

	store_tables(tables);
	for (unsigned i = 0; ok && i < STORE_TABLES; i++) {
		const struct record *r = tables[i].sql.record;
		struct strbuf sql = {0};

		for (uint16_t k = 0; k < r->n_columns; k++)
			sb_printf(&sql, "%s\"%s\"", k ? ", " : "SELECT ", r->columns[k].name);
		sb_printf(&sql, " FROM \"%s\"%s ORDER BY %s", tables[i].sql.name,
			i == STORE_ACCEPTANCES ? "" : " WHERE capture = $1",
			i == STORE_ACCEPTANCES ? "acceptance" : "rowid");
		ok = sql.failed ? err_nomem(e) : copy_table(x, i, sql.p, r, e);
		sb_free(&sql);
	}
	return ok;
}

/* Removes acceptances of series that are not in the copy. The copy is SQLite, where IS also
 * compares nulls. */
static const char FORGET[] =
	"DELETE FROM acceptances WHERE NOT EXISTS (SELECT 1 FROM entries e JOIN captures c"
	" ON c.capture = e.capture WHERE c.kernel IS acceptances.kernel AND"
	" c.arch IS acceptances.arch AND c.evidence IS acceptances.evidence AND"
	" e.labels IS acceptances.labels)";

/* Copies the state as of now; others may write meanwhile. */
static bool copy_all(struct copying *x, struct incore_error *e)
{
	bool ok;

	if (!store_begin(x->from, STORE_READ, e))
		return false;
	ok = store_begin(x->to, STORE_WRITE, e) &&
	     store_end(x->to, copy_tables(x, e) && store_run(x->to, FORGET, e), e);
	store_end(x->from, false, NULL);
	return ok;
}

bool store_copy(
	struct store *s, const char *to, const uint64_t *captures, size_t n, struct incore_error *e)
{
	struct store copy = {.backend = &sqlite_backend, .path = (char *)(uintptr_t)to};
	struct copying x = {s, &copy, captures, n};
	struct out_file o;
	bool ok;

	if (store_is_postgres(to))
		return err_set(e, INCORE_USAGE, "bad-file",
			"a copy is a file; into a database captures are added");
	if (!out_file_open_named(&o, to, e))
		return false;
	ok = sqlite_make(&copy, o.tmp_path, e) && copy_all(&x, e);
	copy.backend->close(&copy);
	ok = ok && out_file_commit(&o, e);
	out_file_abort(&o);
	return ok;
}
