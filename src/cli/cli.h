/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h: the program. A verb is a question, a line in verbs.c: the command line becomes its request
 * and options of the program, and its answer becomes text, CSV or JSON. No logic lives here.
 */
#pragma once

#include <stdio.h>

#include "answer/captures.h"
#include "base/vec.h"
#include "verbs/terminal.h"

struct cli;

struct verb {
	const char *name;
	/* The question it asks; NULL: it has subcommands. */
	const struct question *question;
	/* Adds to a request what only this verb needs of the terminal; NULL: nothing. */
	void (*prepare)(struct cli *c, struct request *r);
	/* A verb with subcommands, whose options are all of theirs: */
	const char *args;		/* "VERB DIR", ... */
	const char *summary;		/* one line */
	const struct verb *const *subs; /* "dump ls", ...; NULL ends */
	const struct verb *otherwise;	/* the default of subs if none is named; NULL: no default */
};

/* A subcommand: SUB_VERB("dump ls", dump_ls). */
#define SUB_VERB(NAME, QUESTION)                                                                   \
	(&(const struct verb){.name = (NAME), .question = &question_##QUESTION})

extern const struct verb *const verb_table[]; /* verbs.c; NULL ends */
const char *verb_args(const struct verb *v);
const char *verb_purpose(const struct verb *v);

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum progress_choice { PROGRESS_AUTO, PROGRESS_JSON, PROGRESS_NEVER };

/* The options of the program itself, which every verb has; options.c has their tables. */
struct cli_options {
	bool json, csv, quiet, verbose, strict, explains;
	const char *output, *columns; /* NULL: not given */
	uint64_t width, jobs;	      /* NO_COUNT: not given */
	unsigned color, progress;     /* enum color_choice, enum progress_choice */
	/* The file that the verb itself makes (its own -o) is standard output. */
	bool streams_product;
};

struct cli {
	const struct verb *verb;
	struct cli_options options;
	struct request request; /* private to options.c and ask.c, as are the next three */
	VEC(const char *) args;
	struct captures captures;
	struct terminal terminal;
	struct answer answer;
	struct incore_error error;
	struct pool *pool;
	struct progress *progress;
	FILE *out; /* where the answer goes: stdout, the -o file or a pager */
	bool use_color, is_terminal;
	unsigned width; /* columns to cut text tables to; 0: never cut (pipes, files) */
	size_t n_told;	/* warnings printed so far */
};
