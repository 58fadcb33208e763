/* SPDX-License-Identifier: Apache-2.0 */
/* editor_plain.c: typed lines without libedit, as the terminal gives them. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/editor.h"

static void open_plain(const char *(*word)(const void *ctx, size_t i), const void *ctx)
{
	(void)word;
	(void)ctx;
}

static char *plain_line(const char *prompt)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	fputs(prompt, stdout);
	fflush(stdout);
	n = getline(&line, &room, stdin);
	if (n < 0) {
		free(line);
		return NULL;
	}
	if (n && line[n - 1] == '\n')
		line[n - 1] = 0;
	return line;
}

static void remember_nothing(const char *statement)
{
	(void)statement;
}

static void close_plain(void)
{
}

const struct line_editor typed_lines = {open_plain, plain_line, remember_nothing, close_plain};
