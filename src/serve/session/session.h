/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: the captures that one viewer shows, and any answer about them. Captures are read by a
 * thread of the session's own; what needs slices is refused as "loading" until they are there.
 * Data never changes after that. Owner: session_new() .. session_free(), which stops the reading.
 * Threads: session_answer() from any number of them.
 */
#pragma once

#include <stdatomic.h>

#include "answer/answer.h"
#include "serve/view/view.h"

struct session;

struct session_options {
	unsigned n;
	const char *const *paths; /* as the user gave them */
	/* Which capture of a path, how read, with which pool; its texts must outlive the session. */
	const struct request *reading;
	bool no_cache;
	const char *salt;	     /* of the cache: options that change what is read; or NULL */
	const struct colors *colors; /* the user's own, or NULL; must outlive the session */
	/* Options that decide how captures are read, as words of a command; NULL: no report is made of
	 * them. Must outlive the session. */
	const char *reading_words;
	/* Ends what takes long when somebody sets it, session_stop() too; NULL: the session has its
	 * own. Must outlive the session. */
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
	unsigned n_read; /* captures that can be asked about, or failed: the first so many */
	bool is_done;	 /* all captures are read, or failed */
};

struct session *session_new(const struct session_options *o, struct incore_error *e);
/* Is there a capture at every path? */
bool session_find(struct session *s, struct incore_error *e);
/* Starts reading in the background; false where no thread can be had. */
bool session_start(struct session *s, struct incore_error *e);
/* Reads all captures in the caller's thread. */
void session_load(struct session *s);
/* Ends what takes long, unfinished; any thread may call it. */
void session_stop(struct session *s);
void session_free(struct session *s);

/* Answers "/api/1/..." (not progress). Never fails: errors are answers. The body is the caller's.
 */
void session_answer(struct session *s, struct str target, struct reply *r);
/* The error as an answer. */
void reply_error(struct reply *r, const struct incore_error *e);
/* Waits at most `ms` for news after *seen (a counter, 0 at first). */
struct session_progress session_wait(struct session *s, uint64_t *seen, unsigned ms);
/* A ready capture, or NULL; with what `needs` asks for built. For one thread, after session_load().
 */
struct view *session_view(
	struct session *s, unsigned capture, unsigned needs, struct incore_error *e);
/* The trace of a capture, or NULL; for one thread, after session_load(). */
const struct trace *session_trace(const struct session *s, unsigned capture);
/* The answer itself of a question without options about a capture, and about the next for a second,
 * as people read it; answer_deinit(), also after a failure. */
bool session_ask(struct session *s, const char *question, unsigned capture, struct answer *out,
	struct incore_error *e);
/* Does the question take k=ID: is it asked of one kernel, too? */
bool session_asks_kernel(const char *question);
/* Answers of questions that came with warnings. */
unsigned session_warned(const struct session *s);
/* Tracks of all ready captures that could not be read. */
uint64_t session_unread(struct session *s);
/* Shows only these columns of it from now on (taken over). */
void session_narrow(struct session *s, unsigned capture, struct columns *columns);
/* Moves the error of the first capture that could not be read to *e; false: all were. For one
 * thread, after session_load(). */
bool session_failure(struct session *s, struct incore_error *e);
