/* SPDX-License-Identifier: Apache-2.0 */
/* isa.h: the code with its costs: parameters, and the answer of answer/isa.c. */
#pragma once

#include "analysis/code/listing.h"
#include "analysis/counters/levels.h"
#include "answer/hot.h"
#include "answer/loops.h"

struct isa_params {
	const char *range;	  /* rows by their numbers; NULL: all */
	uint64_t around, context; /* or one row and its neighbours; NO_COUNT: not given */
	bool executed;		  /* only rows that ran */
	bool ascii;		  /* draw arrows in ASCII */
	bool levels;		  /* also the latency measured by level counters */
	unsigned per;		  /* as in hot_params */
};

struct wave_spread { /* mean cycles of one execution, over the waves */
	uint64_t n;  /* 0: all agree, or fewer than two ran the row */
	double min, mean, max, deviation;
	const char *slowest;
};

struct isa_row {
	struct hot_row h;
	uint32_t loop_depth, index;
	int64_t code_object; /* number in the capture; NO_VALUE: not numbered */
	struct rows frames;  /* struct frame */
	struct distribution execution, execution_stall;
	struct wave_spread waves;
	const struct level_row *levels;	  /* NULL: not asked for, or not known */
	double load_to_wait;		  /* median, with levels only; needs no counter */
	const struct code_totals *stated; /* NULL: nothing but the computed totals */
	const struct live_row *live;	  /* NULL: not known */
	uint32_t block;			  /* NO_BLOCK: none */
	double per_hit;
	int64_t target, waits_for; /* rows; NO_VALUE: none */
	uint64_t samples, stalled; /* may be 0, unlike those in h */
	double weight_pct;	   /* share of all latency or of all samples */
};
struct label_row {
	int64_t row;
	uint64_t address;
	const char *text;
	uint32_t index;
};
struct isa_edge {
	struct edge_row e;
	bool dominating; /* it has most of the wait's cycles */
};
struct wait_line {
	int64_t wait, producer, loop; /* rows; loop: row of its header, NO_VALUE: in no loop */
	struct wait_pair p;
};
struct branch_row {
	int64_t row, target;
	uint64_t taken, not_taken;
};
struct block_sums {
	uint64_t hit, latency, samples;
	struct bucket_sums buckets;
	uint64_t cycles;
	double cycles_per_wave;
};
struct block_row {
	int64_t first_row, last_row, loop; /* loop NO_VALUE: in no loop */
	uint32_t rows;
	uint64_t executions;
	struct block_sums sums;
	double per_execution;
};
struct body_row {
	int64_t header_row;
	struct block_sums sums;
	double per_execution;
};
struct latency_line {
	const char *opcode, *counter;
	struct latency_row l;
};

struct isa_answer {
	const char *evidence, *per;
	const char *levels_from; /* NULL: not asked for, or no counters */
	struct hot_totals totals;
	const struct hot_accounting *accounting;
	int64_t hottest_row;  /* NO_VALUE: nothing ran */
	struct rows sources;  /* struct source_file */
	struct rows labels;   /* label_row */
	struct rows rows;     /* isa_row */
	struct rows edges;    /* isa_edge */
	struct rows waits;    /* wait_line */
	struct rows branches; /* branch_row */
	struct rows loops;    /* loop_row */
	struct rows blocks;   /* block_row */
	struct rows bodies;   /* body_row */
	struct rows latency;  /* latency_line */
	/* For drawing, which needs the graph. */
	const struct listing *listing;
	const struct level_row *levels; /* by code_idx, or NULL */
	const uint8_t *shown;		/* by code_idx */
	bool is_ascii;
};
extern const struct record isa_record, isa_row_record;
