/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.c: the tools that an agent is offered: a question each, and SQL. Parts: results; SQL;
 * questions.
 */
#include <math.h>

#include "answer/hot.h"
#include "mcp/internal.h"
#include "sql/sql.h"
#include "tables/flat.h"

/* --- results ---------------------------------------------------------------------------------- */

/*
 * An answer in short: its single values, the first rows of its tables, and how to get the rest.
 */

struct result_shape {		   /* which parts of an answer are returned */
	uint64_t limit;		   /* rows of a table */
	const char *const *tables; /* their names; NULL: all that fit into RESULT_BYTES */
	unsigned n_tables;
};
#define RESULT_ROWS 10u
#define RESULT_MOST_ROWS 1000u
#define RESULT_BYTES 8192u

static void mcp_result_put_number(struct json_writer *w, double v)
{
	if (isfinite(v))
		json_w_sig(w, v, 6);
	else
		json_w_null(w);
}

static void mcp_result_put_value(struct json_writer *w, const struct column *c, const void *v)
{
	char hex[COLUMN_HEX_TEXT];

	if (!v || column_is_null(c, v)) {
		json_w_null(w);
		return;
	}
	switch (c->type) {
	case COLUMN_F64:
		mcp_result_put_number(w, *(const double *)v);
		break;
	case COLUMN_I64:
		json_w_i64(w, *(const int64_t *)v);
		break;
	case COLUMN_BOOL:
		json_w_bool(w, *(const bool *)v);
		break;
	case COLUMN_TEXT:
		json_w_cstr(w, *(const char *const *)v);
		break;
	case COLUMN_STR:
		json_w_str(w, *(const struct str *)v);
		break;
	default:
		if (c->unit == UNIT_ADDRESS || (c->flags & COLUMN_HEX))
			json_w_cstr(w, column_hex(c, v, hex));
		else
			json_w_u64(w, column_u64(c, v));
	}
}

static bool mcp_result_is_there(const struct flat_table *t, size_t row, const struct flat_column *c)
{
	const void *v = c->texts ? c->texts[row] : flat_value(t, row, c);

	return v && (c->texts || !column_is_null(c->column, v));
}

/* Does one of the first n rows have a value in this column? */
static bool is_used(const struct flat_table *t, const struct flat_column *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mcp_result_is_there(t, i, c))
			return true;
	return false;
}

static void mcp_result_put_cell(
	struct json_writer *w, const struct flat_table *t, size_t row, const struct flat_column *c)
{
	if (c->texts)
		json_w_cstr(w, c->texts[row]);
	else
		mcp_result_put_value(w, c->column, flat_value(t, row, c));
}

static void mcp_result_put_values(struct json_writer *w, const struct flat_table *t)
{
	json_w_kv_object(w, "values");
	EACH (const struct flat_column, c, t->columns.v, t->columns.n) {
		if (t->n_rows && mcp_result_is_there(t, 0, c)) {
			json_w_key(w, c->name);
			mcp_result_put_cell(w, t, 0, c);
		}
	}
	json_w_end(w);
}

static void mcp_result_put_table(struct json_writer *w, const struct flat_table *t, size_t n)
{
	json_w_key(w, t->name);
	json_w_object(w);
	json_w_kv_u64(w, "total", t->n_rows);
	if (n) {
		json_w_kv_array(w, "columns");
		if (t->parent)
			json_w_cstr(w, "parent");
		EACH (const struct flat_column, c, t->columns.v, t->columns.n)
			if (is_used(t, c, n))
				json_w_cstr(w, c->name);
		json_w_end(w);
		json_w_kv_array(w, "rows");
		for (size_t i = 0; i < n; i++) {
			json_w_array(w);
			if (t->parent)
				json_w_u64(w, t->parent[i]);
			EACH (const struct flat_column, c, t->columns.v, t->columns.n)
				if (is_used(t, c, n))
					mcp_result_put_cell(w, t, i, c);
			json_w_end(w);
		}
		json_w_end(w);
	}
	json_w_end(w);
}

