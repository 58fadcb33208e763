/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures.h: captures that stay open while several questions are asked about them. Where many are
 * asked, each capture is read once with all tables; an answer then says the same as for a trace
 * that has only the tables it wants.
 * Owner: captures_init() .. captures_deinit(). Threads: any may read; lending waits for nobody.
 */
#pragma once

#include <pthread.h>

#include "analysis/waves/causes.h"
#include "base/vec.h"
#include "import/capture_cache.h"
#include "trace/lend.h"

struct open_capture {
	char *key; /* its path, and how it was read */
	unsigned want;
	struct trace *trace;
};

struct lent_capture {
	const char *key; /* of an open_capture */
	struct lent_columns columns;
};

struct capture_shares { /* valid while the file has not changed */
	struct stat st;
	uint32_t part;
	double of_family[FAMILY_COUNT];
	double per_execution; /* latency of one execution */
};

struct captures {
	pthread_mutex_t lock; /* protects all that follows */
	struct capture_cache cache;
	unsigned always; /* enum import_want: tables that every read includes */
	VEC(struct open_capture) open;
	VEC(struct capture_shares) shares;
	VEC(struct lent_capture *) lent; /* each its own block: traces point into it */
};

void captures_init(struct captures *k);
void captures_deinit(struct captures *k);
/* Sets whether links that lead out of a capture are followed. A change forgets what was read.
 * Call it only while no question is being asked. */
void captures_follow_links(struct captures *k, bool follow);
/* From now on, what is searched or read below path must lie inside it (file_fence.h), and links
 * that lead out of a capture are not followed. */
bool captures_fence(struct captures *k, const char *path, struct incore_error *e);
/* Fences a path that a user names, unless links are followed: what lies in it and, if it is a
 * capture, what lies beside it. The path itself may be a link. */
bool captures_fence_named(struct captures *k, const char *path, struct incore_error *e);
/* captures_fence_named() for a further path, if the first ones were fenced that way. */
bool captures_named(struct captures *k, const char *path, struct incore_error *e);
/* Removes all fences; no capture may be read meanwhile. */
void captures_unfence(struct captures *k);
/* Refuses every path outside the fences, whoever names it. */
void captures_fence_all(struct captures *k);
/* For callers that pass the cache to import_*() themselves. */
void captures_lock(struct captures *k);
void captures_unlock(struct captures *k);
/* As import_find() and captures_rank(). */
bool captures_find(
	struct captures *k, const char *path, struct capture_list *out, struct incore_error *e);
uint32_t captures_choose(struct captures *k, struct capture_list *l, struct capture_choice choice,
	const struct capture **out);
/* The trace of a capture with at least the wanted tables. The caller frees its reference with
 * trace_free(). */
bool captures_read(struct captures *k, const struct capture *c, const struct import_options *o,
	struct trace **out, struct incore_error *e);
/* From now on questions take the slices of t, which was read here, from the columns x. The columns
 * must live until the last question has ended. */
void captures_lend(
	struct captures *k, const struct trace *t, const struct columns *x, int64_t origin_cyc);
/* What summary_repeat() said about the capture at a path. Repeats are not kept open, but every
 * question about a capture beside them needs this. False: unknown; the caller completes *x and
 * passes it to captures_keep_shares(). */
bool captures_shares(struct captures *k, const char *path, struct capture_shares *x);
void captures_keep_shares(struct captures *k, const struct capture_shares *x);
