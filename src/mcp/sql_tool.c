/* SPDX-License-Identifier: Apache-2.0 */
/* sql_tool.c: SQL queries as a tool. */
#include "mcp/internal.h"
#include "sql/sql.h"

#define SQL_TOOL_ROWS 50u
#define SQL_TOOL_SECONDS 30u
#define MOST_PATHS 16u

const char sql_description[] =
	"One SELECT over captures: slices, code, tracks, links, and every question as a table (SELECT * FROM hot). "
	"SELECT name, sql FROM incore_tables is not needed: a wrong name is answered with those there are. Reads only; at most 50 rows.";

void sql_schema(struct json_writer *w)
{
	json_w_raw(w,
		STR("{\"type\":\"object\",\"properties\":{\"paths\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,"
		    "\"description\":\"captures; the column capture is their number from 1 on\"},"
		    "\"query\":{\"type\":\"string\",\"description\":\"one statement of SQLite's SQL\"}},"
		    "\"required\":[\"paths\",\"query\"],\"additionalProperties\":false}"));
}

static bool mcp_sql_put_columns(
	void *ctx, const char *const *names, unsigned n, struct incore_error *e)
{
	struct json_writer *w = ctx;

	(void)e;
	json_w_kv_array(w, "columns");
	for (unsigned i = 0; i < n; i++)
		json_w_cstr(w, names[i]);
	json_w_end(w);
	json_w_kv_array(w, "rows");
	return true;
}

static bool mcp_sql_put_row(
	void *ctx, const struct sql_value *v, unsigned n, struct incore_error *e)
{
	struct json_writer *w = ctx;

	(void)e;
	json_w_array(w);
	for (unsigned i = 0; i < n; i++) {
		switch (v[i].type) {
		case SQL_INT:
			json_w_i64(w, v[i].i);
			break;
		case SQL_REAL:
			json_w_sig(w, v[i].d, 9);
			break;
		case SQL_TEXT:
			json_w_str(w, v[i].bytes);
			break;
		default:
			json_w_null(w);
		}
	}
	json_w_end(w);
	return true;
}

static bool run_query(struct sql *s, const char *query, struct strbuf *out, struct incore_error *e)
{
	struct json_writer w;
	struct sql_sink sink = {&w, mcp_sql_put_columns, mcp_sql_put_row};
	struct sql_result r;
	const char *rest;

	json_w_buf(&w, out, 0);
	json_w_object(&w);
	if (!sql_run(s, query, &rest, &sink, &r, e))
		return false;
	if (sql_has_more(rest))
		return err_set(e, INCORE_USAGE, "bad-sql", "one statement at a time");
	if (w.depth < 2)
		return err_set(e, INCORE_USAGE, "bad-sql", "this is not a statement");
	json_w_end(&w);
	json_w_kv_u64(&w, "total", r.n_rows);
	if (r.is_cut)
		json_w_kv_cstr(&w, "more", "rows are left out: aggregate, or use LIMIT and OFFSET");
	json_w_end(&w);
	return json_w_finish(&w, e);
}

/* Reads the list of captures, which must be below the roots; paths are in the arena. */
static bool take_paths(struct mcp *m, struct str value, struct arena *a,
	const char *out[MOST_PATHS], unsigned *n, struct incore_error *e)
{
	struct json_reader j;
	struct str text;
	bool ok = true;

	*n = 0;
	json_init(&j, value.p, value.n, NULL, 0);
	for (json_enter_array(&j);
		ok && *n < MOST_PATHS && json_next_item(&j) && json_get_str(&j, &text);) {
		const char *name = arena_strndup(a, text.p, text.n);

		out[*n] = name ? root_path(m, name, a, e) : err_nomem_null(e);
		ok = out[(*n)++] != NULL;
	}
	json_deinit(&j);
	return ok && (*n || err_set(e, INCORE_USAGE, "missing-argument",
				    "sql expects paths and a query"));
}

bool sql_call(struct mcp *m, struct str arguments, struct arena *a, struct strbuf *out,
	struct incore_error *e)
{
	static const struct sql_limits limits = {
		SQL_TOOL_SECONDS, (uint64_t)SQL_MEMORY_MIB << 20, SQL_TOOL_ROWS};
	const char *query = json_text(json_member(arguments, "query"), a);
	const char *paths[MOST_PATHS];
	struct answer about = {0};
	struct request r;
	struct sql *s;
	unsigned n;
	bool ok;

	if (!query || !take_paths(m, json_member(arguments, "paths"), a, paths, &n, e))
		return e->code ? false
			       : err_set(e, INCORE_USAGE, "missing-argument",
					 "sql expects paths and a query");
	if (!request_init(&r, question_find("info"), e))
		return false;
	r.captures = &m->captures;
	r.pool = m->o->pool;
	r.progress = m->progress;
	arena_init(&about.arena);
	about.question = r.question;
	s = sql_open(&r, &about, paths, n, &limits, e);
	ok = s && run_query(s, query, out, e);
	sql_close(s);
	answer_deinit(&about);
	request_deinit(&r);
	return ok;
}
