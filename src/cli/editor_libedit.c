/* SPDX-License-Identifier: Apache-2.0 */
/* editor_libedit.c: typed lines with libedit: history, and completion of the words that are known. */
#include <editline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/editor.h"

#define HISTORY_MOST 1000

/* Global because libedit's callbacks have no context. */
static const char *(*word_at)(const void *ctx, size_t i);
static const void *word_ctx;
static char *history_path;
static FILE *screen;

/* A word is offered only once, even if it is listed several times. */
static bool was_offered(size_t before, const char *word)
{
	for (size_t i = 0; i < before; i++)
		if (strcmp(word_at(word_ctx, i), word) == 0)
			return true;
	return false;
}

static char *next_match(const char *text, int is_again)
{
	static size_t at;
	const char *word;

	if (!is_again)
		at = 0;
	while ((word = word_at(word_ctx, at++)))
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

static void open_history(const char *(*word)(const void *ctx, size_t i), const void *ctx)
{
	word_at = word;
	word_ctx = ctx;
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

static char *edited_line(const char *prompt)
{
	return readline(prompt);
}

static void remember(const char *statement)
{
	char *line = strdup(statement);

	for (char *p = line; p && *p; p++)
		if (*p == '\n')
			*p = ' ';
	if (line)
		add_history(line);
	free(line);
}

static void close_history(void)
{
	if (history_path)
		write_history(history_path);
	mem_free(history_path);
	history_path = NULL;
	if (screen)
		fclose(screen);
	screen = NULL;
}

const struct line_editor typed_lines = {open_history, edited_line, remember, close_history};
