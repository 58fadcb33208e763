/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c: incore sql: questions in SQL, from the command line, standard input or a shell. Programs get
 * the result of one statement; people see each result before the next statement runs.
 */
#include <stdlib.h>
#include <unistd.h>

#include "answer/captures.h"
#include "base/file.h"
#include "page/table.h"
#include "verbs/sql/sql_result.h"
#include "verbs/terminal.h"

#define TEXT_OF(x) #x
#define DIGITS(x) TEXT_OF(x)

struct sql_params {
	uint64_t timeout_s, memory_mib, rows;
	const char *parquet;
};
#define FIELD(M) OPTION_FIELD(sql_params, M)
static const struct option_def options[] = {
	{OPT_TIMEOUT, NULL, DIGITS(SQL_TIMEOUT_S), "stop a query that takes longer; 0: never",
		FIELD(timeout_s)},
	{OPT_MEMORY, NULL, DIGITS(SQL_MEMORY_MIB), "stop a query that needs more; 0: never",
		FIELD(memory_mib)},
	{OPT_ROWS, NULL, DIGITS(SQL_MAX_ROWS), "maximum number of rows to return", FIELD(rows)},
	{OPT_PARQUET, NULL, NULL, "write the result to a Parquet file", FIELD(parquet)},
	OPTION_END,
};

struct sql_job { /* kept by the answer, which points into its result */
	const struct request *request;
	const struct sql_params *p;
	struct answer *answer;
	struct sql *sql;
	struct sql_out out;
	bool is_for_program; /* which gets one result as JSON */
	bool has_result;     /* and has it */
	bool is_quitting;
};

static void drop_job(struct sql_job *j)
{
	sql_close(j->sql);
	sql_out_deinit(&j->out);
}

/* The query cannot be stopped, and its thread still uses everything: touch nothing else. */
static void end_stuck(void *ctx, const struct incore_error *e)
{
	const struct terminal *t = ctx;

	leftover_remove_all();
	t->report(t->ctx, e);
	_exit((int)e->status);
}

/* --- a statement --- */

static bool show(struct sql_job *j, const struct sql_shown *x, struct incore_error *e)
{
	const struct terminal *t = j->request->terminal;

	answer_set(j->answer, &sql_record, x);
	return t->show(t->ctx, j->answer, e);
}

static void warn_cut(struct sql_job *j, const struct sql_result *r)
{
	if (!r->is_cut)
		return;
	j->answer->n_losses++;
	answer_warn(j->answer, "only the first %llu rows are given (--rows all gives every one)",
		(unsigned long long)r->n_rows);
}

/* Makes the result the answer. */
static bool give_result(
	struct sql_job *j, const char *query, const struct sql_result *r, struct incore_error *e)
{
	struct sql_shown *x = ANSWER_NEW(j->answer, sql_shown, e);

	if (!x)
		return false;
	x->query = arena_strdup(&j->answer->arena, query);
	answer_set(j->answer, &sql_record, x);
	j->has_result = true;
	return x->query ? sql_out_rows(&j->out, r, x, e) : err_nomem(e);
}

static bool write_parquet(struct sql_job *j, const struct sql_result *r, struct incore_error *e)
{
	const struct sql_shown x = {
		.file = j->p->parquet, .columns.n = j->out.n_columns, .rows.n = (size_t)r->n_rows};

	if (!sql_out_parquet(&j->out, j->p->parquet, e))
		return false;
	j->answer->is_written = true;
	return show(j, &x, e);
}

/* Shows people the result, which has columns. */
static bool show_result(struct sql_job *j, const struct sql_result *r, struct incore_error *e)
{
	const struct sql_shown x = {.out = &j->out};

	if (j->request->is_csv)
		return sql_out_flush(&j->out, e);
	if (j->p->parquet)
		return write_parquet(j, r, e);
	if (j->out.n_columns > TABLE_COLUMNS)
		return err_set(e, INCORE_USAGE, "sql-limit",
			"%u columns are too many to draw: name those that are wanted, or take "
			"--csv or --json",
			j->out.n_columns);
	return show(j, &x, e);
}

/* Runs the first statement of the text; sets *rest to what follows it. */
static bool run_statement(
	struct sql_job *j, const char *text, const char **rest, struct incore_error *e)
{
	struct sql_sink sink = sql_out_sink(&j->out);
	struct sql_result r;
	bool ok;

