/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h: the description of a question, which is a verb: what it takes, what it answers, and
 * who may ask it; every front end is made from the table of them. And a request: a question with
 * all that belongs to it: which captures, which part of them, the question's own parameters, and
 * the resources to use. The command line, the viewer's server, the report and the library each make
 * one.
 *
 * Owner: the maker; request_deinit(). Paths and strings are borrowed and must outlive it.
 */
#pragma once

#include <stdio.h>

#include "answer/option.h"
#include "base/pool.h"
#include "base/progress.h"

struct answer;
struct arena;
struct captures;
struct page;
struct record;
struct request;
struct terminal;

enum option_group {	 /* options that several questions share (request.c holds their tables) */
	OPTIONS_CSV = 2, /* not of a request: the page is a table, which may be CSV */
	OPTIONS_SELECT = 4,    /* --se --cu --simd --slot --wave --from --to --kernel, ... */
	OPTIONS_TOP = 8,       /* --top N|all */
	OPTIONS_CAPTURE = 16,  /* --agent --dispatch --code ...: which capture, how read */
	OPTIONS_CSV_ROWS = 32, /* as OPTIONS_CSV, but the asker names the columns of the rows */
};

struct question {
	/* The verb, "hot" or "dump ls"; the schema is incore.<first word>/1. */
	const char *name;
	const char *summary; /* one line */
	const char *args;    /* "PATH", "A B", ... */
	unsigned min_paths, max_paths;
	unsigned groups;		  /* enum option_group */
	unsigned reach;			  /* enum reach: who may ask besides terminal, library */
	const struct option_def *options; /* its own, stored in the params struct; may be NULL */
	size_t params_size;
	/* Records the data may have, the usual first; NULL ends. An answer says which it has. NULL
	 * itself: a file of schemas/ describes them, with what the verb serves. */
	const struct record *const *records;
	/* Records that "input" of its JSON may have; NULL: those of captures. */
	const struct record *const *inputs;
	/* Lists that a face of tables calls by the name of the question, as "rows|groups"; NULL: the
	 * single values of the answer have that name. */
	const char *main_lists;
	bool (*ask)(const struct request *r, struct answer *a, struct incore_error *e);
	void (*page)(const struct answer *a, struct page *p); /* lays the answer out for people */
};

extern const struct question *const question_table[]; /* verbs/table.c; NULL ends */
/* Where blanks are no good, a name may have underscores instead: "dump_ls". */
const struct question *question_find(const char *name);
/* A name with underscores instead of blanks, in buf. */
const char *question_word(const char *name, char *buf, size_t size);
/* Does it write the file or folder of -o itself? Otherwise its answer goes there. */
bool question_writes_output(const struct question *q);
/* The question, if callers of that kind (enum reach) may ask it; NULL otherwise. */
const struct question *question_for(const char *name, unsigned reach);

#define NO_KERNEL_ID UINT64_MAX

/* Signals that end the program, for verbs that must tidy up or that run a user's program. */
struct signal_watch {
	/* From here on the first SIGINT is only noted; SIGTERM and SIGHUP too, if a user's program
	 * runs. */
	void (*hold)(bool runs_program);
	bool (*is_held)(void *unused); /* has one come? */
	int (*first)(void *unused);    /* the first that came; 0: none */
};

#define REQUEST_LEVELS 8 /* se cu simd slot wave core unit pipe */

struct request {
	const struct question *question;
	const char *const *paths;
	unsigned n_paths;
	const void *params; /* the question's own, as its table says; made by request_init() */
	uint64_t given; /* which of its own options were given: bit i for entry i of the table */
	/* Which part: sets as text, since their meaning depends on the levels of a capture. */
	const char *level[REQUEST_LEVELS];
	const char *kernel;  /* regular expression over names; NULL: all */
	uint64_t kernel_id;  /* or the one kernel of this number; NO_KERNEL_ID: all */
	uint64_t from, to;   /* NO_COUNT: open */
	const char *to_name; /* name of `to` in messages to the asker */
	uint64_t top;	     /* rows to give; see request_top() */
	/* Which capture, and how to read it. */
	uint64_t agent, dispatch, clock_mhz; /* NO_COUNT: not given */
	const char *soc;
	unsigned decoder_compat;       /* NO_CHOICE: the correct rules */
	bool markers;		       /* read the markers instead of the waves */
	const char *code;	       /* file to use instead of code.json; NULL: none */
	struct text_list source_roots; /* "OLD=NEW" */
	bool follow_links;	       /* for captures_follow_links() */
	/* Resources. */
	struct captures *captures; /* reads captures and keeps them open */
	struct pool *pool;
	struct progress *progress;
	bool is_for_people; /* for a screen: fewer rows by default */
	bool is_csv;	    /* for a program that reads CSV */
	bool is_strict;	    /* nothing may be lost: see answer_may_write() */
	/* Where a product goes for which no file is named, see answer.is_streamed; NULL: nowhere. */
	FILE *out;
	int echo_fd; /* also receives what programs print that a verb runs; 0: nothing does */
	const struct signal_watch *signals; /* NULL: nobody sends any (library) */
	/* Called with a line about each part of long work that is done, one call at a time. A verb
	 * with a state to show passes it, also without a line, and NULL in the end. */
	void (*tell)(void *ctx, const char *line, const void *state);
	void *tell_ctx;
	const struct terminal *terminal; /* verbs/terminal.h; NULL: another face asks */
	/* The words of the command line after the verb, for what records how it was made; NULL ends,
	 * and NULL itself stands for none. */
	const char *const *words;
};

extern const struct option_def request_select_options[], request_top_options[],
	request_capture_options[];
extern const char *const request_level_names[REQUEST_LEVELS];

/* Sets all fields to their defaults. May fail: memory. */
bool request_init(struct request *r, const struct question *q, struct incore_error *e);
void request_deinit(struct request *r);
/* Copies from another request which capture to read and how. May fail: memory. */
bool request_read_as(struct request *r, const struct request *like, struct incore_error *e);
/* The option of that name that the question takes, its own options first; NULL: none. */
const struct option_def *request_option(const struct question *q, const char *name);
/* Checks and stores one option; the value of a flag may be NULL. False with status USAGE. */
bool request_set(struct request *r, const char *name, const char *value, struct incore_error *e);
/* Sets options from a JSON object with their long names as keys (NULL: none); strings go to the
 * arena. False with status USAGE if something in it is wrong. */
bool request_set_json(
	struct request *r, const char *options, struct arena *a, struct incore_error *e);
/* Append " --name value" for each option that is not at its default, as words for a shell: the
 * question's own that were given, except the one stored in a field; those that decide how captures
 * are read. */
void request_put_own(const struct request *r, const void *except, struct strbuf *out);
void request_put_reading(const struct request *r, struct strbuf *out);
/* Was the question's own option given that is stored in this field of r->params? Otherwise its
 * value is the default. */
bool request_given(const struct request *r, const void *field);
/* Should long work end? Given as a callback, with the request as ctx. */
bool request_is_cancelled(void *request);
/* Number of rows to give: as requested, else the default for people or for programs. */
uint64_t request_top(const struct request *r, uint64_t people, uint64_t programs);
