/* SPDX-License-Identifier: Apache-2.0 */
/* sql_shell_edit.c: input lines of the shell with libedit: history, and completion of tables,
 * columns and words. */
#include <editline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sql/sql_shell.h"

#define HISTORY_MOST 1000

/* Global because libedit's callbacks have no context. */
static const struct sql *completing;
static char *history_path;
static FILE *screen;

static const char *const sql_words[] = {"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT",
	"JOIN", "LEFT JOIN", "USING", "HAVING", "WITH", "UNION ALL", "DISTINCT", "count(*)", "sum(",
	"avg(", "min(", "max(", "median(", "quantile(", ".tables", ".schema", ".help", ".quit",
	NULL};

/* The i-th word among those of SQL, tables and columns; NULL: no more. */
static const char *word_at(size_t i)
{
	size_t n_tables, n_words = 0;
	const struct sql_table *t = sql_tables(completing, &n_tables);

	while (sql_words[n_words])
		n_words++;
	if (i < n_words)
		return sql_words[i];
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

/* A word is offered only once, even if several tables have such a column. */
static bool was_offered(size_t before, const char *word)
{
	for (size_t i = 0; i < before; i++)
		if (strcmp(word_at(i), word) == 0)
			return true;
	return false;
}

static char *next_match(const char *text, int is_again)
{
	static size_t at;
	const char *word;

	if (!is_again)
		at = 0;
	while ((word = word_at(at++)))
		if (strncasecmp(word, text, strlen(text)) == 0 && !was_offered(at - 1, word))
			return strdup(word);
	return NULL;
}

static char **complete(const char *text, int start, int end)
{
	(void)start;
	(void)end;
	rl_attempted_completion_over = 1; /* no completion of file names */
	return rl_completion_matches(text, next_match);
}

/* $XDG_STATE_HOME/incore/sql_history; NULL: no place for it. */
static char *find_history(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	struct strbuf b = {0};

	if (state && *state)
		sb_printf(&b, "%s/incore", state);
	else if (home && *home)
		sb_printf(&b, "%s/.local/state/incore", home);
	else
		return NULL;
	if (b.failed)
		return NULL;
	for (char *p = b.p + 1; *p; p++) /* creates its parents, too */
		if (*p == '/') {
			*p = 0;
			mkdir(b.p, 0700);
			*p = '/';
		}
	mkdir(b.p, 0700);
	sb_puts(&b, "/sql_history");
	return b.p;
}

void sql_shell_open(const struct sql *s)
{
	completing = s;
	rl_readline_name = "incore";
	rl_attempted_completion_function = complete;
	/* stdout has no descriptor (output_stdout()), and libedit needs that of the terminal */
	screen = fdopen(dup(STDOUT_FILENO), "w");
	if (screen)
		rl_outstream = screen;
	rl_initialize();
	using_history();
	stifle_history(HISTORY_MOST);
	history_path = find_history();
	if (history_path)
		read_history(history_path);
}

char *sql_shell_line(const char *prompt)
{
	return readline(prompt);
}

void sql_shell_remember(const char *statement)
{
	char *line = strdup(statement);

	for (char *p = line; p && *p; p++)
		if (*p == '\n')
			*p = ' ';
	if (line)
		add_history(line);
	free(line);
}

void sql_shell_close(void)
{
	if (history_path)
		write_history(history_path);
	mem_free(history_path);
	history_path = NULL;
	if (screen)
		fclose(screen);
	screen = NULL;
}
