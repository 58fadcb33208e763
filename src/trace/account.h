/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h: the conserved cycle accounting of one track, on which all figures are based. Analyses
 * walk a track with struct account; the sums and tiles of index.h split lanes into the same pieces.
 *
 * Every cycle of [begin, end) falls into exactly one piece: the gap before a record (idle), its
 * stall (stall, wait or drain by class), its issue (issue or drain), or the tail after the last
 * record (idle, given to that record). An overlap with earlier records is taken off the record that
 * starts early, first from its stall, then from its issue; whatever reaches beyond the track's end
 * is cut off. With a window only the cycles inside it count.
 *
 *	struct account a;
 *	for (account_begin(&a, data, from, to); account_next(&a);)
 *		use a.i, a.at, a.gap_cyc, a.stall_cyc, a.issue_cyc, a.tail_cyc
 *
 * A track without records is one tail that belongs to no record: a.tail_cyc after account_begin().
 * The pieces add up to account_duration(): account_residue() is 0 after the loop, always.
 *
 * Pure; needs no C library.
 */
#pragma once

#include "trace/trace.h"

/* Where the pieces of a record lie: gap [gap, stall), stall [stall, issue), issue [issue, end).
 * In order; `end` is also the end of all records so far. */
struct pieces {
	uint64_t gap, stall, issue, end;
};

/* The latest end of all records including this one, if those before it ended at `cover`. */
static inline uint64_t cover_after(uint64_t cover, uint64_t start, uint32_t dur)
{
	return start + dur > cover ? start + dur : cover;
}

/* The pieces of a record, if all before it ended at `cover`. */
__attribute__((always_inline)) static inline struct pieces pieces_after(
	uint64_t cover, uint64_t start, uint32_t stall, uint32_t dur)
{
	uint64_t begin = start > cover ? start : cover, end = cover_after(cover, start, dur);
	uint64_t issue = start + stall;

	issue = issue > begin ? issue : begin;
	return (struct pieces){cover, begin, issue < end ? issue : end, end};
}

/* The parts of the pieces inside [lo, hi]; a piece outside gets length 0. */
__attribute__((always_inline)) static inline struct pieces pieces_cut(
	struct pieces p, uint64_t lo, uint64_t hi)
{
	uint64_t *at[] = {&p.gap, &p.stall, &p.issue, &p.end};

	for (unsigned i = 0; i < 4; i++)
		*at[i] = *at[i] < lo ? lo : *at[i] > hi ? hi : *at[i];
	return p;
}

struct account {
	const struct track_data *d;
	uint32_t i;	   /* the record these pieces belong to */
	uint32_t next;	   /* private */
	uint64_t lo, hi;   /* lifetime of the track inside the window */
	uint64_t from, to; /* the window */
	struct pieces raw; /* of record i, as if there were no window and no end */
	struct pieces at;  /* of record i; the tail lies behind them */
	uint64_t gap_cyc, stall_cyc, issue_cyc, tail_cyc; /* tail: with the last record only */
	bool is_hit;	  /* the record starts inside the window: count it */
	uint64_t sum_cyc; /* of all pieces so far */
};

/* Starts accounting the cycles of d in [from, to) of its clock; 0, UINT64_MAX: all. */
static inline void account_begin(
	struct account *a, const struct track_data *d, uint64_t from, uint64_t to)
{
	uint64_t end = d->end_cyc > d->begin_cyc ? d->end_cyc : d->begin_cyc;

	*a = (struct account){.d = d, .raw.end = d->begin_cyc, .from = from, .to = to};
	a->lo = d->begin_cyc > from ? d->begin_cyc : from;
	a->hi = end < to ? end : to;
	if (a->hi < a->lo)
		a->hi = a->lo;
	a->at.end = a->lo;
	if (d->n == 0)
		a->tail_cyc = a->sum_cyc = a->hi - a->lo;
}

__attribute__((always_inline)) static inline bool account_next(struct account *a)
{
	const struct track_data *d = a->d;
	uint32_t i = a->next;

	if (i >= d->n)
		return false;
	a->i = i;
	a->next = i + 1;
	a->raw = pieces_after(a->raw.end, d->start_cyc[i], d->stall_cyc[i], d->dur_cyc[i]);
	a->at = a->raw;
	if (__builtin_expect(a->raw.gap < a->lo || a->raw.end > a->hi, 0))
		a->at = pieces_cut(a->raw, a->lo, a->hi);
	a->gap_cyc = a->at.stall - a->at.gap;
	a->stall_cyc = a->at.issue - a->at.stall;
	a->issue_cyc = a->at.end - a->at.issue;
	a->tail_cyc = i + 1 == d->n ? a->hi - a->at.end : 0;
	a->is_hit = d->start_cyc[i] - a->from < a->to - a->from; /* wraps when before the window */
	a->sum_cyc += a->at.end - a->at.gap + a->tail_cyc;
	return true;
}

/* The next record whose class is in the set (bit per class); skipped ones are in no sum, so there
 * is no residue to check. Cheap where few records are of interest. */
static inline bool account_next_of(struct account *a, uint64_t classes)
{
	const struct track_data *d = a->d;
	uint32_t i = a->next;

	for (; i < d->n && !(classes >> d->inst_class[i] & 1); i++)
		a->raw.end = cover_after(a->raw.end, d->start_cyc[i], d->dur_cyc[i]);
	a->next = i;
	return account_next(a);
}

/* Length of the lifetime inside the window. */
static inline uint64_t account_duration(const struct account *a)
{
	return a->hi - a->lo;
}

/* Duration minus all pieces, after the loop. */
static inline int64_t account_residue(const struct account *a)
{
	return (int64_t)(account_duration(a) - a->sum_cyc);
}