static bool mcp_result_is_wanted(const struct result_shape *s, const char *name)
{
	for (unsigned i = 0; i < s->n_tables; i++)
		if (strcmp(s->tables[i], name) == 0)
			return true;
	return !s->tables;
}

/* Writes the tables with rows; for those that do not fit or were not requested, only totals.
 * Returns true if something was left out. */
static bool mcp_result_put_tables(
	struct json_writer *w, const struct flat_tables *all, const struct result_shape *s)
{
	bool is_less = false;

	json_w_kv_object(w, "tables");
	for (size_t i = 0; i < all->v.n; i++) {
		const struct flat_table *t = all->v.v[i];
		size_t n = t->n_rows < s->limit ? t->n_rows : s->limit;

		if (!*t->name || !t->n_rows)
			continue;
		if (!mcp_result_is_wanted(s, t->name) || (!s->tables && w->sb->n > RESULT_BYTES))
			n = 0;
		is_less |= n < t->n_rows;
		mcp_result_put_table(w, t, n);
	}
	json_w_end(w);
	return is_less;
}

/* Requested tables must exist in the answer; otherwise the call is invalid. */
static bool mcp_result_check_tables(
	const struct flat_tables *all, const struct result_shape *s, struct incore_error *e)
{
	struct strbuf names = {0};

	for (unsigned i = 0; i < s->n_tables; i++) {
		if (flat_find(all, s->tables[i]))
			continue;
		for (size_t k = 0; k < all->v.n; k++)
			if (*all->v.v[k]->name)
				sb_printf(&names, "%s%s", names.n ? ", " : "", all->v.v[k]->name);
		err_set(e, INCORE_USAGE, "no-such-table", "no table '%s'; there are %s",
			s->tables[i], names.p ? names.p : "none");
		sb_free(&names);
		return false;
	}
	return true;
}

/* Writes an answer as an object: single values, tables with totals, warnings, how to get more. */
static bool result_of_answer(const struct answer *a, const struct result_shape *shape,
	struct strbuf *out, struct incore_error *e)
{
	struct flat_tables tables = {0};
	struct arena arena;
	struct json_writer w;
	bool ok;

	arena_init(&arena);
	ok = flat_make(&tables, a->record, a->data, &arena, e) &&
	     mcp_result_check_tables(&tables, shape, e);
	if (ok) {
		json_w_buf(&w, out, 0);
		json_w_object(&w);
		json_w_kv_cstr(&w, "question", a->question->name);
		json_w_kv_bool(&w, "is_no", a->is_no);
		mcp_result_put_values(&w, flat_find(&tables, ""));
		if (mcp_result_put_tables(&w, &tables, shape))
			json_w_kv_cstr(&w, "more",
				"rows are left out: ask for tables by name and with a larger limit; incore://schema/QUESTION says what columns mean");
		if (a->warnings.n) {
			json_w_kv_array(&w, "warnings");
			for (size_t i = 0; i < a->warnings.n && i < RESULT_ROWS; i++)
				json_w_cstr(&w, a->warnings.v[i]);
			json_w_end(&w);
		}
		json_w_end(&w);
		ok = json_w_finish(&w, e);
	}
	flat_deinit(&tables);
	arena_deinit(&arena);
	return ok;
}

/* Content of a result: the object both as text and as structured content. */
static void result_put(struct json_writer *w, struct str object)
{
	json_w_object(w);
	json_w_kv_array(w, "content");
	json_w_object(w);
	json_w_kv_cstr(w, "type", "text");
	json_w_kv_str(w, "text", object);
	json_w_end(w);
	json_w_end(w);
	json_w_key(w, "structuredContent");
	json_w_raw(w, object);
	json_w_end(w);
}

/* Content of a result: the object both as text and as structured content. */
static void result_put_error(struct json_writer *w, const struct incore_error *e)
{
	struct strbuf text = {0};

	err_format(e, &text);
	json_w_object(w);
	json_w_kv_array(w, "content");
	json_w_object(w);
	json_w_kv_cstr(w, "type", "text");
	json_w_kv_cstr(w, "text", text.p ? text.p : "no memory");
	json_w_end(w);
	json_w_end(w);
	json_w_kv_bool(w, "isError", true);
	json_w_end(w);
	sb_free(&text);
}

