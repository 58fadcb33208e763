/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sql.c: incore sql: questions in SQL, from the command line, standard input or a shell. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/ask.h"
#include "cli/output.h"
#include "cli/sql/sql_result.h"
#include "cli/sql/sql_shell.h"

#define TEXT_OF(x) #x
#define DIGITS(x) TEXT_OF(x)

static const struct option_def options[] = {
	{OPT_TIMEOUT, NULL, DIGITS(SQL_TIMEOUT_S), "stop a query that takes longer; 0: never"},
	{OPT_MEMORY, NULL, DIGITS(SQL_MEMORY_MIB), "stop a query that needs more; 0: never"},
	{OPT_ROWS, NULL, DIGITS(SQL_MAX_ROWS), "maximum number of rows to return"},
	{OPT_PARQUET, NULL, NULL, "write the result to a Parquet file"},
	OPTION_END,
};

struct sql_job {
	struct cli *c;
	struct asked asked;
	struct sql *sql;
	struct sql_out out;
	unsigned n_paths;
	bool is_quitting;
};

/* The query cannot be stopped, and its thread still uses everything: touch nothing else. */
static void end_stuck(void *ctx, const struct incore_error *e)
{
	const struct cli *c = ctx;

	leftover_remove_all();
	output_error(e, c->use_json);
	_exit(e->status);
}

/* --- a statement --- */

static void warn_cut(struct sql_job *j, const struct sql_result *r)
{
	if (!r->is_cut)
		return;
	j->c->n_losses++;
	cli_warn(j->c, "only the first %llu rows are given (--rows all gives every one)",
		(unsigned long long)r->n_rows);
}

/* Runs the first statement of the text; sets *rest to what follows it. */
static bool run_statement(struct sql_job *j, const char *text, const char **rest)
{
	struct sql_sink sink = sql_out_sink(&j->out);
	const char *path = cli_text(j->c, "parquet");
	struct sql_result r;

	if (!sql_run(j->sql, text, rest, &sink, &r, &j->c->error))
		return false;
	warn_cut(j, &r);
	if (!j->c->use_json && !path)
		return sql_out_draw(&j->out);
	if (sql_has_more(*rest))
		return err_set(&j->c->error, INCORE_USAGE, "bad-sql",
			"%s takes one statement at a time", path ? "--parquet" : "--json");
	if (path)
		return sql_out_parquet(&j->out, path, &r);
	cli_warn_unread(j->c, sql_failed(j->sql));
	cli_move_warnings(j->c, &j->asked.answer);
	return sql_out_json(&j->out, (const struct trace *const *)j->asked.answer.traces.v,
		j->n_paths, text, &r);
}

/* --- dot commands --- */

static const char help_text[] =
	".tables         the tables there are\n"
	".schema TABLE   its columns, with units and what they mean\n"
	".help           this\n"
	".quit           ends\n"
	"Anything else is SQL, up to a semicolon: SELECT class, sum(duration) FROM slices GROUP BY 1;\n";

/* Runs a command like ".schema slices". */
static bool run_command(struct sql_job *j, const char *line)
{
	char word[16] = "", name[64] = "", more[2] = "";
	int n = sscanf(line, "%15s %63s %1s", word, name, more);

	if (n == 1 && strcmp(word, ".tables") == 0)
		return sql_draw_tables(j->c, j->sql);
	if (n == 2 && strcmp(word, ".schema") == 0)
		return sql_draw_columns(j->c, j->sql, name);
	if (n == 1 && strcmp(word, ".quit") == 0) {
		j->is_quitting = true;
		return true;
	}
	if (n == 1 && strcmp(word, ".help") == 0) {
		fputs(help_text, j->c->out);
		return true;
	}
	return err_set(&j->c->error, INCORE_USAGE, "bad-command",
		"there is no such command: .tables, .schema TABLE, .help, .quit");
}

/* Runs statements one after another; a line that begins with a dot is a command. */
static bool run_text(struct sql_job *j, const char *text)
{
	while (!j->is_quitting && sql_has_more(text)) {
		text += strspn(text, " \t\r\n;");
		if (*text == '.') {
			size_t n = strcspn(text, "\n");
			char *line = strndup(text, n);
			bool ok = line ? run_command(j, line) : err_nomem(&j->c->error);

			free(line);
			if (!ok)
				return false;
			text += n;
		} else if (!run_statement(j, text, &text)) {
			return false;
		}
	}
	return true;
}

