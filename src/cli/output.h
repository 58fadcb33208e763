/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h: where the answer goes (stdout, -o file or pager), colour, and the messages besides the
 * answer: progress and warnings on stderr. One program, one output.
 */
#pragma once

#include "cli/cli.h"

/* Sets up terminal, colour, width, jobs, progress and the output file from the parsed options. */
bool output_open(struct cli *c);
/* Ends the pager, checks stdout, puts the -o file in place (or drops it when `keep` is false).
 * Returns the exit status; fills c->error on failure. */
int output_close(struct cli *c, int status, bool keep);
/* Columns of a terminal; 0: not a terminal. */
unsigned output_width(int fd);
/* Text goes through $PAGER when c->out is a terminal; `line` is where it opens (0: top). No-op
 * otherwise. */
void output_page(struct cli *c, unsigned line);
/* Prints the warnings of a text answer that were not printed yet. */
void output_warnings(struct cli *c);
/* One error on stderr, as text or as incore.error/1. */
void output_error(const struct incore_error *e, bool as_json);
#define SIGNAL_STATUS 128
#define INTERRUPTED_STATUS 130

/* Signals as a request asks for them. */
extern const struct signal_watch output_watch;

/* Installs the handlers: SIGINT exits with 130, SIGTERM and SIGHUP end the program as usual, all
 * without leaving unfinished files behind; SIGPIPE and SIGXFSZ are ignored: the write fails. */
void output_signals(void);
/* From here on standard output remembers why a write failed. */
void output_stdout(void);
