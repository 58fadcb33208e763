/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: the captures that one viewer shows, and any answer about them. Captures are read by a
 * thread of the session's own; what needs slices is refused as "loading" until they are there.
 * Data never changes after that. Owner: session_new() .. session_free(), which stops the reading.
 * Threads: session_answer() from any number of them.
 */
#ifndef SERVE_SESSION_SESSION_H
#define SERVE_SESSION_SESSION_H

#include "base/pool.h"
#include "serve/view/view.h"

struct session;

/* What the program lends: reading captures by its options, and its verbs. */
struct session_ops {
	bool (*open)(void *ctx, unsigned capture, struct progress *progress, struct trace **out,
		struct incore_error *e);
	/* The JSON of verb q->name about a capture, and for diff about `base`, too. */
	bool (*verb)(void *ctx, unsigned capture, unsigned base, const struct query *q,
		struct strbuf *out, struct incore_error *e);
	bool (*is_verb)(const char *name);
	void *ctx;
	/* All slices of a capture are there, until the session is freed; may be NULL. */
	void (*ready)(void *ctx, unsigned capture, const struct view *v);
};

struct session_options {
	unsigned n;
	const char *const *paths; /* as the user gave them */
	const struct session_ops *ops;
	struct pool *pool;
	bool no_cache;
	const char *salt;	     /* of the cache: options that change what is read; or NULL */
	const struct colors *colors; /* the user's own, or NULL; must outlive the session */
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
/* Starts reading in the background; false where no thread can be had. */
bool session_start(struct session *s, struct incore_error *e);
/* Reads all captures in the caller's thread. */
void session_load(struct session *s);
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
/* Tracks of all ready captures that could not be read. */
uint64_t session_unread(struct session *s);
/* Shows only these columns of it from now on (taken over). */
void session_narrow(struct session *s, unsigned capture, struct columns *columns);
/* Moves the error of the first capture that could not be read to *e; false: all were. For one
 * thread, after session_load(). */
bool session_failure(struct session *s, struct incore_error *e);

#endif
