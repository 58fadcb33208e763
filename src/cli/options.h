/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h: one option table per verb; the parser, --help, the completions and the man page check
 * all read it. Owner: options_parse() fills c->options, c->request and c->args, options_free() frees
 * them. Values are borrowed from argv.
 */
#pragma once

#include "cli/cli.h"

#define OPTIONS_MAX 64 /* per verb, groups included */

struct option_list {
	unsigned n;
	const struct option_def *def[OPTIONS_MAX];
	const char *group[OPTIONS_MAX]; /* heading of its section in --help */
	bool is_program[OPTIONS_MAX];	/* stored in struct cli_options, not in the request */
};

/* All options of a verb: its own, then those of its groups. */
void options_of(const struct verb *v, struct option_list *out);

const struct verb *verb_find(const char *name);
/* Finds the subcommand of a verb by its last word ("ls" of "dump": "dump ls"); NULL: none. */
const struct verb *verb_find_sub(const struct verb *v, const char *name);
const char *verb_last_word(const struct verb *v);
#define USAGE_SIZE 160
/* "incore hot [options] PATH", made in buf. */
const char *verb_usage(const struct verb *v, char buf[USAGE_SIZE]);

/* The known word nearest to `name`, or NULL if none is near. next() returns word i, or NULL at the
 * end. */
typedef const char *(*word_fn)(const void *ctx, unsigned i);
const char *nearest_word(const char *name, word_fn next, const void *ctx);
const char *nearest_verb(const char *name);
const char *nearest_sub(const struct verb *v, const char *name);

/* Reads argv (after the verb) into *c. *wants_help: "text", "json" or NULL. */
bool options_parse(struct cli *c, int argc, char **argv, const char **wants_help);
void options_free(struct cli *c);

/* help.c: false when the output fails. */
void help_main(FILE *out);
void help_verb(FILE *out, const struct verb *v);
void help_json(FILE *out, const struct verb *only);

/* about/version.c: returns the exit status. */
int version_print(FILE *out, bool as_json);
/* about/man_page.c: false without a page of that name ("hot", "incore-hot", "incore-hot.1"). */
bool man_print(FILE *out, const char *page);
/* completion.c: false when the shell is not one of bash, zsh, fish. */
bool completion_print(FILE *out, const char *shell);
