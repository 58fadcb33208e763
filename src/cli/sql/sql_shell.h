/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_shell.h: lines that a person types, with history and completion where libedit is there.
 * Owner: the caller; sql_shell_close() keeps the history. One at a time.
 */
#pragma once

#include "sql/sql.h"

/* Words to complete come from the tables of s, which must outlive the shell. */
void sql_shell_open(const struct sql *s);
/* The next line without its end, to be freed with free(); NULL: the end of input. */
char *sql_shell_line(const char *prompt);
/* Remembers a whole statement. */
void sql_shell_remember(const char *statement);
void sql_shell_close(void);
