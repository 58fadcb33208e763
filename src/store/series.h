/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h: evaluates a series of captures: its changes against its own noise (history.h), which
 * instructions cause them, and what is worse now: the gate, the list of regressions and the page of
 * a store all use one function, store_judge().
 *
 * A regression is a change of level to the worse. It is new if it begins among the newest captures,
 * and stands from then on until the series is back within its noise of the level before it, or
 * until somebody accepts it.
 * Owner: the given arena. May fail: memory, a store that cannot be read.
 */
#pragma once

#include "store/accept.h"
#include "store/history.h"
#include "store/store.h"

#define STORE_SIGMAS 4 /* defaults of the rule */
#define STORE_FLOOR 0.01

struct store_ask {
	struct store *store;
	struct arena *arena;
	unsigned figure; /* enum store_figure; STORE_FIGURES: duration, or cycles if unknown */
	struct history_rule history;
	unsigned movers;   /* number of instructions to list for each change */
	double most_pct;   /* gate: worse by more fails whatever the noise; not finite: no limit */
	bool is_new_alone; /* gate: standing regressions do not fail it */
};

struct store_series { /* identity of a series, and its totals */
	const char *kernel, *arch, *evidence, *labels, *figure;
	uint64_t captures;	 /* number of captures with that figure */
	double noise, noise_pct; /* not finite: too few captures */
	struct rows accepted;	 /* store_acceptance, for any figure */
};

struct store_point {
	struct store_entry entry;
	uint64_t index; /* in the series */
	double value, level, off_pct;
	const char *mark; /* "", "change", "outlier", "unconfirmed" */
};

struct store_why {	     /* explanation of a change */
	struct rows movers;  /* store_mover */
	const char *command; /* to look closer; NULL: not requested */
};

struct store_level { /* level of a stretch of time */
	uint64_t index, captures;
	double level, limit; /* limit: values further from the level are off; not finite: unknown */
};

struct store_change {
	uint64_t capture, from, index;
	int64_t at;
	const char *time, *revision, *state;
	double before, after, change, change_pct;
	bool is_same_code;
	struct store_why why;			/* filled by store_explain() */
	const struct store_entry *first, *last; /* first capture after it, last one before it */
};

struct store_history {
	struct store_series series;
	double level;	     /* of the last stretch */
	struct rows points;  /* store_point */
	struct rows levels;  /* store_level */
	struct rows changes; /* store_change */
};
extern const struct record store_history_record, store_point_record, store_change_record;

/* Fills in the history of the series that begins at entry `at`, without explanations. */
bool store_history(const struct store_ask *x, const struct store_entries *entries, size_t at,
	struct store_history *out, struct incore_error *e);
/* Fills in which instructions caused a change, and how to look closer. */
bool store_explain(const struct store_ask *x, struct store_change *c, struct incore_error *e);

/* State of a regression, the worst first. */
enum store_kind { STORE_NEW, STORE_STANDING, STORE_ACCEPTED, STORE_OVER, STORE_KINDS };
extern const char *const store_kinds[STORE_KINDS];

struct store_regression {
	struct store_series series;
	struct store_change change;
	enum store_kind is;
	const char *kind;	    /* its name */
	double now, cost, cost_pct; /* of the newest captures; above the level before the change */
	uint64_t acceptance;	    /* number of the acceptance; only for STORE_ACCEPTED */
	const struct store_acceptance *accepted;
};
extern const struct record store_regression_record;

struct store_gate {
	struct store_series series;
	uint64_t capture, from, captures_new;
	const char *revision, *verdict;
	double before, after, change_pct, limit_pct;
	struct store_why why;	 /* filled by store_explain_gate() */
	struct rows regressions; /* store_regression, the worst first, also those that are over */
};
extern const struct record store_gate_record;

struct store_judged {
	struct store_history history;
	struct store_gate gate;
};
/* Compares the newest captures (the last one and those of its revision before it) with all captures
 * before them, and lists what got worse earlier. */
bool store_judge(const struct store_ask *x, const struct store_entries *entries, size_t at,
	struct store_judged *out, struct incore_error *e);
/* Does it have a new or standing regression? If so, that is the first of its regressions. */
bool store_is_worse(const struct store_gate *g);
/* Explains its regressions, and its verdict by the worst; is_all: include those that are over. */
bool store_explain_gate(
	const struct store_ask *x, struct store_gate *g, bool is_all, struct incore_error *e);
/* Sort orders of regressions: by kind; by cost, with new and standing ones first. */
int store_by_kind(const void *regression, const void *other);
int store_by_cost(const void *regression, const void *other);
/* Number of series by verdict. */
struct store_tally {
	bool is_passed;
	uint64_t worse, standing, accepted, no_claim;
};
#define STORE_TALLY_PASSED ((struct store_tally){.is_passed = true})
extern const struct record store_tally_record;
void store_count(const struct store_ask *x, const struct store_gate *g, struct store_tally *t);
