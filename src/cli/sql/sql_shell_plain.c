/* SPDX-License-Identifier: Apache-2.0 */
/* sql_shell_plain.c: input lines of the shell without libedit, as the terminal gives them. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/sql/sql_shell.h"

void sql_shell_open(const struct sql *s)
{
	(void)s;
}

char *sql_shell_line(const char *prompt)
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

void sql_shell_remember(const char *statement)
{
	(void)statement;
}

void sql_shell_close(void)
{
}
