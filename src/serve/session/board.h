/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h: the page of a store: its answers, and pairs of captures that are compared from there. Captures are asked for by
 * their numbers in the store, never by a path; the store is opened for each question, so that what others add is seen.
 * Owner: board_new() .. board_free(). Threads: any number of them.
 */
#pragma once

#include "serve/session/session.h"

#define BOARD_PAIRS 4u	   /* compared at once; the one not asked about for longest gives way */
#define BOARD_ROWS 1000u   /* of an answer */
#define BOARD_POINTS 1500u /* of a series */
#define BOARD_CHANGES 200u /* of a series, the newest */
#define BOARD_MOVERS 12u   /* instructions of a change */

struct board;

struct board_options {
	const char *store;		/* must outlive the board, like what the next names */
	struct session_options reading; /* of captures; its paths are not looked at */
};

/* Is there a store that can be read? NULL with *e filled where not. */
struct board *board_new(const struct board_options *o, struct incore_error *e);
void board_free(struct board *b);
/* What takes long ends soon, unfinished; from any thread. */
void board_stop(struct board *b);

/* Answers "/api/1/store/..."; as session_answer(). */
void board_answer(struct board *b, struct str target, struct reply *r);

/* "/api/1/pair/3-7/tile?...": is it about a pair? */
bool board_is_pair(struct str target);
/* The session of the pair, reading or read; *target, which is written to, becomes what it is asked. It stays until
 * board_give(); NULL with the error as answer. */
struct session *board_take(struct board *b, char **target, struct reply *r);
void board_give(struct board *b, struct session *s);
