/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h: the one-page summary of a capture. Two walks answer all questions at once: the first
 * makes the unions of busy.h, the second feeds every collector. Each figure is made by the analysis
 * that owns it; here they are only combined, the bound is named and changes are advised.
 *
 * Owner: summary_new() .. summary_free(). The trace is borrowed.
 */
#pragma once

#include "analysis/check/check.h"
#include "analysis/code/costs.h"
#include "analysis/code/hot.h"
#include "analysis/code/loops.h"
#include "analysis/code/regions.h"
#include "analysis/code/source_lines.h"
#include "analysis/flow/cfg.h"
#include "analysis/occupancy/limits.h"
#include "analysis/occupancy/occupancy.h"
#include "analysis/waves/causes.h"
#include "analysis/waves/hidden.h"
#include "analysis/waves/matrix.h"
#include "analysis/waves/producers.h"
#include "analysis/waves/utilization.h"
#include "analysis/waves/waves.h"

/* Without repeats, two families closer than this share of all lifetimes are "mixed". */
#define SUMMARY_ASSUMED_NOISE 0.02

struct summary_options {
	const struct walk_options *walk;
	const struct check_context *check; /* may be NULL */
	/* Exposed share of each family in other captures of the same code. */
	const double (*repeats)[FAMILY_COUNT];
	uint32_t n_repeats;
};

struct bound {
	bool has_verdict;
	const char *reason; /* why there is no verdict */
	enum cause_family family, second;
	uint64_t exposed_cyc, hidden_cyc, second_exposed_cyc;
	double share;	    /* exposed_cyc as a share of all lifetimes, 0..1 */
	bool is_mixed;	    /* the first two differ by less than the noise */
	double noise;	    /* share of all lifetimes */
	uint32_t n_repeats; /* repeats the noise was measured on; 0: assumed */
	uint32_t cause;	    /* the family's largest by exposed cycles: index into causes->v */
	code_idx where;	    /* row with most exposed cycles of the cause, or NO_CODE */
	uint64_t where_exposed_cyc;
	code_idx producer; /* what that row waited for most; NO_CODE: unknown */
};

struct summary_row {   /* an instruction or a source line */
	code_idx code; /* its costliest row */
	uint32_t line; /* into lines.lines; UINT32_MAX for an instruction */
	/* Sampled data: hits and cycles are samples, lost_cyc and exposed_cyc stalled samples. */
	uint64_t hits, cycles, lost_cyc, exposed_cyc;
};

struct summary {
	struct arena arena;
	const struct trace *trace;
	struct check *check;
	struct busy *busy;
	struct waves *waves;
	struct hidden *hidden;
	struct causes *causes;
	struct utilization *utilization;
	struct producers *producers;
	struct hot *hot;
	struct cfg cfg;
	struct loops *loops;
	struct matrix *matrix;
	struct costs *costs; /* NULL: no waves of instructions with kinds */
	struct occupancy occupancy;
	struct limits limits;
	struct source_lines lines;
	struct region *regions; /* of the code, if source lines are of no use */
	uint32_t n_regions;
	struct walk_result walk;
	bool has_cfg, has_occupancy, has_lines;
	bool is_sampled; /* cycles are samples x period, and no wave was followed */

	const char *sentence; /* the verdict */
	struct bound bound;
	struct summary_row *rows; /* instructions, descending by exposed lost cycles, then row */
	uint32_t n_rows;
	struct summary_row *line_rows; /* source lines, in the same order */
	uint32_t n_line_rows;
	uint64_t duration_cyc; /* sum over all waves looked at */
	const char *coverage;  /* one line */
	const char *health;    /* one line */
};

struct summary *summary_new(
	const struct trace *t, const struct summary_options *o, struct incore_error *e);
void summary_free(struct summary *s);
/* Latency of one execution, mean over all; NaN where nothing was executed. */
double summary_per_execution(const struct hot *h);
/* Exposed share of each family of another capture, for summary_options.repeats, and the latency of
 * one execution there; NaN where nothing was executed. */
bool summary_repeat(const struct trace *t, const struct walk_options *o, double share[FAMILY_COUNT],
	double *per_execution, struct incore_error *e);

/* What a row's accesses take divided by what the best layout would need; 0: not much more than
 * that. */
#define SUMMARY_SECTORS "memory_l2_theoretical_sectors_global"
#define SUMMARY_WAVEFRONTS "memory_l1_wavefronts_shared"
double summary_excess(const struct trace *t, const char *name, code_idx row);
/* Active lanes on average, of SUMMARY_LANES; 0: enough. *split: the row where lanes diverge most,
 * or NO_CODE. */
#define SUMMARY_LANES 32
double summary_few_lanes(const struct trace *t, code_idx *split);
/* Fills rows (at most `most`) with those that run with few active lanes; returns their number. */
uint32_t summary_few_lanes_rows(const struct trace *t, code_idx *rows, uint32_t most);
/* The edge with most cycles into a wait row, or NULL. */
const struct producer_edge *summary_edge_of(const struct summary *s, code_idx wait);
/* The innermost source line of a row as one number; 0 if it has none. */
uint64_t summary_line_key(const struct trace *t, code_idx code);