	if (!sql_run(j->sql, text, rest, &sink, &r, e))
		return false;
	warn_cut(j, &r);
	if ((j->is_for_program || j->p->parquet) && sql_has_more(*rest))
		return err_set(e, INCORE_USAGE, "bad-sql", "%s takes one statement at a time",
			j->p->parquet ? "--parquet" : "--json");
	if (j->is_for_program)
		return give_result(j, text, &r, e);
	ok = !j->out.n_columns || show_result(j, &r, e);
	sql_out_forget(&j->out);
	return ok;
}

/* --- dot commands --- */

static const char help_text[] =
	".tables         the tables there are\n"
	".schema TABLE   its columns, with units and what they mean\n"
	".help           this\n"
	".quit           ends\n"
	"Anything else is SQL, up to a semicolon: SELECT class, sum(duration) FROM slices GROUP BY 1;\n";

/* Runs a command like ".schema slices". */
static bool run_command(struct sql_job *j, const char *line, struct incore_error *e)
{
	char word[16] = "", name[64] = "", more[2] = "";
	int n = sscanf(line, "%15s %63s %1s", word, name, more);
	struct sql_shown x = {0};

	if (j->is_for_program)
		return err_set(e, INCORE_USAGE, "bad-command",
			"--json takes a statement of SQL, not a command");
	if (n == 1 && strcmp(word, ".tables") == 0) {
		x.tables = j->sql;
	} else if (n == 2 && strcmp(word, ".schema") == 0) {
		x.table = sql_find_table(j->sql, name, e);
		if (!x.table)
			return false;
	} else if (n == 1 && strcmp(word, ".quit") == 0) {
		j->is_quitting = true;
		return true;
	} else if (n == 1 && strcmp(word, ".help") == 0) {
		x.text = help_text;
	} else {
		return err_set(e, INCORE_USAGE, "bad-command",
			"there is no such command: .tables, .schema TABLE, .help, .quit");
	}
	return show(j, &x, e);
}

/* Runs statements one after another; a line that begins with a dot is a command. */
static bool run_text(struct sql_job *j, const char *text, struct incore_error *e)
{
	while (!j->is_quitting && sql_has_more(text)) {
		text += strspn(text, " \t\r\n;");
		if (*text == '.') {
			size_t n = strcspn(text, "\n");
			char *line = strndup(text, n);
			bool ok = line ? run_command(j, line, e) : err_nomem(e);

			free(line);
			if (!ok)
				return false;
			text += n;
		} else if (!run_statement(j, text, &text, e)) {
			return false;
		}
	}
	return true;
}

/* --- where statements come from --- */

static bool run_file(struct sql_job *j, FILE *in, struct incore_error *e)
{
	struct strbuf b = {0};
	char part[4096];
	size_t n;
	bool ok;

	while ((n = fread(part, 1, sizeof(part), in)) > 0 && sb_add(&b, part, n))
		;
	if (b.failed)
		ok = err_nomem(e);
	else if (b.n && memchr(b.p, 0, b.n))
		ok = err_set(e, INCORE_USAGE, "bad-sql", "standard input is not text");
	else
		ok = run_text(j, b.p ? b.p : "", e);
	sb_free(&b);
	return ok;
}

/* The i-th word that completion offers: of SQL, tables and columns; NULL: no more. */
static const char *word_at(const void *sql, size_t i)
{
	static const char *const words[] = {"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY",
		"LIMIT", "JOIN", "LEFT JOIN", "USING", "HAVING", "WITH", "UNION ALL", "DISTINCT",
		"count(*)", "sum(", "avg(", "min(", "max(", "median(", "quantile(", ".tables",
		".schema", ".help", ".quit"};
	const size_t n_words = sizeof(words) / sizeof(words[0]);
	size_t n_tables;
	const struct sql_table *t = sql_tables(sql, &n_tables);

	if (i < n_words)
		return words[i];
	i -= n_words;
	for (size_t k = 0; k < n_tables; k++) {
		const struct sql_column *v = t[k].columns.v;

		if (i == 0)
			return t[k].name;
		if (--i < t[k].columns.n)
			return v[i].name;
		i -= t[k].columns.n;
	}
	return NULL;
}

