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
};

/* Asks c->verb's question; warnings and losses are c's afterwards. False: c->error says why. */
bool cli_ask(struct cli *c, struct asked *out);
void cli_answered(struct asked *x);
/* Asks, prints JSON or calls draw() for text and CSV, frees; the exit status. */
int cli_run_question(struct cli *c, bool (*draw)(struct cli *c, const struct answer *a));
/* A request with what the command line says of captures and selection, for verbs that are no
 * question. The captures are the caller's. */
bool cli_request(struct cli *c, const struct question *q, struct captures *k, struct request *out);

#endif
