/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h: what the program's own terminal offers a question: input, and answers that are shown
 * while the question goes on. Questions that need it are asked by nobody else, so they are not in
 * question_table. Owner: the asker; it outlives the request.
 */
#pragma once

#include "answer/answer.h"

/* Reads the lines that a person types. */
struct line_editor {
	/* Begins; word() returns the words that completion offers, and NULL after the last. */
	void (*open)(const char *(*word)(const void *ctx, size_t i), const void *ctx);
	/* The next line without its newline, to be freed with free(); NULL: end of input. */
	char *(*line)(const char *prompt);
	void (*remember)(const char *statement); /* adds to the history */
	void (*close)(void);			 /* keeps the history */
};

struct terminal {
	FILE *in;
	const struct line_editor *editor; /* NULL: nobody types, in is a file or pipe */
	bool is_screen;			  /* a person sees what goes to request.out */
	/* Shows the answer as it is now, with its new warnings. False with *e filled: stop. */
	bool (*show)(void *ctx, const struct answer *a, struct incore_error *e);
	/* Reports an error after which the question goes on; from any thread. */
	void (*report)(void *ctx, const struct incore_error *e);
	void *ctx;
};
