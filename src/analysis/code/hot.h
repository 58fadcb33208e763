/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot.h: where the cycles go, by instruction, and rolled up by line, opcode or class.
 *
 * There are two kinds of figures: `totals` has the producer's meaning (sums of the recorded fields,
 * comparable with its own tables), `bucket` is the conserved accounting of account.h. The buckets
 * of all rows, plus those that belong to no row (waves without records), add up to exactly
 * duration_cyc. Without tracks the totals are those stated by the producer, and the buckets are
 * zero (is_stated).
 *
 * Owner: hot_new() .. hot_free(). Results are valid after walk_tracks() with hot_collector().
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/causes.h"
#include "analysis/waves/producers.h"
#include "base/arena.h"

struct hot_sums {
	struct code_totals totals;
	uint64_t bucket[BUCKET_COUNT];
	uint64_t samples, stalled_samples; /* PC sampling; 0 for a trace */
	uint64_t exposed_samples;	   /* of stalled_samples: nothing was issued meanwhile; 0 if
					      unknown */
	uint64_t hidden_cyc, exposed_cyc;  /* split of the lost cycles: hot_take_exposed() */
};

struct hot {
	const struct trace *trace;
	struct hot_sums *rows; /* by code_idx; one more for records that name no known row */
	struct hot_sums classes[CLASS_COUNT];
	struct hot_sums all;
	bool has_exposed; /* hidden_cyc and exposed_cyc are known */
	uint64_t n_waves, n_instructions;
	uint64_t duration_cyc; /* sum of lifetimes inside the selection */
	int64_t residue_cyc;   /* duration minus all buckets; must be 0 */
	bool is_stated;	       /* no walk; with samples of a known period cycles are estimates */
};

enum hot_by { HOT_BY_INSTR, HOT_BY_LINE, HOT_BY_OPCODE, HOT_BY_CLASS };
enum hot_sort {
	HOT_SORT_CYCLES,
	HOT_SORT_LOST,
	HOT_SORT_LATENCY,
	HOT_SORT_STALL,
	HOT_SORT_IDLE,
	HOT_SORT_HIT
};

struct hot_group {
	const char *key;     /* borrowed from the trace or the caller's arena */
	code_idx code;	     /* its hottest row; NO_CODE: records that name no known row */
	uint32_t n_rows;     /* static rows in it */
	uint32_t n_executed; /* static rows that were executed */
	struct hot_sums sums;
	const struct reason_count *reasons; /* sums over its rows, one per reason; NULL: those of
					       `code` */
	/* By line: totals of all instructions with this line anywhere in their inline chain, each
	 * counted once. Equal to sums.totals where nothing was inlined from it. */
	struct code_totals inclusive;
};

/* Takes the hidden and exposed lost cycles of each row from causes that know both (CAUSES_ROWS and
 * a busy union). Sums by class do not get them. */
void hot_take_exposed(struct hot *h, const struct causes *c);
struct hot *hot_new(const struct trace *t);
void hot_free(struct hot *h);
struct collector hot_collector(struct hot *h);
/* Instead of a walk: takes the totals stated by the producer. */
void hot_take_stated(struct hot *h);

void hot_add(struct hot_sums *to, const struct hot_sums *from);

static inline uint64_t hot_cycles(const struct hot_sums *s)
{
	return s->bucket[BUCKET_ISSUE] + s->bucket[BUCKET_STALL] + s->bucket[BUCKET_WAIT] +
	       s->bucket[BUCKET_IDLE] + s->bucket[BUCKET_DRAIN];
}

/* Why the samples of a group stalled: one count per reason of the trace; NULL if not sampled. */
const struct reason_count *hot_reasons(const struct hot *h, const struct hot_group *g);
/* Name of the most frequent stall reason. */
const char *hot_stall_reason(const struct trace *t, const struct reason_count *reasons);

/* Source line of a row, the innermost one of inlined code ("a.h:?" does not count); "<unknown>" if
 * it has none. */
struct str hot_line_of(const struct code_row *row);
/* Static instruction rows of the trace, labels left out. */
uint32_t hot_static_rows(const struct trace *t);

/*
 * Groups by `by`, sorted descending by `sort`, ties by the order of the code. Groups that were
 * never executed are left out unless `with_zero`. The array and keys that had to be built live in
 * `a`.
 */
bool hot_group(const struct hot *h, enum hot_by by, enum hot_sort sort, bool with_zero,
	struct arena *a, struct hot_group **out, uint32_t *n, struct incore_error *e);

/* The largest loss of a row and, for a wait, the edge to the instruction it waited for most. */
struct hot_loss {
	char name[40]; /* "wait:VMEM-load", "pipe-stall:VALU", "nop", "gap", ...; "" if nothing was
			  lost */
	uint64_t cyc;
	const struct producer_edge *edge; /* or NULL */
};
/* `edge`: the costliest edge into this row, or NULL. */
struct hot_loss hot_loss(
	const struct hot *h, const struct hot_group *g, const struct producer_edge *edge);
/* The loss of a row of waves in one bucket. */
struct hot_loss hot_loss_in(const struct hot *h, const struct hot_group *g,
	const struct producer_edge *edge, enum bucket b);
