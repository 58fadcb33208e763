/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h: a verb that is a question: the command line becomes a request, the answer is printed as
 * JSON or drawn. Owner: the caller of cli_begin(); cli_answered() frees.
 */
#pragma once

#include "answer/answer.h"
#include "answer/captures.h"
#include "cli/cli.h"
#include "serve/session/session.h"

struct asked {
	struct request request;
	struct answer answer;
	struct captures captures;
	struct question shape; /* of a verb that is no question: the options it shares with those */
};

/* Asks c->verb's question, prints JSON or draws text or CSV. */
bool cli_run_question(struct cli *c);
void cli_answered(struct asked *x);
/* For verbs that are no question: a request with what the command line says of captures and
 * selection, and an answer that holds what is opened. The caller frees with cli_answered(), also
 * after a failure; *out may not move. */
bool cli_begin(struct cli *c, struct asked *out);
/* Opens the capture of a path, which x keeps; its notes become c's warnings. */
bool cli_open(struct cli *c, struct asked *x, const char *path, unsigned want, struct trace **out);
/* All notes of the captures that a session has read become c's warnings. */
void cli_session_notes(struct cli *c, const struct session *s);
/* Says that so many of its tracks could not be read; nothing for 0. */
void cli_warn_unread(struct cli *c, uint64_t n);
/* Warnings and losses of the answer are c's from now on, and no longer its own. */
void cli_move_warnings(struct cli *c, struct answer *a);
