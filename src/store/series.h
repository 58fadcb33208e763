/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h: what a series of captures says: its changes against its own noise (history.h), which
 * instructions they come from, and whether the newest captures are worse than what stood before.
 * Owner: the arena given. May fail: memory, a store that cannot be read.
 */
#pragma once

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
};

struct store_series { /* whose figures they are */
	const char *kernel, *arch, *evidence, *labels, *figure;
	uint64_t captures;	 /* with that figure */
	double noise, noise_pct; /* not finite: too few captures */
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
	struct store_why why;
};

struct store_history {
	struct store_series series;
	double level;	     /* of the last stretch */
	struct rows points;  /* store_point */
	struct rows levels;  /* store_level */
	struct rows changes; /* store_change */
};
extern const struct record store_history_record, store_point_record, store_change_record;

/* Of the n entries of one series. */
bool store_history(const struct store_ask *x, const struct store_entry *v, size_t n,
	struct store_history *out, struct incore_error *e);

struct store_regression {
	struct store_series series;
	struct store_change change;
	bool is_open; /* the level of now is still above that of before */
};
extern const struct record store_regression_record;
/* The changes of a history to the worse, appended; is_all: also those that are no more. */
typedef VEC(struct store_regression) regression_list;
bool store_regressions(const struct store_history *h, const struct store_ask *x, bool is_all,
	regression_list *out);

struct store_gate {
	struct store_series series;
	uint64_t capture, from, captures_new;
	const char *revision, *verdict;
	double before, after, change_pct, limit_pct;
	struct store_why why;
};
extern const struct record store_gate_record;
/* The newest capture, and those before it of the same revision, against all that stands before. */
bool store_gate(const struct store_ask *x, const struct store_entry *v, size_t n,
	struct store_gate *out, struct incore_error *e);
