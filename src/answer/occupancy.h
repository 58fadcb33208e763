/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.h: how full the machine was: parameters, and the answer of answer/occupancy.c. */
#pragma once

#include "analysis/occupancy/occupancy.h"
#include "answer/limits.h"
#include "answer/pipes_parts.h"

enum occupancy_by { BY_SE, BY_CU, BY_SIMD, BY_KERNEL, BY_TIME };

struct occupancy_params {
	unsigned by;	 /* enum occupancy_by: the table that is drawn */
	uint64_t bins;	 /* parts of the span */
	unsigned series; /* enum occupancy_series */
};

struct stats_line {
	struct occupancy_stats s;
	double mean_while_busy;
	double mean;	 /* waves, averaged over the span of all */
	double busy_pct; /* of that span */
};

struct coverage {
	uint64_t traced_waves, resident_waves, launched_waves; /* launched 0: unknown */
	double traced_share;
	uint32_t ses;
	int64_t target_cu;
	double clock_mhz;
	const char *sentence;
};

struct occupancy_all {
	struct stats_line stats;
	uint64_t span, peak_per_simd, below_half_peak, tail;
	double span_us, mean_waves, below_half_peak_share, starts_per_kilocycle, cu_balance;
	bool is_aligned;
	const char *source;
};

struct se_line {
	struct occupancy_se u;
	struct stats_line stats;
};
struct cu_line {
	struct occupancy_cu u;
	struct stats_line stats;
	struct rows waves;  /* double: over time; NULL: not asked for */
	double busiest_pct; /* of the busiest CU */
};
struct simd_line {
	struct occupancy_simd u;
	struct stats_line stats;
	struct rows waves;
};
struct kernel_line {
	struct occupancy_kernel u;
	struct stats_line stats;
};

struct dispatch_line {
	int64_t cycle, since; /* aligned; after the first event */
	uint32_t se;
	struct dispatch_event d;
	struct rows threads; /* int64_t */
};

struct series_line {
	int64_t from, to; /* after the first event */
	double mean_waves;
	struct rows by_se; /* double */
};

struct occupancy_answer {
	const char *evidence, *kernel, *arch;
	struct coverage coverage;
	struct trace_launch launch;
	struct occupancy_all all;
	struct rows ses, cus, simds, kernels; /* se_line, cu_line, simd_line, kernel_line */
	struct rows kernel_ids;		      /* struct occupancy_kernel_id */
	struct rows dispatches;		      /* dispatch_line */
	struct rows hardware_events;	      /* name_count */
	struct rows series;		      /* series_line */
	struct limits_part limits;
	/* For drawing. */
	enum occupancy_by by;
	uint64_t top; /* rows to show */
};

struct occupancy_of_pipes { /* the answer for a trace of pipes */
	const char *evidence, *kernel, *arch;
	struct rows cores, tables; /* core_line, producer_table */
	uint64_t n_pipes, top;	   /* pipes looked at; rows to show */
};

extern const struct record occupancy_record, occupancy_of_pipes_record;
extern const struct record se_record, cu_record, simd_record, kernel_line_record, dispatch_record;
