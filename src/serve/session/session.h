/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: the captures that one viewer shows, and all answers about them. A thread of the
 * session reads the captures; questions that need slices fail as "loading" until these are read.
 * Data never changes after that. Owner: session_new() .. session_free(), which stops the reading.
 * Threads: any number may call session_answer().
 */
#pragma once

#include <stdatomic.h>

#include "answer/answer.h"
#include "serve/view/view.h"

struct query;
struct session;

struct session_options {
	unsigned n;
	const char *const *paths; /* as the user gave them */
	/* Which capture of a path, how to read it, which pool; its texts must outlive the
	 * session. */
	const struct request *reading;
	bool no_cache;
	const char *salt; /* part of the cache key: options that change what is read; or NULL */
	const struct colors *colors; /* the user's own, or NULL; must outlive the session */
	/* Options that decide how captures are read, as words of a command, and who writes the
	 * report of the captures that a query names; NULL: no reports are made. The words must
	 * outlive the session. */
	const char *reading_words;
	bool (*report)(struct session *s, const struct query *q, struct strbuf *out,
		struct incore_error *e);
	/* Cancels long work when set, also by session_stop(); NULL: the session uses its own flag.
	 * Must outlive the session. */
	atomic_bool *stop;
};

struct reply {
	unsigned status; /* of HTTP */
	const char *media_type;
	bool is_immutable; /* the same question will always have this answer */
	struct strbuf body;
	struct incore_error error; /* why status is not 200; the receiver clears it */
};

struct session_progress {
	const char *stage; /* static text */
	uint64_t done, total;
	double eta_s;	 /* negative: unknown */
	unsigned n_read; /* number of captures, from the first on, that are read or failed */
	bool is_done;	 /* all captures are read, or failed */
};

struct session *session_new(const struct session_options *o, struct incore_error *e);
/* Is there a capture at every path? */
bool session_find(struct session *s, struct incore_error *e);
/* Starts reading in the background; false if no thread can be started. */
bool session_start(struct session *s, struct incore_error *e);
/* Reads all captures in the caller's thread. */
void session_load(struct session *s);
/* Cancels long work; any thread may call it. */
void session_stop(struct session *s);
void session_free(struct session *s);

/* Answers "/api/1/..." (not progress). Never fails: errors are answers. The caller owns the
 * body. */
void session_answer(struct session *s, struct str target, struct reply *r);
/* Makes an error the reply. */
void reply_error(struct reply *r, const struct incore_error *e);
/* Waits at most `ms` for news after *seen (a counter, 0 at first). */
struct session_progress session_wait(struct session *s, uint64_t *seen, unsigned ms);
/* The view of a ready capture with the parts of `needs` built, or NULL with *e filled. For one
 * thread, after session_load(). */
struct view *session_view(
	struct session *s, unsigned capture, unsigned needs, struct incore_error *e);
/* The trace of a capture, or NULL; for one thread, after session_load(). */
const struct trace *session_trace(const struct session *s, unsigned capture);
/* Turns the notes of all captures that were read into warnings of an answer; as session_trace(). */
void session_notes(const struct session *s, struct answer *a);
/* Asks a question without options about a capture, and the next one if it takes two; the answer is
 * the one that is shown to people. Free it with answer_deinit(), also after a failure. */
bool session_ask(struct session *s, const char *question, unsigned capture, struct answer *out,
	struct incore_error *e);
/* Does the question take k=ID, that is, can it be limited to one kernel? */
bool session_asks_kernel(const char *question);
/* Number of answers with warnings. */
unsigned session_warned(const struct session *s);
/* Number of unreadable tracks of all ready captures. */
uint64_t session_unread(struct session *s);
/* Shows only these columns of a capture from now on; takes ownership of them. */
void session_narrow(struct session *s, unsigned capture, struct columns *columns);
/* Moves the error of the first unreadable capture to *e; false: all were read. For one thread,
 * after session_load(). */
bool session_failure(struct session *s, struct incore_error *e);
