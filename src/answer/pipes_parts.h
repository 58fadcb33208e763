/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes_parts.h: the parts of answers about pipes: each pipe, who waited for whom, cores, the
 * critical path, the bound.
 * Owner: rows are made in the arena of the answer; lists point into the analyses, which it keeps.
 */
#pragma once

#include "analysis/pipes/pipes.h"
#include "answer/rows.h"
#include "answer/waves_parts.h"

struct pipe_wait_row {
	const char *producer_pipe; /* NULL: not known */
	uint64_t cycles, count, blocked;
	struct str producer_core; /* if it is another core; else NULL */
};

struct pipe_line {
	struct str core;
	const char *pipe;
	uint32_t core_index, lane; /* index in pipes_part.cores; lane within the core */
	struct pipe_row r;
	struct accounting accounting;
	struct rows waits, depth; /* pipe_wait_row, number_item */
	uint64_t critical_path;
	double depth_mean, busy_share, wait_share, idle_share, busy_pct;
};

struct core_line {
	struct str core;
	struct pipe_core k;
	uint64_t begin, span;
	struct rows pipes, overlap; /* text_item, struct rows of number_item */
	double busy_share, compute_share, busy_pct, compute_pct;
	bool is_empty; /* nothing on it is selected */
};

struct pair_row { /* who waited for whom */
	const char *producer_pipe, *consumer_pipe, *cores;
	const char *producer; /* "(unmatched)" if the producer is not known */
	bool is_cross_core;
	uint64_t cycles, count, blocked;
	double per_wait, share_of_wait, share_of_all;
};
extern const struct record pair_record; /* RECORD_LINE */
bool pair_rows(struct answer *a, const struct pipes *p, uint64_t top, struct rows *out,
	struct incore_error *e);

struct path_pipe {
	struct str core;
	const char *pipe;
	uint64_t work, wait, stall, gap;
	double share; /* work as part of the path */
};
struct path_line {
	int64_t row;
	const char *isa, *source;
	uint64_t cycles;
	double share;
};
struct path_part_row { /* the critical path */
	struct pipe_path x;
	uint64_t span;
	struct rows pipes;     /* path_pipe, in the order of the tracks */
	struct rows rows;      /* path_line, at most 20 */
	struct rows by_pipe;   /* path_pipe, in the order in which pipes are shown */
	struct rows every_row; /* path_line */
};

struct pipes_totals {
	uint64_t pipes, cores, instructions, sync_instructions, unmatched_waits;
};
struct pipes_bound {
	const char *kind;
	struct str core;
	const char *pipe;
	double path_share, busy_share;
	const char *sentence;
	const struct code_ref *where; /* NULL: no row is known */
	double where_share;
};
struct pipes_part { /* members of an answer */
	struct pipes_totals totals;
	struct accounting accounting;
	struct bucket_shares accounting_shares;
	int64_t residue;
	struct pipes_bound bound;
	const struct path_part_row *critical_path; /* NULL: not known */
	struct rows pairs;			   /* pair_row */
	struct rows cores;			   /* core_line */
	struct rows pipes;			   /* pipe_line, as many as were asked for */
	/* For drawing. */
	uint32_t n_all;	    /* rows at pipes.v, shown or not */
	uint32_t main_core; /* core of the bound or of the first pipe; UINT32_MAX: none */
	uint64_t span;	    /* of all cores */
	uint64_t top;	    /* rows to show */
};
extern const struct record pipes_part_record, pipe_line_record, core_line_record;
extern const struct record path_pipe_record, path_line_record;
/* Walks the selected pipes; the answer keeps the result, and the walk's notes become warnings. */
bool answer_pipes(struct answer *a, const struct request *r, const struct trace *t,
	const struct selection *s, struct pipes **out, struct incore_error *e);
/* by: order of the pipes; WAVES_SORT_DURATION means the order of the dataflow. */
bool pipes_part_make(struct answer *a, const struct pipes *p, enum wave_sort by, uint64_t top,
	struct pipes_part *out, struct incore_error *e);
/* Makes only the rows of the cores. */
bool core_rows(struct answer *a, const struct pipes *p, struct rows *out, struct incore_error *e);
