/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h: the one-page verdict: one answer for traces of waves, another for traces of pipes.
 */
#pragma once

#include "answer/siblings.h"

#include "analysis/summary/summary.h"
#include "answer/advise.h"
#include "answer/check.h"
#include "answer/hot.h"
#include "answer/limits.h"
#include "answer/loops.h"
#include "answer/summary_parts.h"
#include "answer/verdict/verdict.h"
#include "answer/waves_parts.h"

struct summary_bound {
	struct bound b;
	const char *family, *second_family, *noise_source, *cause;
	uint64_t of;				 /* cycles of all waves */
	const struct code_ref *where, *producer; /* NULL: none */
};

struct summary_clocks {
	double clock_mhz;
	const char *source;
	int64_t max_clock_mhz;
	struct rows domains; /* struct clock_domain */
};

struct viewer_pie { /* sums of the recorded columns, as the vendor's viewer makes them */
	uint64_t idle, stall, issue;
};

struct class_row {
	const char *class;
	struct code_totals totals;
	struct bucket_sums buckets;
};

struct summary_producers {
	struct producer_sums sums;
	struct rows edges; /* edge_row */
};

struct summary_line {	  /* an instruction or a source line */
	const char *line; /* of a line */
	const struct code_ref *at;
	uint64_t hit, cycles, lost, exposed;
	const char *cause; /* NULL: none */
};

struct summary_occupancy {
	uint64_t peak_per_simd, peak, span, tail;
	double mean, below_half_peak, cu_balance;
	bool is_from_waves;
	struct limits_part limits;
};

struct summary_answer {
	const char *evidence, *verdict;
	struct verdict_screen screen;
	struct summary_bound bound;
	struct trace_meta provenance;
	struct check_part health;
	const char *health_line, *coverage;
	struct summary_clocks clocks;
	uint64_t waves, instructions;
	struct accounting accounting;
	struct bucket_shares accounting_shares;
	int64_t residue;
	struct viewer_pie viewer_pie;
	struct states_wave states;
	struct hidden_part hidden;
	struct pipe_cycles utilization;
	struct pipe_shares utilization_shares;
	struct rows utilization_by_simd; /* utilization_row */
	struct matrix_part matrix;
	struct rows classes;  /* class_row */
	struct rows causes;   /* summary_cause */
	struct rows families; /* family_row */
	struct summary_producers producers;
	struct rows rows, lines; /* summary_line */
	struct source_quality source;
	struct rows legacy_stall_by_type; /* name_count */
	struct rows regions;		  /* region_row; v NULL: source lines suffice */
	struct rows loops;		  /* loop_row */
	struct duration_stats duration;
	struct rows clusters; /* cluster_row */
	struct barriers_part barriers;
	struct summary_occupancy occupancy;
	const struct repeats_row *repeats; /* NULL: none beside it */
	struct rows costs;		   /* cost_row */
	struct rows advice;		   /* advice_row */
	/* What only followed waves have; NULL: none was. */
	const struct viewer_pie *pie;
	const struct states_wave *wave_states;
	const struct pipe_cycles *pipes;
	const struct pipe_shares *pipe_shares;
	const struct matrix_part *matrix_pipes;
	const struct duration_stats *lifetimes;
	const struct barriers_part *meetings;
	/* For drawing. */
	uint64_t top;
	uint64_t lost;		  /* of all rows */
	bool has_rows, has_edges; /* set even if top is 0 */
	bool has_source, has_samples;
};

struct summary_pipes {
	const char *evidence, *verdict, *health;
	struct verdict_screen screen;
	struct pipes_part pipes;
	struct rows rows; /* hot_row */
	struct source_quality source;
	struct rows tables;   /* producer_table */
	struct rows findings; /* finding_row */
	struct rows advice;   /* advice_row */
	bool has_rows;	      /* set even if top is 0 */
};
extern const struct record summary_pipes_record;
