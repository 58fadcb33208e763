/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes_parts.h: what answers say of pipes: each pipe, who waited for whom, cores, the critical
 * path, the bound.
 * Owner: rows are made in the arena of the answer; lists stand in the analyses, which it keeps.
 */
#pragma once

#include "analysis/pipes/pipes.h"
#include "answer/rows.h"
#include "answer/waves_parts.h"

struct pipe_wait_row {
	const char *producer_pipe; /* NULL: nobody known */
	uint64_t cycles, count, blocked;
	struct str producer_core; /* of another core, else NULL */
};

struct pipe_line {
	struct str core;
	const char *pipe;
	uint32_t core_index, lane; /* in pipes_part.cores, in its core */
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
	bool is_empty; /* nothing of it is selected */
};

struct pair_row { /* who waited for whom */
	const char *producer_pipe, *consumer_pipe, *cores;
	const char *producer; /* "(unmatched)" where nobody is known */
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
	double share; /* of the path: work */
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
	struct rows by_pipe;   /* path_pipe, in the order that pipes are shown */
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
	/* For those who draw. */
	uint32_t n_all;	    /* rows that stand at pipes.v */
	uint32_t main_core; /* which the bound or the first pipe is in; UINT32_MAX: none */
	uint64_t span;	    /* of all cores */
	uint64_t top;	    /* rows to show */
};
extern const struct record pipes_part_record, pipe_line_record, core_line_record;
extern const struct record path_pipe_record, path_line_record;
/* Walks the selected pipes; the answer keeps what was found, and the walk's notes are warnings. */
bool answer_pipes(struct answer *a, const struct request *r, const struct trace *t,
	const struct selection *s, struct pipes **out, struct incore_error *e);
/* by: order of the pipes; in that of the dataflow by WAVES_SORT_DURATION. */
bool pipes_part_make(struct answer *a, const struct pipes *p, enum wave_sort by, uint64_t top,
	struct pipes_part *out, struct incore_error *e);
/* The cores alone. */
bool core_rows(struct answer *a, const struct pipes *p, struct rows *out, struct incore_error *e);
