/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gains.h: what advice would bring, and what came of it. How long a kernel took and over what that
 * was counted; the gain of each advice, asked of whatif.h in one pass; and, with a second capture,
 * which advice was followed and whether it brought what was promised. Pure but for the memory of
 * the plans. May fail: memory.
 */
#pragma once

#include "analysis/advise/advise.h"
#include "analysis/walk.h"

struct advise_time {
	uint64_t all_cyc; /* the whole that shares refer to */
	uint64_t cycles;  /* how long the kernel took */
	const char *unit; /* what the cycles are counted over */
};
bool advise_time_of_summary(
	const struct summary *s, struct advise_time *out, struct incore_error *e);
struct advise_time advise_time_of_pipes(const struct pipes *p);

struct advice_gain { /* computed by whatif.h; cycles of the traced part of the kernel */
	uint64_t before, after, low, high;
	double pct, least_pct, most_pct; /* saved part of `before` */
	const char *method, *why;	 /* why: what bounds it; NULL: nothing known */
	bool does_nothing;
};

struct advice_gains {
	struct advice_gain v[ADVISE_MOST];
	bool has[ADVISE_MOST];		  /* v has an answer */
	const char *no_gain[ADVISE_MOST]; /* why there is no answer; NULL: there is */
	uint64_t span_cyc;		  /* of the kernel, as timed by whatif.h; 0: not timed */
};
/* Asks for the gain of each advice of the list, at most ADVISE_MOST. */
bool advise_gains(const struct trace *t, const struct advise_list *l, const struct walk_options *o,
	struct advice_gains *out, struct incore_error *e);

/* What became of advice in a second capture. */
enum advise_fate { FATE_UNKNOWN, FATE_TAKEN, FATE_PARTLY, FATE_NOT_TAKEN };
#define ADVISE_FATE_CHOICES "taken|partly|not-taken|unknown"
const char *advise_fate_name(enum advise_fate f);

struct advise_follow {
	uint64_t before, after;	    /* cycles of the kernel */
	double change_pct;	    /* negative: shorter; NaN: not comparable */
	double least_pct, most_pct; /* promised by all advice that was followed; NaN: none was */
	bool is_known;		    /* both count cycles over the same */
	uint32_t n_taken;
};
struct advise_follow advise_follow_new(
	const struct advise_time *before, const struct advise_time *after);
/* Judges one advice by its exposed shares in both captures; g is its promise or NULL. */
enum advise_fate advise_follow_add(
	struct advise_follow *f, double before_pct, double after_pct, const struct advice_gain *g);
const char *advise_follow_verdict(const struct advise_follow *f);