/* --- where statements come from --- */

static bool run_stdin(struct sql_job *j)
{
	struct strbuf b = {0};
	char part[4096];
	size_t n;
	bool ok;

	while ((n = fread(part, 1, sizeof(part), stdin)) > 0 && sb_add(&b, part, n))
		;
	if (b.failed)
		ok = err_nomem(&j->c->error);
	else if (b.n && memchr(b.p, 0, b.n))
		ok = err_set(&j->c->error, INCORE_USAGE, "bad-sql", "standard input is not text");
	else
		ok = run_text(j, b.p ? b.p : "");
	sb_free(&b);
	return ok;
}

/* Runs what was typed; reports an error, and the shell goes on. */
static void run_typed(struct sql_job *j, const char *text)
{
	if (!run_text(j, text)) {
		output_error(&j->c->error, false);
		incore_error_clear(&j->c->error);
		sql_out_deinit(&j->out);
		sql_out_init(&j->out, j->c, j->out.most_bytes);
	}
	fflush(j->c->out);
}

static bool run_shell(struct sql_job *j)
{
	struct strbuf statement = {0};
	char *line;

	if (j->c->use_json || cli_has(j->c, "parquet"))
		return err_set(&j->c->error, INCORE_USAGE, "missing-argument",
			"%s needs a query on the command line or standard input",
			j->c->use_json ? "--json" : "--parquet");
	sql_shell_open(j->sql);
	while (!j->is_quitting && !ferror(j->c->out) &&
		(line = sql_shell_line(statement.n ? "   ...> " : "incore> "))) {
		sb_printf(&statement, "%s%s", statement.n ? "\n" : "", line);
		free(line);
		if (statement.failed)
			break;
		if (*statement.p != '.' && sql_has_more(statement.p) &&
			!sql_is_complete(statement.p))
			continue;
		if (sql_has_more(statement.p)) {
			sql_shell_remember(statement.p);
			run_typed(j, statement.p);
		}
		sb_reset(&statement);
	}
	sql_shell_close();
	sb_free(&statement);
	return true;
}

/* The last argument is the query, unless it is the path of a capture. */
static const char *take_query(struct sql_job *j)
{
	struct cli *c = j->c;

	j->n_paths = c->n_args;
	if (c->n_args < 2 || access(c->args[c->n_args - 1], F_OK) == 0)
		return NULL;
	return c->args[--j->n_paths];
}

static bool run(struct cli *c)
{
	struct sql_job j = {.c = c};
	const char *query = take_query(&j);
	struct sql_limits limits = {.timeout_s = cli_count(c, "timeout"),
		.memory_bytes = cli_count(c, "memory") << 20,
		.max_rows = cli_count(c, "rows"),
		.stuck_ctx = c};
	bool ok;

	if (cli_has(c, "parquet") && (c->use_json || c->use_csv))
		return err_set(&c->error, INCORE_USAGE, "bad-option",
			"--parquet excludes --json and --csv");
	if (cli_has(c, "rows") && strcmp(cli_text(c, "rows"), "all") == 0)
		limits.max_rows = UINT64_MAX;
	sql_out_init(&j.out, c, limits.memory_bytes);
	ok = cli_begin(c, &j.asked);
	if (ok) {
		j.asked.captures.always = IMPORT_ALL; /* each capture is read only once */
		/* an interactive user sees that it is stuck, and would lose the session */
		if (query || !isatty(STDIN_FILENO))
			limits.on_stuck = end_stuck;
		j.sql = sql_open(
			&j.asked.request, &j.asked.answer, c->args, j.n_paths, &limits, &c->error);
		ok = j.sql && (query			     ? run_text(&j, query)
				      : isatty(STDIN_FILENO) ? run_shell(&j)
							     : run_stdin(&j));
	}
	if (j.sql && !c->use_json)
		cli_warn_unread(c, sql_failed(j.sql));
	cli_move_warnings(c, &j.asked.answer);
	sql_close(j.sql);
	sql_out_deinit(&j.out);
	cli_answered(&j.asked);
	return ok;
}

const struct verb verb_sql = {
	.name = "sql",
	.args = "PATH... [QUERY]",
	.summary = "questions in SQL: slices, code, causes and every answer as tables",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 1,
	.max_args = 1000,
	.run = run,
	.records = RECORDS(&sql_record),
};
