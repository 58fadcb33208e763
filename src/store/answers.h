/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h: what a store answers, as described values for whoever shows them: the command line, a page.
 * Owner: the arena of the ask. May fail: memory, a store that cannot be read, a capture that is not in it.
 */
#pragma once

#include "store/series.h"

struct store_histories {
	struct rows series; /* store_history */
};
extern const struct record store_histories_record;
bool store_histories(const struct store_ask *x, const struct store_entries *entries,
	struct store_histories *out, struct incore_error *e);

struct store_worse {
	struct rows regressions; /* store_regression, what costs most first */
};
extern const struct record store_worse_record;
/* is_all: also those that are over. */
bool store_worse(const struct store_ask *x, const struct store_entries *entries, bool is_all,
	struct store_worse *out, struct incore_error *e);

struct store_gates {
	struct store_tally tally;
	struct rows regressions; /* store_regression, by kind */
	struct rows series;	 /* store_gate */
};
extern const struct record store_gates_record;
bool store_gates(const struct store_ask *x, const struct store_entries *entries,
	struct store_gates *out, struct incore_error *e);

struct store_card {
	struct store_entry capture;
	struct rows accepted; /* store_acceptance, of its series */
	struct rows rows;     /* store_mover */
	struct rows findings; /* store_finding */
};
extern const struct record store_card_record;
/* The capture of that number with its `top` costliest instructions. */
bool store_card(const struct store_ask *x, const struct store_entries *entries, uint64_t capture,
	unsigned top, struct store_card *out, struct incore_error *e);

/* --- of a page: all series in short, and one of them as a picture --- */

#define STORE_SPARK 48u /* values of a small picture, at most */

struct store_line { /* a series */
	struct store_gate gate;
	const char *time;    /* of its newest capture */
	double value;	     /* its figure */
	double cost;	     /* what is new or stands in it, the most; not finite: nothing */
	double last_pct;     /* of the last change of level; not finite: there is none */
	const char *last_at; /* when that was */
	struct rows spark;   /* some of its figures: the lowest and highest of each stretch */
};
struct store_overview {
	struct store_tally tally;
	uint64_t captures;
	struct rows series;	    /* store_line, the worst first */
	struct rows arches, labels; /* name_count: of how many series */
};
extern const struct record store_overview_record;
bool store_overview(const struct store_ask *x, const struct store_entries *entries,
	struct store_overview *out, struct incore_error *e);

/* The entries of the series that a capture is of. */
bool store_series_of(const struct store_entries *x, uint64_t capture, size_t *at, size_t *n,
	struct incore_error *e);
/* At most `most` of the points: of each stretch of them the lowest, the highest and the first that is
 * marked. */
bool store_thin(struct rows points, size_t most, struct arena *a, struct rows *out);
