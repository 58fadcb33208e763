/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waves_parts.h: the parts of answers about waves: durations, the conserved accounting, the
 * hardware's states, clusters of equal paths, barriers. The records describe the structs of the
 * analyses wherever these hold what an answer needs.
 * Owner: rows are made in the arena of the answer; lists point into the analyses, which it keeps.
 */
#pragma once

#include "analysis/waves/waves.h"
#include "answer/rows.h"

extern const struct record duration_record; /* of struct duration_stats; RECORD_LINE */

struct accounting { /* every cycle of a duration in one bucket */
	struct bucket_sums bucket;
	uint64_t duration;
};
extern const struct record accounting_record; /* RECORD_LINE */
static inline struct accounting accounting_of(
	const uint64_t bucket[BUCKET_COUNT], uint64_t duration_cyc)
{
	return (struct accounting){bucket_sums(bucket), duration_cyc};
}

struct bucket_shares {
	double issue, stall, wait, idle, drain;
};
extern const struct record bucket_shares_record; /* RECORD_LINE */
struct bucket_shares bucket_shares_of(const uint64_t bucket[BUCKET_COUNT], uint64_t duration_cyc);

extern const struct record states_record; /* of struct states_wave; RECORD_LINE */
struct state_shares {
	double empty, idle, exec, wait, stall;
};
extern const struct record state_shares_record; /* RECORD_LINE */
struct state_shares state_shares_of(const struct states_wave *s);

struct cluster_row { /* waves that executed the same rows */
	uint32_t index;
	struct cluster k;
	const char *representative;
	struct rows trips;	/* struct cluster_variant */
	double per_instruction; /* cycles of a wave per instruction */
	double share;		/* of the latency of all waves */
};
extern const struct record cluster_record; /* RECORD_LINE */
bool cluster_rows(
	struct answer *a, const struct clusters *c, struct rows *out, struct incore_error *e);

struct barrier_widest { /* the meeting with the largest skew */
	struct barrier_meeting m;
	const char *first, *last; /* the waves that arrived first and last */
};
struct barrier_latest {	  /* the wave that most often arrived last */
	const char *wave; /* NULL: there were no meetings */
	uint64_t last, meetings;
};
struct barrier_line { /* one s_barrier of the code */
	int64_t row;
	struct barrier_row b;
	struct barrier_latest latest;
	const struct barrier_widest *widest; /* NULL: there were no meetings */
};
struct barriers_part {
	struct barriers b;
	const char *evidence;
	struct rows rows; /* barrier_line */
};
extern const struct record barrier_record, barriers_record; /* LINE, BLOCK */
bool barriers_make(struct answer *a, const struct barriers *b, struct barriers_part *out,
	struct incore_error *e);
