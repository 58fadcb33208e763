/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siblings.h: captures of the same kernel, agent and code as a given one, with what is known of
 * them without reading their waves. For check (repeats, clocks), summary and diff (noise floor).
 * Owner: the caller; siblings_deinit() frees all.
 */
#pragma once

#include "analysis/check/check.h"
#include "analysis/waves/causes.h"
#include "answer/answer.h"
#include "import/import.h"

struct siblings {
	struct capture_list beside; /* owns the captures if they had to be searched for */
	VEC(struct check_sibling) facts;
	VEC(const struct capture *) captures; /* same order, borrowed */
	struct check_context ctx;
};

/* Finds the captures in `all` that are like `self`; all NULL: searches beside its path. Fails only
 * on lack of memory: what cannot be read is left out. The cache (may be NULL) keeps what was read
 * for the next call. */
bool siblings_find(struct siblings *s, const struct capture *self, const struct capture_list *all,
	struct capture_cache *cache, struct incore_error *e);
/* Do both paths lead to one capture? */
bool siblings_is_same(const struct file_fence *f, const char *a, const char *b);
void siblings_deinit(struct siblings *s);

/* --- what differs among them ------------------------------------------------------------------- */

/*
 * One run of rocprofv3 with "[8-8]" leaves two captures of one state. What differs among captures
 * of a state is noise, and nobody has to ask for it. Owner: the caller, from zero to
 * repeats_deinit().
 */

#define REPEATS_MOST 3u
#define REPEATS_LIMIT_PCT 2 /* captures of one state further apart are not stable (stable.h) */

struct repeats {
	struct siblings siblings;
	struct capture_list found;
	double shares[REPEATS_MOST][FAMILY_COUNT]; /* exposed share of each family */
	double per_execution[REPEATS_MOST];	   /* cycles of one execution; NaN: not known */
	uint32_t n;
};

/* with_figures: reads the captures, too; what cannot be read is left out. Fails only on memory. */
bool repeats_find(struct repeats *x, const struct request *r, const struct trace *t,
	bool with_figures, struct incore_error *e);
void repeats_deinit(struct repeats *x);

struct repeats_row {
	uint64_t captures; /* this one and its repeats */
	double least, most, spread_pct, limit_pct;
	bool is_stable;
	const char *statement;
};
extern const struct record repeats_record;
/* *out: cycles of one execution in this capture (`own`) and its repeats; NULL without a repeat. */
bool repeats_make(struct answer *a, const struct repeats *x, double own,
	const struct repeats_row **out, struct incore_error *e);
