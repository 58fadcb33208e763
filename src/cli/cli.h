/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h: what every verb has in common. A question is a line in verbs.c; another verb is one file
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

/* Help of an option that is a second name of another: OPTION_SAME "dump". */
#define OPTION_SAME "the same as --"
/* The help of an option that --help names without a line of its own: its man page warns. */
#define OPTION_RISK "at your own risk: "

/* Option groups of the program itself, beside those of answer/request.h. */
enum cli_option_group {
	OPTIONS_OUTPUT = 1,    /* --json -o --color -q -v --progress --strict -j --explain */
	OPTIONS_CSV = 2,       /* --csv */
	OPTIONS_OWN_FILE = 32, /* no options: the verb itself writes the file that -o names, c->out
				  stays stdout */
	VERB_SERVES = 64,      /* no options: its answers say by themselves that a file changed */
};

struct cli;

/* Of every verb that runs a kernel's code. */
#define UNSAFE_OPTION                                                                              \
	{                                                                                          \
		0, "unsafe-native", OPTION_FLAG, NULL, NULL, NULL,                                 \
			OPTION_RISK "no walls around a kernel and its compiler"                    \
	}

/* Of every verb that opens a dump; captures have it in request_capture_options. */
#define LINKS_OPTION                                                                               \
	{                                                                                          \
		0, "follow-links", OPTION_FLAG, NULL, NULL, NULL,                                  \
			OPTION_RISK "links that lead out of the dump are followed"                 \
	}

struct verb {
	const char *name;
	/* What it asks; args, summary, options and the like are then the question's. NULL: none. */
	const struct question *question;
	const char *args;		  /* "PATH", "A B", ...; NULL: none */
	const char *summary;		  /* one line */
	unsigned groups;		  /* enum option_group, enum cli_option_group */
	const struct option_def *options; /* own ones; ends with name NULL; may be NULL */
	unsigned min_args, max_args;
	/* Of a question: can what is asked for be given? Before anything is read; NULL: always. */
	bool (*check)(struct cli *c);
	/* Of a question: files besides the answer, before it is told; NULL: none. */
	bool (*also)(struct cli *c, const struct answer *a);
	/* Of the others: does it; false fills c->error. */
	bool (*run)(struct cli *c);
	/* What its JSON holds, for verbs that ask no question; NULL ends. Inputs NULL: captures. */
	const struct record *const *records, *const *inputs;
	const struct verb *const *subs; /* what comes next: "dump ls", ...; NULL ends. Its options
					   are all of theirs, and run is NULL */
	const struct verb
		*otherwise; /* the one of subs that is meant where none is named; NULL: none */
};

extern const struct verb *const verb_table[]; /* verbs.c; NULL ends */
const char *verb_args(const struct verb *v);
const char *verb_purpose(const struct verb *v);

struct cli {
	const struct verb *verb;
	unsigned n_args;
	const char **args;
	const char *const *words; /* all that was given behind the verb; NULL ends */
	struct incore_error error;
	struct pool *pool;
	struct progress *progress;
	FILE *out; /* where the answer goes: stdout or the -o file, maybe a pager */
	bool use_json, use_csv, use_color, is_terminal;
	bool is_no;	/* the answer is negative: exit status 1 */
	int app_status; /* of a failure: what somebody else's program ended with; 0: nothing */
	unsigned width; /* columns to cut text tables to; 0: never cut (pipes, files) */
	struct strbuf
		warnings; /* private: kept for the JSON envelope and printed to stderr for text */
	uint32_t n_warnings;
	uint32_t n_notes;  /* notes told so far, mere information left out */
	uint64_t n_waves;  /* cycles in tables are of the mean of so many; 0: of all together */
	uint32_t n_losses; /* notes that mean loss: with --strict the exit status becomes 4 */
	void *private;	   /* options.c */
};

/* --- options, by long name --- */
bool cli_has(const struct cli *c, const char *name); /* given on the command line */
bool cli_flag(const struct cli *c, const char *name);
const char *cli_text(
	const struct cli *c, const char *name);		   /* value, else the default, else NULL */
uint64_t cli_count(const struct cli *c, const char *name); /* value, else the default, else 0 */
unsigned cli_many(const struct cli *c, const char *name);  /* how often given */
const char *cli_many_at(const struct cli *c, const char *name, unsigned i);
uint64_t cli_top(const struct cli *c); /* --top; UINT64_MAX for "all" */

void cli_warn(struct cli *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* --- output --- */
/* Opens the envelope up to and including the key "data" (the verb then writes one value); w writes
 * to c->out. */
void cli_json_begin(
	struct cli *c, struct json_writer *w, const struct trace *const *traces, size_t n_traces);
/* The same up to the key "input", for verbs whose input is no trace. */
void cli_json_head(struct cli *c, struct json_writer *w);
/* The whole of it: the input and the data, each of its record. */
bool cli_json(struct cli *c, const struct record *input, const void *in, const struct record *data,
	const void *value);
/* The same of verbs whose input is captures. */
bool cli_json_captures(struct cli *c, const struct trace *const *traces, size_t n_traces,
	const struct record *data, const void *value);
/* Writes warnings and closes the envelope. */
bool cli_json_end(struct cli *c, struct json_writer *w);
/* Text goes through $PAGER when c->out is a terminal; `line` is where it opens (0: top). No-op
 * otherwise. */
void cli_page(struct cli *c, unsigned line);
