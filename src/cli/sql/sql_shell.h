/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_shell.h: reads lines that a user types, with history and completion if libedit is available.
 * Owner: the caller; sql_shell_close() keeps the history. One at a time.
 */
#pragma once

#include "sql/sql.h"

/* Completion takes its words from the tables of s, which must outlive the shell. */
void sql_shell_open(const struct sql *s);
/* The next line without its newline, to be freed with free(); NULL: end of input. */
char *sql_shell_line(const char *prompt);
/* Adds a complete statement to the history. */
void sql_shell_remember(const char *statement);
void sql_shell_close(void);
