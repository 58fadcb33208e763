/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h: where the answer goes and how the program speaks besides it: stdout, -o file or pager;
 * colour; progress and warnings on stderr. Used by main.c alone.
 */
#pragma once

#include "cli/cli.h"

/* Terminal, colour, width, jobs, progress and the output file, from the parsed options. */
bool output_open(struct cli *c);
/* Ends the pager, checks stdout, puts the -o file in place (or drops it when `keep` is false).
 * Returns the exit status; fills c->error on failure. */
int output_close(struct cli *c, int status, bool keep);
/* Warnings of a text answer. */
void output_warnings(const struct cli *c);
/* One error on stderr, as text or as incore.error/1. */
void output_error(const struct incore_error *e, bool as_json);
/* For work that leaves directories: from here on the first SIGINT only makes output_interrupted()
 * true, so that what was begun can be taken back; the second ends the program. */
void output_finish_on_interrupt(void);
bool output_interrupted(void *unused);
#define INTERRUPTED_STATUS 130

/* SIGINT removes the unfinished file and ends with 130; SIGPIPE is ignored. */
void output_signals(void);
