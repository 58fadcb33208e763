/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h: verbs that are questions: the command line becomes a request, and the answer is printed as
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
	struct question shape; /* for other verbs: the options that they share with questions */
};

/* Asks c->verb's question, prints JSON or draws text or CSV. */
bool cli_run_question(struct cli *c);
void cli_answered(struct asked *x);
/* For verbs that are not questions: makes a request with the captures and the selection of the
 * command line, and an answer that holds what is opened. The caller frees with cli_answered(), even
 * after a failure; *out must not move. */
bool cli_begin(struct cli *c, struct asked *out);
/* Opens the capture at a path and keeps it in x; its notes become warnings of c. */
bool cli_open(struct cli *c, struct asked *x, const char *path, unsigned want, struct trace **out);
/* Turns all notes of the captures that a session has read into warnings of c. */
void cli_session_notes(struct cli *c, const struct session *s);
/* Warns that n tracks could not be read; nothing for 0. */
void cli_warn_unread(struct cli *c, uint64_t n);
/* Moves the warnings and losses of the answer to c. */
void cli_move_warnings(struct cli *c, struct answer *a);
