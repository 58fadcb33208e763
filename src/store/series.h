/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h: what a series of captures says: its changes against its own noise (history.h), which
 * instructions they come from, and what is worse now: the gate, the list of regressions and the page
 * of a store take it from one function, store_judge().
 *
 * A regression is a change of level to the worse. It is new where it begins among the newest captures,
 * and stands from then on until the series is back within its noise of the level before it, or
 * until somebody accepts it.
 * Owner: the arena given. May fail: memory, a store that cannot be read.
 */
#pragma once

#include "store/accept.h"
#include "store/history.h"
#include "store/store.h"

#define STORE_SIGMAS 4 /* of the rule, unless somebody asks for others */
#define STORE_FLOOR 0.01

struct store_ask {
	struct store *store;
	struct arena *arena;
	unsigned
		figure; /* enum store_figure; STORE_FIGURES: duration where it is known, else cycles */
	struct history_rule history;
	unsigned movers; /* instructions to tell of each change */
	double most_pct; /* of the gate: worse by more fails whatever the noise; not finite: none */
	bool is_new_alone; /* of the gate: what stands does not fail it */
};

struct store_series { /* whose figures they are */
	const char *kernel, *arch, *evidence, *labels, *figure;
	uint64_t captures;	 /* with that figure */
	double noise, noise_pct; /* not finite: too few captures */
	struct rows accepted;	 /* store_acceptance, of any figure */
};

struct store_point {
	struct store_entry entry;
	uint64_t index; /* its place in the series */
	double value, level, off_pct;
	const char *mark; /* "", "change", "outlier", "unconfirmed" */
};

struct store_why {	     /* of a change, and how to look closer */
	struct rows movers;  /* store_mover */
	const char *command; /* NULL: not asked for */
};

struct store_level { /* of a stretch of time */
	uint64_t index, captures;
	double level, limit; /* limit: further from the level is off; not finite: not known */
};

struct store_change {
	uint64_t capture, from, index;
	int64_t at;
	const char *time, *revision, *state;
	double before, after, change, change_pct;
	bool is_same_code;
	struct store_why why;			/* of store_explain() */
	const struct store_entry *first, *last; /* the captures that it lies between */
};

struct store_history {
	struct store_series series;
	double level;	     /* of the last stretch */
	struct rows points;  /* store_point */
	struct rows levels;  /* store_level */
	struct rows changes; /* store_change */
};
extern const struct record store_history_record, store_point_record, store_change_record;

/* Of the series that begins with an entry; nothing is explained. */
bool store_history(const struct store_ask *x, const struct store_entries *entries, size_t at,
	struct store_history *out, struct incore_error *e);
/* Which instructions a change comes from, and how to look closer. */
bool store_explain(const struct store_ask *x, struct store_change *c, struct incore_error *e);

/* What became of a regression, the worst first. */
enum store_kind { STORE_NEW, STORE_STANDING, STORE_ACCEPTED, STORE_OVER, STORE_KINDS };
extern const char *const store_kinds[STORE_KINDS];

struct store_regression {
	struct store_series series;
	struct store_change change;
	enum store_kind is;
	const char *kind;	    /* its name */
	double now, cost, cost_pct; /* of the newest captures; above the level before the change */
	uint64_t acceptance;	    /* of STORE_ACCEPTED alone: its number */
	const struct store_acceptance *accepted;
};
extern const struct record store_regression_record;

struct store_gate {
	struct store_series series;
	uint64_t capture, from, captures_new;
	const char *revision, *verdict;
	double before, after, change_pct, limit_pct;
	struct store_why why;	 /* of store_explain_gate() */
	struct rows regressions; /* store_regression, the worst first, also those that are over */
};
extern const struct record store_gate_record;

struct store_judged {
	struct store_history history;
	struct store_gate gate;
};
/* The newest capture, and those before it of the same revision, against all that stands before;
 * and what got worse earlier. */
bool store_judge(const struct store_ask *x, const struct store_entries *entries, size_t at,
	struct store_judged *out, struct incore_error *e);
/* Is something new or standing in it? That is the first of its regressions. */
bool store_is_worse(const struct store_gate *g);
/* Explains its regressions, and its verdict by the worst; is_all: also those that are over. */
bool store_explain_gate(
	const struct store_ask *x, struct store_gate *g, bool is_all, struct incore_error *e);
/* Orders of what got worse: by kind; by what it costs, but first what is new or stands. */
int store_by_kind(const void *regression, const void *other);
int store_by_cost(const void *regression, const void *other);
/* Which series fail, counted. */
struct store_tally {
	bool is_passed;
	uint64_t worse, standing, accepted, no_claim;
};
#define STORE_TALLY_PASSED ((struct store_tally){.is_passed = true})
extern const struct record store_tally_record;
void store_count(const struct store_ask *x, const struct store_gate *g, struct store_tally *t);
