/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_answer.h: a verb's JSON into memory, for a server and a report: the same code, the same
 * bytes. Captures are read once and kept, by what a verb wants of them.
 * Owner: verb_answers_init() .. verb_answers_deinit(). Threads: reading is guarded; verb_answer()
 * is called by one thread at a time.
 */
#ifndef CLI_VERB_ANSWER_H
#define CLI_VERB_ANSWER_H

#include "answer/captures.h"
#include "cli/cli.h"
#include "serve/view/view.h"

struct verb_answers {
	const struct cli *view; /* whose options say which capture, and how it is read */
	struct pool *pool;
	struct captures captures;
	unsigned n_warned; /* answers that came with warnings */
};

bool verb_answers_init(struct verb_answers *a, const struct cli *view, struct incore_error *e);
void verb_answers_deinit(struct verb_answers *a);

/* Is it a verb whose answers a viewer shows? */
bool verb_answer_is(const char *name);
/* Reads a capture as view's options say; the caller's own. */
bool verb_answer_open(struct verb_answers *a, const char *path, struct progress *progress,
	struct trace **out, struct incore_error *e);
/* Does it take --kernel, and so k=ID? */
bool verb_answer_takes_kernel(const char *name);
/* v, of a trace that was opened here, has its columns now: verbs take slices from there. They must
 * be there until the last verb has ended. */
void verb_answer_lend(struct verb_answers *a, const struct view *v);
/*
 * What `incore NAME --json OPTIONS PATHS` prints; keys of q are options, but for c, base and h.
 * k=ID is --kernel for the kernel of that number in the capture.
 */
bool verb_answer(struct verb_answers *a, const struct query *q, const char *const *paths,
	unsigned n_paths, struct strbuf *out, struct incore_error *e);

/* Says on c that so many tracks could not be read; nothing for 0. */
void cli_warn_unread(struct cli *c, uint64_t n);
/* What `incore NAME PATHS` prints as text, never cut. */
bool verb_answer_text(struct verb_answers *a, const char *name, const char *const *paths,
	unsigned n_paths, struct strbuf *out, struct incore_error *e);

#endif
