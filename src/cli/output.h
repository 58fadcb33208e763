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
/* Columns of a terminal; 0: it is none. */
unsigned output_width(int fd);
/* Warnings of a text answer. */
void output_warnings(const struct cli *c);
/* One error on stderr, as text or as incore.error/1. */
void output_error(const struct incore_error *e, bool as_json);
/* For work that leaves directories: from here on the first SIGINT only makes output_interrupted()
 * true, so that what was begun can be taken back; the second ends the program. */
void output_finish_on_interrupt(void);
/* The same of SIGTERM and SIGHUP, for verbs that run somebody else's program: it gets the signal,
 * and we end when it has. */
void output_finish_on_signals(void);
bool output_interrupted(void *unused);
int output_signal(void *unused); /* the first that came; 0: none */
#define SIGNAL_STATUS 128
#define INTERRUPTED_STATUS 130

/* SIGINT ends with 130, SIGTERM and SIGHUP end as ever, all without leaving anything unfinished
 * behind; SIGPIPE is ignored, and so is SIGXFSZ: the write fails. */
void output_signals(void);
/* From here on standard output remembers why a write failed. */
void output_stdout(void);
