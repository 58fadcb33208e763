/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h: comparison of two captures: parameters, and the answer of answer/diff.c. */
#pragma once

#include "analysis/diff/diff.h"
#include "analysis/diff/diff_gate.h"
#include "answer/answer.h"
#include "gate/gate.h"

#define DIFF_BY_CHOICES "instr|line|opcode|class|cause"

struct diff_params {
	unsigned by;	/* enum diff_by */
	unsigned align; /* 0: auto, else enum diff_align_kind + 1 */
	uint64_t min_match_pct, noise_factor;
	uint64_t stable_within_pct; /* NO_COUNT: the captures are not said to be of one state */
	struct text_list noise, gates;
	struct gate_files files;
};

struct diff_evidence {
	const char *a, *b;
};

struct diff_alignment {
	const char *kind;
	uint64_t rows_a, rows_b, matched;
	double latency_share;
	uint64_t matched_latency_a, matched_latency_b;
};

struct diff_hits {
	uint64_t a, b;
	double ratio;
	bool is_uniform;
};

struct diff_clocks {
	double a_mhz, b_mhz;
	bool is_alike;
};

struct diff_noise {
	uint64_t repeats_a, repeats_b;
	bool is_pair;
	double factor;
	const char *statement;
};

struct diff_moved_row { /* cycles of one execution of a row */
	int64_t row;
	double a, b, least, most, spread_pct;
	const char *key, *source;
	bool is_beyond;
};

struct diff_stability {
	const char *verdict, *statement;
	uint64_t captures;
	bool is_pair;
	double least, most, spread_pct, limit_pct, row_most_pct, row_limit_pct;
	uint64_t rows_beyond, rows_total;
	struct rows rows; /* diff_moved_row */
	bool is_judged, is_stable;
};

struct diff_value_row {
	const char *name;
	double a, b, change, change_pct, noise, noise_pct;
	const char *verdict;
	bool is_share, is_count, is_known;
};

struct diff_part_row {
	const char *key, *key_b, *source, *verdict;
	int64_t row_a, row_b;
	uint64_t hit_a, hit_b, cycles_a, cycles_b;
	double per_hit_a, per_hit_b, stall_per_hit_a, stall_per_hit_b, per_launch_a, per_launch_b;
	double change, contribution, noise;
	bool is_beyond;
};

struct gate_row {
	const char *gate, *metric, *kind, *message;
	const char *figures; /* the message without the verdict */
	double value, limit, noise;
	bool is_passed, is_within_noise;
};

struct diff_answer {
	struct diff_evidence evidence;
	const char *by, *per, *verdict;
	struct diff_alignment alignment;
	struct diff_hits hits;
	struct diff_clocks clocks;
	struct diff_noise noise;
	struct diff_stability stability;
	struct rows values; /* diff_value_row */
	uint64_t parts_total;
	struct rows parts; /* diff_part_row */
	struct rows gates; /* gate_row */
	bool has_noise, is_per_launch, is_by_instr, is_aligned_by_line;
	bool is_sampled; /* the noise is the sampling error */
};

extern const struct record diff_evidence_record, diff_part_record, diff_gate_record,
	diff_moved_record;

/* --- the two captures and their repeats, with their accounting --- */

#define DIFF_MAX_REPEATS 16u /* per side; more would add little */

struct diff_sides;
