/* SPDX-License-Identifier: Apache-2.0 */
/* waves.h: wave by wave, or pipe by pipe: parameters, and the answer of answer/waves.c. */
#pragma once

#include "answer/pipes_parts.h"
#include "answer/waves_parts.h"

struct waves_params {
	unsigned sort; /* enum wave_sort */
	uint64_t bins; /* of the series; 0: none */
};

struct waves_totals {
	uint64_t waves, instructions, latency, stall, segments, waves_with_states,
		not_ending_in_endpgm;
};

struct category_row { /* sums of a record category of the producer */
	const char *category;
	struct wave_category c;
};

struct group_line {		     /* waves that share a place */
	uint32_t se, cu, simd, slot; /* UINT32_MAX: not shared */
	const char *order, *phase;
	const char *where; /* the shared place in words */
	struct wave_group g;
	struct accounting accounting;
	double lost_share, issue_pct, wait_pct;
};
struct imbalance {
	struct rows se, simd, slot, order, phase; /* group_line */
};

struct explained_part {
	const char *part, *bucket;
	uint64_t cycles;
};
struct explained_row { /* a hardware state compared with the records */
	const char *state;
	uint64_t cycles, records;
	int64_t difference;
	struct rows parts; /* explained_part */
};

struct state_series {
	int64_t from_aligned;
	uint64_t bin_cycles;
	struct rows bins; /* uint64_t[STATE_COUNT] */
};

struct wave_line {
	uint32_t se, cu, simd, slot, wave;
	uint64_t begin, end;
	int64_t begin_aligned, end_aligned;
	struct wave_row r;
	uint32_t rows, cluster;
	struct accounting accounting;
	struct states_wave states;
	const char *file, *phase;
};

struct waves_answer {
	const char *evidence;
	struct waves_totals totals;
	struct duration_stats duration;
	struct accounting accounting;
	struct bucket_shares accounting_shares;
	int64_t residue;
	struct states_wave states;
	uint64_t states_total;
	struct state_shares state_shares;
	struct rows categories; /* category_row */
	struct rows clusters;	/* cluster_row */
	struct imbalance imbalance;
	struct barriers_part barriers;
	struct rows states_explained;	   /* explained_row */
	const struct state_series *series; /* NULL: not asked for */
	struct rows waves;		   /* wave_line */
	/* For drawing. */
	uint64_t found, top; /* waves that exist; rows to show */
	struct str sorted_by;
};

struct waves_of_pipes { /* the answer for a trace of pipes */
	const char *evidence;
	struct pipes_part p;
};

extern const struct record wave_record, wave_group_record;
extern const struct record waves_record, waves_of_pipes_record;
