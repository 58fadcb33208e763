/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h: what all verbs have in common. A question is a line in verbs.c; any other verb is one file
 * cmd_<verb>.c with one `const struct verb`, listed there. It reads options by name, opens traces,
 * calls one analysis, prints text, JSON or CSV. No logic lives here.
 */
#pragma once

#include <stdio.h>

#include "analysis/selection.h"
#include "analysis/walk.h"
#include "answer/answer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/str.h"
#include "codec/json_writer.h"
#include "import/import.h"
#include "trace/trace.h"

/* Option groups of the program itself, in addition to those of answer/request.h. */
enum cli_option_group {
	OPTIONS_OUTPUT = 1,    /* --json -o --color -q -v --progress --strict -j --explain */
	OPTIONS_OWN_FILE = 32, /* not options: the verb itself writes the file of -o; c->out stays
				  stdout (a question: see question_writes_output()) */
	VERB_SERVES = 64,      /* not options: its answers report changed files themselves */
};

struct cli;

struct verb {
	const char *name;
	/* The question it asks, which then has the args, summary, groups, options, ...; NULL:
	 * none. */
	const struct question *question;
	const char *args;		  /* "PATH", "A B", ...; NULL: none */
	const char *summary;		  /* one line */
	unsigned groups;		  /* enum option_group, enum cli_option_group */
	const struct option_def *options; /* own ones; ends with name NULL; may be NULL */
	unsigned min_args, max_args;
	size_t params_size; /* of the struct that its own options are stored in */
	/* Questions: adds to a request what only a terminal has; NULL: nothing. */
	void (*prepare)(struct cli *c, struct request *r);
	/* Other verbs: runs the verb; false fills c->error. */
	bool (*run)(struct cli *c);
	/* Other verbs: records of their JSON; NULL ends. Inputs NULL: captures. */
	const struct record *const *records, *const *inputs;
	const struct verb *const *subs; /* subcommands: "dump ls", ...; NULL ends. The options of
					   such a verb are all of theirs, and run is NULL */
	const struct verb *otherwise;	/* the default of subs if none is named; NULL: no default */
};

/* A subcommand that is a question: SUB_VERB("dump ls", dump_ls). */
#define SUB_VERB(NAME, QUESTION)                                                                   \
	(&(const struct verb){.name = (NAME), .question = &question_##QUESTION})

extern const struct verb *const verb_table[]; /* verbs.c; NULL ends */
unsigned verb_groups(const struct verb *v);
bool verb_writes_output(const struct verb *v); /* the file of -o is not for the answer */
const char *verb_args(const struct verb *v);
const char *verb_purpose(const struct verb *v);

struct cli {
	const struct verb *verb;
	unsigned n_args;
	const char **args;
	const char *const *words; /* everything after the verb on the command line; NULL ends */
	struct incore_error error;
	struct pool *pool;
	struct progress *progress;
	FILE *out; /* where the answer goes: stdout, the -o file or a pager */
	bool use_json, use_csv, use_color, is_terminal;
	bool is_no;	/* the answer is negative: exit status 1 */
	int app_status; /* exit status of a user's program that failed; 0: none */
	unsigned width; /* columns to cut text tables to; 0: never cut (pipes, files) */
	struct strbuf
		warnings; /* private: kept for the JSON envelope and printed to stderr for text */
	uint32_t n_warnings;
	uint32_t n_notes;  /* notes reported so far, without mere information */
	uint32_t n_losses; /* notes that mean loss: with --strict the exit status becomes 4 */
	void *private;	   /* options.c */
};

/* --- options, by long name --- */
bool cli_has(const struct cli *c, const char *name); /* given on the command line */
bool cli_flag(const struct cli *c, const char *name);
const char *cli_text(
	const struct cli *c, const char *name);		   /* value, else the default, else NULL */
uint64_t cli_count(const struct cli *c, const char *name); /* value, else the default, else 0 */
unsigned cli_many(const struct cli *c, const char *name);  /* how often it was given */
const char *cli_many_at(const struct cli *c, const char *name, unsigned i);
uint64_t cli_top(const struct cli *c); /* --top; UINT64_MAX for "all" */

void cli_warn(struct cli *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* --- output --- */
/* Opens the envelope up to and including the key "data" (the verb then writes one value); w writes
 * to c->out. */
void cli_json_begin(
	struct cli *c, struct json_writer *w, const struct trace *const *traces, size_t n_traces);
/* Opens the envelope only up to the key "input", for verbs whose input is not a trace. */
void cli_json_head(struct cli *c, struct json_writer *w);
/* Writes the whole envelope: input and data, each with its record. */
bool cli_json(struct cli *c, const struct record *input, const void *in, const struct record *data,
	const void *value);
/* Writes the whole envelope of a verb whose input is captures. */
bool cli_json_captures(struct cli *c, const struct trace *const *traces, size_t n_traces,
	const struct record *data, const void *value);
/* Writes warnings and closes the envelope. */
bool cli_json_end(struct cli *c, struct json_writer *w);
/* Text goes through $PAGER when c->out is a terminal; `line` is where it opens (0: top). No-op
 * otherwise. */
void cli_page(struct cli *c, unsigned line);
