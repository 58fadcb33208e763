/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h: rows and parts that several answers share, with their descriptions.
 * Owner: rows are made in the arena of the answer; strings point into its captures.
 */
#pragma once

#include <math.h>

#include "analysis/waves/histogram.h"
#include "analysis/waves/producers.h"
#include "answer/answer.h"

/* Part of a whole, or amount per item; NaN if the whole is 0. Computed here because readers that
 * divide and round differently would disagree. */
static inline double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : NAN;
}

/* Sums of buckets; analyses hold them as an array indexed by enum bucket. */
struct bucket_sums {
	uint64_t issue, stall, wait, idle, drain;
};
extern const struct record bucket_record; /* RECORD_LINE */
static inline struct bucket_sums bucket_sums(const uint64_t b[BUCKET_COUNT])
{
	return (struct bucket_sums){
		b[BUCKET_ISSUE], b[BUCKET_STALL], b[BUCKET_WAIT], b[BUCKET_IDLE], b[BUCKET_DRAIN]};
}

extern const struct record code_totals_record;	/* of struct code_totals: hit latency stall idle */
extern const struct record distribution_record; /* of struct distribution */

/* A row of the code table as an answer names it. */
struct code_ref {
	int64_t row;
	uint64_t address;
	const char *isa, *source;
};
extern const struct record code_ref_record; /* RECORD_LINE */
/* Makes it in the answer's arena; *out is NULL if the row is not known. */
bool code_ref_make(struct answer *a, const struct trace *t, code_idx code,
	const struct code_ref **out, struct incore_error *e);

/* Items of plain lists. */
struct number_item {
	uint64_t v;
};
struct text_item {
	const char *v;
};
extern const struct record number_item_record, text_item_record; /* RECORD_SCALAR */

struct name_count { /* entry of a map from a name to a count */
	const char *name;
	uint64_t count;
};
extern const struct record name_count_record;

/* --- who is waited for --- */

struct edge_row {
	int64_t producer, wait; /* numbers of rows */
	uint64_t count, blocked, inexact, stall, shared, cycles;
	const struct distribution *latency;
	const char *producer_isa, *wait_isa;
};
extern const struct record edge_record;
struct edge_row edge_row_of(const struct trace *t, const struct producer_edge *x);
/* The first `top` edges. */
bool edge_rows(struct answer *a, const struct producers *p, uint64_t top, struct rows *out,
	struct incore_error *e);

struct producer_row {
	const char *key;
	uint64_t wait, waits, blocked;
	double per_wait, share_of_wait, share_of_all;
};
struct waits_sums {
	uint64_t executed, free, blocked, exact, group, unresolved, drained;
};
struct producer_sums { /* everything about one attribution: members of an object */
	const char *attribution;
	struct rows groups; /* producer_row */
	uint64_t wait, barrier, sleep;
	struct waits_sums waits;
};
extern const struct record producer_sums_record, producer_record;
/* all_cyc: the cycles that share_of_all is a share of. */
bool producer_sums_make(struct answer *a, const struct producers *p, enum attribution attribution,
	uint64_t top, uint64_t all_cyc, struct producer_sums *out, struct incore_error *e);

/* --- producer_tables.c: tables of the producer that no analysis interprets --- */

struct producer_table {
	const char *name, *origin;
	uint64_t rows;
	struct rows columns, cells; /* text_item; struct rows of nullable text_item */
};
extern const struct record producer_table_record; /* RECORD_BLOCK */
/* The first `top` rows of tables of details; with `all` also rows of the others, up to a limit. */
bool producer_table_rows(struct answer *a, const struct trace *t, uint64_t top, bool all,
	struct rows *out, struct incore_error *e);

/* vendor_metric and vendor_rule (vendor_report.h); a trace without a report of the vendor's
 * profiler has neither. */
bool vendor_report_rows(struct answer *a, const struct trace *t, struct rows *metrics,
	struct rows *rules, struct incore_error *e);
