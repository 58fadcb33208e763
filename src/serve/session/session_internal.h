/* SPDX-License-Identifier: Apache-2.0 */
/* session_internal.h: private to the session's files. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "answer/captures.h"
#include "serve/session/session.h"

enum capture_state { CAPTURE_LOADING, CAPTURE_READY, CAPTURE_FAILED };

struct session_capture {
	char *path;
	enum capture_state state; /* protected by the session's lock */
	struct incore_error error;
	struct strbuf failure; /* the error as text, with its causes */
	struct trace *trace; /* set before the capture is ready: gives meta while slices are read */
	struct columns columns;
	struct columns narrow; /* of session_narrow() */
	struct view view;
	pthread_mutex_t build_lock; /* one view_need() at a time */
	pthread_rwlock_t diff_lock; /* read: answers of a comparison; write: changing its base */
};

struct session {
	unsigned n;
	struct session_capture *v;
	struct captures captures;
	struct request reading; /* options to open captures with */
	struct pool *ask_pool;	/* for questions: the other one is busy while captures are read */
	unsigned n_warned;	/* protected by verb_lock */
	struct progress *progress;
	bool no_cache;
	char *salt;
	pthread_t thread;
	bool is_started;
	atomic_bool own_stop, *stop; /* stop: own_stop, or that of session_options */
	pthread_mutex_t lock;	     /* states, progress */
	pthread_cond_t news;
	uint64_t n_news;
	struct session_progress now;
	uint64_t stage_ns;	   /* when the stage began */
	const char *reading_words; /* this and the next: of session_options */
	bool (*report)(struct session *s, const struct query *q, struct strbuf *out,
		struct incore_error *e);
	pthread_mutex_t report_lock; /* one report at a time */
	pthread_mutex_t verb_lock;   /* verbs use all threads: one at a time */
	pthread_mutex_t kept_lock;   /* never held for long: cached answers need not wait */
	struct session_kept *kept;   /* answers of verbs, by question; protected by kept_lock */
	size_t kept_bytes;
};

/* ask.c */
bool session_verb(struct session *s, const struct query *q, struct str target, struct strbuf *out,
	struct incore_error *e);
void session_forget(struct session *s);
/* The capture that `key` of a query names; NULL with *e filled. */
struct session_capture *session_capture(
	struct session *s, const struct query *q, const char *key, struct incore_error *e);
/* Like session_capture(), but fails unless the capture is ready. */
struct session_capture *session_ready(
	struct session *s, const struct query *q, const char *key, struct incore_error *e);
