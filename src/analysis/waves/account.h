/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h: the conserved cycle accounting of one track, the rule all figures stand on.
 *
 * Every cycle of [begin, end) falls into exactly one piece: the gap before a record (idle), its
 * stall (stall, wait or drain by class), its issue (issue or drain), or the tail after the last
 * record (idle, given to that record). An overlap with what came before is taken off the record
 * that starts early, its stall first, then its issue; what reaches beyond the track's end is cut
 * off. With a window only the cycles inside it count.
 *
 *	struct account a;
 *	for (account_begin(&a, w); account_next(&a);)
 *		use a.i, a.gap_cyc, a.stall_cyc, a.issue_cyc, a.tail_cyc
 *
 * A track without records is one tail that belongs to no record: a.tail_cyc after account_begin().
 * The pieces add up to account_duration(): account_residue() is 0 after the loop, always.
 */
#ifndef ANALYSIS_WAVES_ACCOUNT_H
#define ANALYSIS_WAVES_ACCOUNT_H

#include "analysis/walk.h"

struct account {
	const struct track_data *d;
	uint32_t i;	   /* the record these pieces belong to */
	uint32_t next;	   /* private */
	uint64_t prev_end; /* private: end of all records so far */
	uint64_t lo, hi;   /* lifetime of the track inside the window */
	uint64_t from, to; /* the window */
	/* Pieces of record i as intervals of the track's clock: [x_start, x_start + x_cyc). */
	uint64_t gap_start, stall_start, issue_start, tail_start;
	uint64_t gap_cyc, stall_cyc, issue_cyc, tail_cyc; /* tail: with the last record only */
	uint64_t raw_gap_cyc; /* the gap before it was cut to the window */
	bool is_hit;	      /* the record starts inside the window: count it */
	uint64_t sum_cyc;     /* of all pieces so far */
};

/* Cuts [*start, end) to [a->lo, a->hi); returns what is left. */
static inline uint64_t account_clip(const struct account *a, uint64_t *start, uint64_t end)
{
	if (*start < a->lo)
		*start = a->lo;
	if (end > a->hi)
		end = a->hi;
	return end > *start ? end - *start : 0;
}

static inline void account_begin(struct account *a, const struct walk_track *w)
{
	const struct track_data *d = w->data;
	uint64_t end = d->end_cyc > d->begin_cyc ? d->end_cyc : d->begin_cyc;

	*a = (struct account){
		.d = d, .prev_end = d->begin_cyc, .from = w->from_cyc, .to = w->to_cyc};
	a->lo = d->begin_cyc > w->from_cyc ? d->begin_cyc : w->from_cyc;
	a->hi = end < w->to_cyc ? end : w->to_cyc;
	if (a->hi < a->lo)
		a->hi = a->lo;
	if (d->n == 0) {
		a->tail_start = a->lo;
		a->tail_cyc = a->sum_cyc = a->hi - a->lo;
	}
}

__attribute__((always_inline)) static inline bool account_next(struct account *a)
{
	const struct track_data *d = a->d;
	uint32_t i = a->next;
	uint64_t time, stall_end, end, start;

	if (i >= d->n)
		return false;
	a->i = i;
	a->next = i + 1;
	time = d->start_cyc[i];
	stall_end = time + d->stall_cyc[i];
	end = time + d->dur_cyc[i];
	start = time > a->prev_end ? time : a->prev_end;

	a->raw_gap_cyc = start - a->prev_end;
	a->gap_start = a->prev_end;
	a->stall_start = start;
	a->issue_start = stall_end > start ? stall_end : start;
	if (__builtin_expect(a->prev_end >= a->lo && end <= a->hi && start <= a->hi,
		    1)) { /* nothing to cut: the rule */
		a->gap_cyc = start - a->prev_end;
		a->stall_cyc = a->issue_start - start;
		a->issue_cyc = end > a->issue_start ? end - a->issue_start : 0;
	} else {
		a->gap_cyc = account_clip(a, &a->gap_start, start);
		a->stall_cyc = account_clip(a, &a->stall_start, stall_end);
		a->issue_cyc = account_clip(a, &a->issue_start, end);
	}
	a->is_hit = time - a->from < a->to - a->from; /* wraps when before the window */
	if (end > a->prev_end)
		a->prev_end = end;
	a->tail_cyc = 0;
	if (i + 1 == d->n) {
		a->tail_start = a->prev_end;
		a->tail_cyc = account_clip(a, &a->tail_start, UINT64_MAX);
	}
	a->sum_cyc += a->gap_cyc + a->stall_cyc + a->issue_cyc + a->tail_cyc;
	return true;
}

/* The next record whose class is in the set (bit per class); skipped ones are in no sum, so there
 * is no residue to check. Cheap where few records are of interest. */
static inline bool account_next_of(struct account *a, uint32_t classes)
{
	const struct track_data *d = a->d;
	uint32_t i = a->next;

	for (; i < d->n && !(classes >> d->inst_class[i] & 1); i++) {
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i];

		if (end > a->prev_end)
			a->prev_end = end;
	}
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

/* Where the issue part of a slice of this class goes. */
static inline enum bucket class_issue_bucket(enum inst_class c)
{
	return c == CLASS_DRAIN ? BUCKET_DRAIN : BUCKET_ISSUE;
}

#endif
