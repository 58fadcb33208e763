/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_parts.h: the parts of the summary about causes, about latency that other waves hide,
 * about how busy the pipes of a SIMD were, and about its matrix pipe.
 * Owner: rows are made in the arena of the answer; names point into the analyses, which it keeps.
 */
#pragma once

#include "analysis/waves/causes.h"
#include "analysis/waves/hidden.h"
#include "analysis/waves/matrix.h"
#include "analysis/waves/utilization.h"
#include "answer/rows.h"

struct summary_cause {
	const char *cause, *bucket, *family;
	uint64_t cycles, hidden, exposed; /* the last two NO_U64 if not a loss */
	uint64_t hits, free_hits, free_cycles;
};
extern const struct record summary_cause_record; /* RECORD_LINE */

struct family_sums {
	uint64_t cycles, hidden, exposed;
	double share, lifetime_share;
};
struct family_row {
	const char *family;
	struct family_sums sums;
};
extern const struct record family_record; /* entry of a map */

struct hidden_line {
	uint64_t total, hidden, exposed, other_simd; /* the last NO_U64: not stated */
};
struct hidden_part {
	struct hidden_line stall, wait, idle, drain, lost, recorded_stall;
};
extern const struct record hidden_record;

struct pipe_cycles {
	uint64_t cyc[PIPE_COUNT];
	uint64_t idle;
};
struct pipe_shares {
	double of[PIPE_ANY + 1], idle; /* by enum pipe */
};
struct simd_place {
	uint32_t se, cu, simd;
};
struct utilization_row {
	struct simd_place place;
	struct pipe_cycles cycles;
	struct pipe_shares shares;
};
extern const struct record pipe_cycles_record, pipe_shares_record, utilization_record;

struct matrix_row {
	struct simd_place place;
	uint64_t pipe_cycles;
	double pipe_share;
};
struct matrix_model {
	const char *evidence;
	struct matrix m;
	double pipe_share;
	struct rows by_simd; /* matrix_row */
};
struct matrix_part {
	struct matrix m;
	double issue_share;
	struct matrix_model modelled;
};
extern const struct record matrix_record;
