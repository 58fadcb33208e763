/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h: answers of a store, as described values to be shown by the command line or a page.
 * Owner: the arena of the ask. May fail: memory, an unreadable store, a capture not in the store.
 */
#pragma once

#include "store/series.h"

/* What an answer is about; the page of a store also shows which part of a list it has. */
struct store_input {
	const char *store;
	uint64_t from, total; /* index of the first row that is included; rows of the whole list */
};
extern const struct record store_input_record; /* the store alone */
extern const struct record store_part_record;  /* for the page of a store */

struct store_histories {
	struct rows series; /* store_history */
};
extern const struct record store_histories_record;

struct store_worse {
	struct rows regressions; /* store_regression, the costliest first */
};
extern const struct record store_worse_record;
/* is_all: include regressions that are over. */
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
/* Fills *out for the capture of that number, with its `top` costliest instructions. */
bool store_card(const struct store_ask *x, const struct store_entries *entries, uint64_t capture,
	unsigned top, struct store_card *out, struct incore_error *e);

/* --- for a page: all series in brief, each with a small chart --- */

#define STORE_SPARK 48u /* most values of a small chart */

struct store_line { /* one series */
	struct store_gate gate;
	const char *time; /* of its newest capture */
	double value;	  /* figure of its newest capture */
	double cost;	  /* highest cost of its new and standing regressions; not finite: none */
	double last_pct;  /* of the last change of level; not finite: no change */
	const char *last_at; /* time of that change */
	struct rows spark;   /* some of its figures: lowest and highest of each stretch */
};
struct store_overview {
	struct store_tally tally;
	uint64_t captures;
	struct rows series;	    /* store_line, the worst first */
	struct rows arches, labels; /* name_count: number of series of each */
};
extern const struct record store_overview_record, store_line_record;
bool store_overview(const struct store_ask *x, const struct store_entries *entries,
	struct store_overview *out, struct incore_error *e);

/* --- where captures were read from --- */
struct store_file {
	uint64_t capture;
	const char *path;
	bool is_there;
};
struct store_files {
	struct rows files; /* store_file */
};
extern const struct record store_file_record, store_files_record;
bool store_find_file(const struct store_entries *x, uint64_t capture, struct store_file *out,
	struct incore_error *e);

/* Finds the series that a capture belongs to: entries *at to *at + *n. */
bool store_series_of(const struct store_entries *x, uint64_t capture, size_t *at, size_t *n,
	struct incore_error *e);
/* Thins the points to at most `most`: keeps the lowest, the highest and the first marked point of
 * each stretch. */
bool store_thin(struct rows points, size_t most, struct arena *a, struct rows *out);
