/* SPDX-License-Identifier: Apache-2.0 */
/*
 * captures.h: captures that were read and stay open while questions are asked of them. Where many
 * are asked each is read once, with all tables: an answer then says what it would say of a trace
 * with the tables that it wants.
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

struct capture_shares { /* of a file that did not change since */
	struct stat st;
	uint32_t part;
	double of_family[FAMILY_COUNT];
};

struct captures {
	pthread_mutex_t lock; /* of all that follows */
	struct capture_cache cache;
	unsigned always; /* enum import_want: tables that are read whatever is asked */
	VEC(struct open_capture) open;
	VEC(struct capture_shares) shares;
	VEC(struct lent_capture *) lent; /* each its own block: traces point into it */
};

void captures_init(struct captures *k);
void captures_deinit(struct captures *k);
/* Are links that lead out of a capture followed from now on? What was read otherwise is forgotten.
 * While nobody asks. */
void captures_follow_links(struct captures *k, bool follow);
/* From now on nothing that is looked for or read below path lies outside of it (file_fence.h), and links
 * that lead out of a capture are not followed. */
bool captures_fence(struct captures *k, const char *path, struct incore_error *e);
/* The same of a path that a user names, unless links are followed: of what lies in it, and of what lies
 * beside it where it is a capture. It may itself be a link. */
bool captures_fence_named(struct captures *k, const char *path, struct incore_error *e);
/* That of a further path, where the first ones are fenced so. */
bool captures_named(struct captures *k, const char *path, struct incore_error *e);
/* Nothing is fenced any more; none of its captures may be read meanwhile. */
void captures_unfence(struct captures *k);
/* Nothing but what lies there is looked at, whatever is asked. */
void captures_fence_all(struct captures *k);
/* For those who give the cache to import_*() themselves. */
void captures_lock(struct captures *k);
void captures_unlock(struct captures *k);
/* As import_find() and captures_rank(). */
bool captures_find(
	struct captures *k, const char *path, struct capture_list *out, struct incore_error *e);
uint32_t captures_choose(struct captures *k, struct capture_list *l, struct capture_choice choice,
	const struct capture **out);
/* The trace of a capture with at least the wanted tables; the caller's reference (trace_free()). */
bool captures_read(struct captures *k, const struct capture *c, const struct import_options *o,
	struct trace **out, struct incore_error *e);
/* The slices of t, which was read here, stand in columns now: questions take them from there. The
 * columns must be there until the last question has ended. */
void captures_lend(
	struct captures *k, const struct trace *t, const struct columns *x, int64_t origin_cyc);
/* What summary_repeat() said of the capture at a path: repeats are not kept open, but each question
 * about a capture beside them needs it. False: not known; *x is to be completed and kept. */
bool captures_shares(struct captures *k, const char *path, struct capture_shares *x);
void captures_keep_shares(struct captures *k, const struct capture_shares *x);
