/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h: a verb that is a question: the command line becomes a request, the answer is printed as
 * JSON or drawn. Owner: the caller of cli_ask(); cli_answered() frees.
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "answer/answer.h"
#include "answer/captures.h"
#include "cli/cli.h"

struct asked {
	struct request request;
	struct answer answer;
	struct captures captures;
	struct question shape; /* of a verb that is no question: the options it shares with those */
};

/* Asks c->verb's question; warnings and losses are c's afterwards. False: c->error says why. */
bool cli_ask(struct cli *c, struct asked *out);
void cli_answered(struct asked *x);
/* Asks, prints JSON or calls draw() for text and CSV, frees; the exit status. */
int cli_run_question(struct cli *c, bool (*draw)(struct cli *c, const struct answer *a));
/* For verbs that are no question: a request with what the command line says of captures and
 * selection, and an answer that holds what is opened. The caller frees with cli_answered(), also
 * after a failure; *out may not move. */
bool cli_begin(struct cli *c, struct asked *out);
/* Opens the capture of a path, which x keeps; its notes become c's warnings. */
bool cli_open(struct cli *c, struct asked *x, const char *path, unsigned want, struct trace **out);
/* Warnings and losses of the answer are c's from now on, and no longer its own. */
void cli_move_warnings(struct cli *c, struct answer *a);

#endif
