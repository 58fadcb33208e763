/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h: the page of a store: its answers, and pairs of captures compared from there. Captures
 * are requested by their numbers in the store, never by a path; the store is opened for each
 * question, so that captures added by others are seen.
 * Owner: board_new() .. board_free(). Threads: any number.
 */
#pragma once

#include "serve/session/session.h"

#define BOARD_PAIRS 4u /* compared at once; the least recently used one is replaced */

struct board;

struct board_options {
	const char *store;		/* must outlive the board, like the members of `reading` */
	struct session_options reading; /* of captures; its paths are ignored */
};

/* Checks that the store can be read; NULL with *e filled if not. */
struct board *board_new(const struct board_options *o, struct incore_error *e);
void board_free(struct board *b);
/* Cancels long work; any thread may call it. */
void board_stop(struct board *b);

/* Answers "/api/1/store/..." like session_answer(). */
void board_answer(struct board *b, struct str target, struct reply *r);

/* "/api/1/pair/3-7/tile?...": is it about a pair? */
bool board_is_pair(struct str target);
/* Returns the session of the pair, which may still be reading, and rewrites *target into the
 * question for it. Valid until board_give(); NULL with the error as reply. */
struct session *board_take(struct board *b, char **target, struct reply *r);
void board_give(struct board *b, struct session *s);