/* Runs what was typed; reports an error, and the shell goes on. */
static void run_typed(struct sql_job *j, const char *text)
{
	const struct terminal *t = j->request->terminal;
	struct incore_error e = {0};

	if (!run_text(j, text, &e)) {
		t->report(t->ctx, &e);
		incore_error_clear(&e);
		sql_out_forget(&j->out);
	}
	fflush(j->request->out);
}

static bool run_shell(struct sql_job *j, const struct line_editor *editor, struct incore_error *e)
{
	struct strbuf statement = {0};
	char *line;

	if (j->is_for_program || j->p->parquet)
		return err_set(e, INCORE_USAGE, "missing-argument",
			"%s needs a query on the command line or standard input",
			j->is_for_program ? "--json" : "--parquet");
	editor->open(word_at, j->sql);
	while (!j->is_quitting && !ferror(j->request->out) &&
		(line = editor->line(statement.n ? "   ...> " : "incore> "))) {
		sb_printf(&statement, "%s%s", statement.n ? "\n" : "", line);
		free(line);
		if (statement.failed)
			break;
		if (*statement.p != '.' && sql_has_more(statement.p) &&
			!sql_is_complete(statement.p))
			continue;
		if (sql_has_more(statement.p)) {
			editor->remember(statement.p);
			run_typed(j, statement.p);
		}
		sb_reset(&statement);
	}
	editor->close();
	sb_free(&statement);
	return true;
}

/* The last argument is the query, unless it is the path of a capture. */
static const char *take_query(const struct request *r, unsigned *n_paths)
{
	*n_paths = r->n_paths;
	if (r->n_paths < 2 || access(r->paths[r->n_paths - 1], F_OK) == 0)
		return NULL;
	return r->paths[--*n_paths];
}

static bool run_job(struct sql_job *j, struct incore_error *e)
{
	const struct request *r = j->request;
	const struct sql_params *p = j->p;
	const struct terminal *t = r->terminal;
	unsigned n_paths;
	const char *query = take_query(r, &n_paths);
	struct sql_limits limits = {.timeout_s = p->timeout_s,
		.memory_bytes = p->memory_mib << 20,
		.max_rows = p->rows == NO_COUNT	 ? SQL_MAX_ROWS
			    : p->rows == TOP_ALL ? UINT64_MAX
						 : p->rows,
		.stuck_ctx = (void *)t};

	/* an interactive user sees that it is stuck, and would lose the session */
	if (query || !t->editor)
		limits.on_stuck = end_stuck;
	sql_out_init(&j->out, r->is_csv ? r->out : NULL, limits.memory_bytes);
	r->captures->always = IMPORT_ALL; /* each capture is read only once */
	j->sql = sql_open(r, j->answer, r->paths, n_paths, &limits, e);
	if (!j->sql)
		return false;
	return query	   ? run_text(j, query, e)
	       : t->editor ? run_shell(j, t->editor, e)
			   : run_file(j, t->in, e);
}

static bool sql_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct sql_params *p = r->params;
	struct sql_job *j = ANSWER_NEW(a, sql_job, e);
	bool ok;

	if (!j)
		return false;
	*j = (struct sql_job){.request = r,
		.p = p,
		.answer = a,
		.is_for_program = !r->is_for_people && !r->is_csv};
	if (p->parquet && !r->is_for_people)
		return err_set(
			e, INCORE_USAGE, "bad-option", "--parquet excludes --json and --csv");
	if (!ANSWER_KEEP(a, j, drop_job, e))
		return false;
	ok = run_job(j, e);
	if (j->sql)
		answer_warn_unread(a, sql_failed(j->sql));
	sql_close(j->sql);
	j->sql = NULL;
	a->is_streamed = !j->has_result;
	return ok;
}

const struct question question_sql = {
	.name = "sql",
	.args = "PATH... [QUERY]",
	.summary = "questions in SQL: slices, code, causes and every answer as tables",
	.groups = OPTIONS_CSV_ROWS | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct sql_params),
	.min_paths = 1,
	.max_paths = 1000,
	.records = RECORDS(&sql_record),
	.ask = sql_ask,
	.page = sql_page,
};