/* --- SQL -------------------------------------------------------------------------------------- */

/*
 * SQL queries as a tool.
 */

#define SQL_TOOL_ROWS 50u
#define SQL_TOOL_SECONDS 30u
#define MOST_PATHS 16u

static const char sql_description[] =
	"One SELECT over captures: slices, code, tracks, links, and every question as a table (SELECT * FROM hot). "
	"SELECT name, sql FROM incore_tables is not needed: a wrong name is answered with those there are. Reads only; at most 50 rows.";

static void sql_schema(struct json_writer *w)
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
		return err_set(e, INCORE_USAGE, "bad-sql", "expected one statement, found several");
	if (w.depth < 2)
		return err_set(e, INCORE_USAGE, "bad-sql", "expected an SQL statement");
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

static bool sql_call(struct mcp *m, struct str arguments, struct arena *a, struct strbuf *out,
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

/* --- questions -------------------------------------------------------------------------------- */

/*
 * Questions as tools. A tool takes the options of its question, except those that name files
 * outside of a capture; its output is made above.
 */

struct tool {
	const char *name;
	const char *question; /* NULL: it asks no question */
	const char *preset;   /* preset options, as JSON; NULL: none */
	const char *hint;     /* for agents, in addition to the question's own summary */
};

/* Tools that differ from their question; every other question is a tool of the same name. */
static const struct tool special[] = {
	{"verdict", "verdict", NULL,
		"Ask this first: what bounds the kernel, where, what to change, what that brings, and whether the capture can be believed (health), in ten sentences; ledger gives the figures."},
	{"check", "check", NULL,
		"Why a capture cannot be believed, and what to do: its figures mean nothing where is_no is true."},
	{"summary", "summary", NULL,
		"The long page: the verdict, where cycles went, the costliest instructions and lines, what to try."},
	{"waits", "hot", "{\"by\":\"producer\"}",
		"Whom the lost cycles waited for: the instructions whose results were not there, costliest first."},
	{"isa", "isa", NULL,
		"A window of the listing: with range (\"13-20\"), or around a row; without either around the costliest instruction."},
	{"diff", "diff", NULL,
		"a is before, b is after; gate fails (is_no true) where a condition does not hold, e.g. \"latency<=2%\"."},
};

/* --- the list of tools --- */

static const struct tool *special_tool(const char *name)
{
	EACH (const struct tool, t, special, sizeof(special) / sizeof(special[0]))
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static bool find_tool(const char *name, struct tool *out)
{
	const struct tool *t = special_tool(name);
	const struct question *q = question_for(t ? t->question : name, REACH_AGENT);

	if (t)
		*out = *t;
	else if (q)
		*out = (struct tool){.name = q->name, .question = q->name};
	return q != NULL;
}

static bool is_pair(const struct question *q)
{
	return q->min_paths == 2 && q->max_paths >= 2 && strcmp(q->args, "A B") == 0;
}

static void mcp_tools_put_choices(struct json_writer *w, const struct option_def *d)
{
	struct str rest = str_of(d->choices), word;

	json_w_kv_array(w, "enum");
	while (str_cut(&rest, "|", &word))
		json_w_str(w, word);
	json_w_end(w);
}

static void mcp_tools_put_either(struct json_writer *w)
{
	json_w_kv_array(w, "type");
	json_w_cstr(w, "string");
	json_w_cstr(w, "integer");
	json_w_end(w);
}

static void mcp_tools_put_option(struct json_writer *w, const struct option_def *d)
{
	json_w_key(w, d->name);
	json_w_object(w);
	switch (d->type) {
	case OPTION_FLAG:
		json_w_kv_cstr(w, "type", "boolean");
		break;
	case OPTION_COUNT:
		json_w_kv_cstr(w, "type", "integer");
		json_w_kv_u64(w, "minimum", 0);
		break;
	case OPTION_CHOICE:
		mcp_tools_put_choices(w, d);
		break;
	case OPTION_MANY:
		json_w_kv_cstr(w, "type", "array");
		json_w_kv_object(w, "items");
		json_w_kv_cstr(w, "type", "string");
		json_w_end(w);
		break;
	default:
		mcp_tools_put_either(w);
	}
	json_w_kv_cstr(w, "description", d->help);
	json_w_end(w);
}

static void mcp_tools_put_options(struct json_writer *w, const struct option_def *table)
{
	for (; table && table->name; table++)
		if (table->reach & REACH_AGENT)
			mcp_tools_put_option(w, table);
}

static void put_text_property(struct json_writer *w, const char *name, const char *doc)
{
	json_w_kv_object(w, name);
	json_w_kv_cstr(w, "type", "string");
	json_w_kv_cstr(w, "description", doc);
	json_w_end(w);
}

static void mcp_tools_put_required(struct json_writer *w, const char *first, const char *second)
{
	json_w_kv_array(w, "required");
	json_w_cstr(w, first);
	if (second)
		json_w_cstr(w, second);
	json_w_end(w);
	json_w_kv_bool(w, "additionalProperties", false);
}

static void put_input(struct json_writer *w, const struct question *q)
{
	json_w_kv_object(w, "inputSchema");
	json_w_kv_cstr(w, "type", "object");
	json_w_kv_object(w, "properties");
	if (is_pair(q)) {
		put_text_property(w, "a", "the capture before");
		put_text_property(w, "b", "the capture after");
	} else {
		put_text_property(w, "path",
			q->inputs ? "a file or folder below the roots"
				  : "a capture, as the tool captures lists them");
	}
	mcp_tools_put_options(w, q->options);
	mcp_tools_put_options(w, q->groups & OPTIONS_SELECT ? request_select_options : NULL);
	mcp_tools_put_options(w, q->groups & OPTIONS_TOP ? request_top_options : NULL);
	mcp_tools_put_options(w, q->groups & OPTIONS_CAPTURE ? request_capture_options : NULL);
	json_w_kv_object(w, "limit");
	json_w_kv_cstr(w, "type", "integer");
	json_w_kv_u64(w, "minimum", 0);
	json_w_kv_u64(w, "maximum", RESULT_MOST_ROWS);
	json_w_kv_cstr(w, "description", "rows of a table to give [10]");
	json_w_end(w);
	json_w_kv_object(w, "tables");
	json_w_kv_cstr(w, "type", "array");
	json_w_kv_object(w, "items");
	json_w_kv_cstr(w, "type", "string");
	json_w_end(w);
	json_w_kv_cstr(
		w, "description", "rows of these tables alone [all, as far as they are small]");
	json_w_end(w);
	json_w_end(w);
	mcp_tools_put_required(w, is_pair(q) ? "a" : "path", is_pair(q) ? "b" : NULL);
	json_w_end(w);
}

static void put_output(struct json_writer *w)
{
	static const char schema[] =
		"{\"type\":\"object\",\"properties\":{\"question\":{\"type\":\"string\"},"
		"\"is_no\":{\"type\":\"boolean\",\"description\":\"a negative answer: cannot be trusted, a gate failed\"},"
		"\"values\":{\"type\":\"object\",\"description\":\"single values by name\"},"
		"\"tables\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{"
		"\"total\":{\"type\":\"integer\"},\"columns\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
		"\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"array\"}}},\"required\":[\"total\"]}},"
		"\"more\":{\"type\":\"string\"},\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
		"\"required\":[\"question\",\"values\",\"tables\"]}";

	json_w_key(w, "outputSchema");
	json_w_raw(w, str_of(schema));
}

static void put_annotations(struct json_writer *w)
{
	json_w_kv_object(w, "annotations");
	json_w_kv_bool(w, "readOnlyHint", true);
	json_w_kv_bool(w, "openWorldHint", false);
	json_w_end(w);
}

static void put_tool(struct json_writer *w, const struct tool *t)
{
	const struct question *q = question_find(t->question);
	struct strbuf text = {0};
	char name[40];

	sb_printf(&text, "%s. %s", q->summary, t->hint ? t->hint : "");
	json_w_object(w);
	json_w_kv_cstr(w, "name", question_word(t->name, name, sizeof(name)));
	json_w_kv_cstr(w, "description", text.p ? text.p : q->summary);
	put_input(w, q);
	put_output(w);
	put_annotations(w);
	json_w_end(w);
	sb_free(&text);
}

static void put_captures_tool(struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_cstr(w, "name", "captures");
	json_w_kv_cstr(
		w, "description", "which captures there are below the roots, with their format");
	json_w_kv_object(w, "inputSchema");
	json_w_kv_cstr(w, "type", "object");
	json_w_kv_object(w, "properties");
	json_w_end(w);
	json_w_kv_bool(w, "additionalProperties", false);
	json_w_end(w);
	put_annotations(w);
	json_w_end(w);
}

void tools_list(struct json_writer *w)
{
	struct tool t;

	json_w_object(w);
	json_w_kv_array(w, "tools");
	EACH (const struct tool, s, special, sizeof(special) / sizeof(special[0])) {
		if (find_tool(s->name, &t))
			put_tool(w, &t);
		if (s == special) /* the first tool is the verdict */
			put_captures_tool(w);
	}
	for (const struct question *const *q = question_table; *q; q++)
		if (!special_tool((*q)->name) && find_tool((*q)->name, &t))
			put_tool(w, &t);
	json_w_object(w);
	json_w_kv_cstr(w, "name", "sql");
	json_w_kv_cstr(w, "description", sql_description);
	json_w_key(w, "inputSchema");
	sql_schema(w);
	put_annotations(w);
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
}

/* --- calls --- */

struct mcp_tools_call {
	struct mcp *m;
	struct arena *a;
	struct tool tool;
	const struct question *question;
	const char *paths[2];
	unsigned n_paths;
	struct strbuf options; /* JSON, as request_set_json() takes it */
	struct result_shape shape;
	bool has_place; /* isa: the caller gave a window */
	bool has_whole; /* verdict: the caller wants its tables */
};

static bool take_path(
	struct mcp_tools_call *c, struct str value, unsigned at, struct incore_error *e)
{
	const char *name = json_text(value, c->a);

	if (!name)
		return err_set(e, INCORE_USAGE, "bad-type", "a path must be a text");
	c->paths[at] = root_path(c->m, name, c->a, e);
	c->n_paths += c->paths[at] != NULL;
	return c->paths[at] != NULL;
}

static bool mcp_tools_take_limit(struct mcp_tools_call *c, struct str value, struct incore_error *e)
{
	if (!str_to_u64(value, &c->shape.limit) || c->shape.limit > RESULT_MOST_ROWS)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"limit expects a number up to %u", RESULT_MOST_ROWS);
	return true;
}

/* Reads an array of strings into the arena. */
static bool mcp_tools_take_texts(struct mcp_tools_call *c, struct str value, const char ***out,
	unsigned *n, struct incore_error *e)
{
	struct json_reader j;
	struct str text;
	size_t most = 2; /* one more than expected, so that the end of the array is read, too */

	for (size_t i = 0; i < value.n; i++)
		most += value.p[i] == ',';
	*out = arena_zalloc(c->a, most, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	json_init(&j, value.p, value.n, NULL, 0);
	for (json_enter_array(&j); *n < most && json_next_item(&j) && json_get_str(&j, &text);)
		(*out)[(*n)++] = arena_strndup(c->a, text.p, text.n);
	if (!json_finish(&j, e)) {
		json_deinit(&j);
		e->status = INCORE_USAGE;
		return false;
	}
	json_deinit(&j);
	return true;
}

/* Adds paths of an option; they must be below the roots, too. */
static bool mcp_tools_put_paths(struct mcp_tools_call *c, struct str value, struct incore_error *e)
{
	const char **names;
	struct json_writer w;
	unsigned n = 0;

	if (!mcp_tools_take_texts(c, value, &names, &n, e))
		return false;
	json_w_buf(&w, &c->options, 0);
	json_w_array(&w);
	for (unsigned i = 0; i < n; i++) {
		const char *path =
			names[i] ? root_path(c->m, names[i], c->a, e) : err_nomem_null(e);

		if (!path)
			return false;
		json_w_cstr(&w, path);
	}
	json_w_end(&w);
	return json_w_finish(&w, e);
}

static bool take_option(
	struct mcp_tools_call *c, const char *name, struct str value, struct incore_error *e)
{
	const struct option_def *d = request_option(c->question, name);

	if (!d || !(d->reach & REACH_AGENT))
		return err_set(
			e, INCORE_USAGE, "unknown-option", "%s takes no '%s'", c->tool.name, name);
	c->has_place |= strcmp(name, "range") == 0 || strcmp(name, "around") == 0;
	c->has_whole |= strcmp(name, "ledger") == 0;
	sb_printf(&c->options, "%s\"%s\":", c->options.n > 1 ? "," : "", name);
	return d->names_file ? mcp_tools_put_paths(c, value, e)
			     : sb_str(&c->options, value) || err_nomem(e);
}

static bool take_argument(
	struct mcp_tools_call *c, const char *name, struct str value, struct incore_error *e)
{
	const char **tables = NULL;

	if (is_pair(c->question) && (strcmp(name, "a") == 0 || strcmp(name, "b") == 0))
		return take_path(c, value, name[0] == 'b', e);
	if (!is_pair(c->question) && strcmp(name, "path") == 0)
		return take_path(c, value, 0, e);
	if (strcmp(name, "limit") == 0)
		return mcp_tools_take_limit(c, value, e);
	if (strcmp(name, "tables") != 0)
		return take_option(c, name, value, e);
	if (!mcp_tools_take_texts(c, value, &tables, &c->shape.n_tables, e))
		return false;
	c->shape.tables = tables;
	return true;
}

static bool mcp_tools_take_arguments(
	struct mcp_tools_call *c, struct str arguments, struct incore_error *e)
{
	struct json_reader j;
	struct str key;
	bool ok = sb_puts(&c->options, "{") || err_nomem(e);

	json_init(&j, arguments.p, arguments.n, NULL, 0);
	for (json_enter_object(&j); ok && json_next_key(&j, &key);) {
		const char *name = arena_strndup(c->a, key.p, key.n);
		const char *from;

		json_peek(&j);
		from = j.p;
		ok = json_skip(&j) && name &&
		     take_argument(c, name, (struct str){from, (size_t)(j.p - from)}, e);
	}
	json_deinit(&j);
	if (ok && c->tool.preset) /* {"by": ...}, without the braces */
		sb_printf(&c->options, "%s%.*s", c->options.n > 1 ? "," : "",
			(int)strlen(c->tool.preset) - 2, c->tool.preset + 1);
	ok = ok && sb_puts(&c->options, "}");
	if (ok && c->n_paths != (is_pair(c->question) ? 2u : 1u))
		return err_set(e, INCORE_USAGE, "missing-argument", "%s expects %s", c->tool.name,
			is_pair(c->question) ? "a and b" : "path");
	return ok || (!e->code && err_nomem(e));
}

static bool mcp_tools_ask(struct mcp_tools_call *c, const struct question *q, const char *options,
	struct answer *out, struct incore_error *e)
{
	struct request r;
	bool ok;

	memset(out, 0, sizeof(*out));
	if (!request_init(&r, q, e))
		return false;
	r.paths = c->paths;
	r.n_paths = c->n_paths;
	r.captures = &c->m->captures;
	r.pool = c->m->o->pool;
	r.progress = c->m->progress;
	r.is_for_people = true;
	ok = request_set_json(&r, options, c->a, e) && answer_ask(&r, out, e);
	request_deinit(&r);
	return ok;
}

/* Adds options for a window around the costliest instruction. */
static bool place_window(struct mcp_tools_call *c, struct incore_error *e)
{
	struct answer answer;
	bool ok = mcp_tools_ask(c, question_find("hot"), "{\"top\":1}", &answer, e);

	if (ok) {
		const struct hot_answer *h = answer.data;
		const struct hot_row *first =
			answer.record != question_find("hot")->records[0] ? NULL : h->rows.v;

		c->options.n--; /* drop the closing brace */
		if (first && h->rows.n && first->row != NO_VALUE)
			sb_printf(&c->options, "%s\"around\":%lld,\"context\":8",
				c->options.n > 1 ? "," : "", (long long)first->row);
		ok = sb_puts(&c->options, "}") || err_nomem(e);
	}
	answer_deinit(&answer);
	return ok;
}

static bool call_question(
	struct mcp_tools_call *c, struct str arguments, struct strbuf *out, struct incore_error *e)
{
	struct answer answer;
	bool ok;

	if (!mcp_tools_take_arguments(c, arguments, e))
		return false;
	if (strcmp(c->tool.name, "isa") == 0) {
		if (!c->has_place && !place_window(c, e))
			return false;
		c->shape.limit = c->shape.limit == RESULT_ROWS ? 40 : c->shape.limit;
	}
	/* its sentences say it; rows only on request */
	if (strcmp(c->tool.name, "verdict") == 0 && !c->has_whole && !c->shape.tables &&
		c->shape.limit == RESULT_ROWS)
		c->shape.limit = 0;
	ok = mcp_tools_ask(c, c->question, c->options.p, &answer, e) &&
	     result_of_answer(&answer, &c->shape, out, e);
	answer_deinit(&answer);
	return ok;
}

static bool call_captures(
	struct mcp *m, struct arena *a, struct strbuf *out, struct incore_error *e)
{
	struct found_capture *v;
	struct json_writer w;
	size_t n;

	if (!root_captures(m, a, &v, &n, e))
		return false;
	json_w_buf(&w, out, 0);
	json_w_object(&w);
	json_w_kv_array(&w, "captures");
	EACH (const struct found_capture, c, v, n) {
		json_w_object(&w);
		json_w_kv_cstr(&w, "path", c->name);
		json_w_kv_cstr(&w, "format", c->format);
		if (c->dispatch != NO_VALUE)
			json_w_kv_i64(&w, "dispatch", c->dispatch);
		json_w_end(&w);
	}
	json_w_end(&w);
	if (n == MOST_CAPTURES)
		json_w_kv_cstr(
			&w, "more", "there may be more: start the server with a smaller root");
	json_w_end(&w);
	return json_w_finish(&w, e);
}

bool tools_call(
	struct mcp *m, const struct rpc_message *r, struct json_writer *w, struct incore_error *e)
{
	struct arena a;
	struct strbuf out = {0};
	struct mcp_tools_call c = {.m = m, .a = &a, .shape = {.limit = RESULT_ROWS}};
	struct str arguments = json_member(r->params, "arguments");
	const char *name;
	bool ok, is_known = true;

	arena_init(&a);
	name = json_text(json_member(r->params, "name"), &a);
	arguments = arguments.n && arguments.p[0] == '{' ? arguments : STR("{}");
	if (name && strcmp(name, "captures") == 0)
		ok = call_captures(m, &a, &out, e);
	else if (name && strcmp(name, "sql") == 0)
		ok = sql_call(m, arguments, &a, &out, e);
	else if (name && find_tool(name, &c.tool))
		ok = (c.question = question_find(c.tool.question)) &&
		     call_question(&c, arguments, &out, e);
	else
		ok = is_known = err_set(
			e, INCORE_USAGE, "no-such-tool", "there is no tool '%s'", name ? name : "");
	if (is_known && ok)
		result_put(w, (struct str){out.p, out.n});
	else if (is_known)
		result_put_error(w, e);
	sb_free(&out);
	sb_free(&c.options);
	arena_deinit(&a);
	return is_known;
}
