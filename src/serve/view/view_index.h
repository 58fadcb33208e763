/* SPDX-License-Identifier: Apache-2.0 */
/* view_index.h: private to the answers: the data that view_need() builds. */
#pragma once

#include "analysis/pipes/pipe_sweep.h"
#include "serve/view/view.h"

struct split_sums {
	struct lane_split *splits; /* by lane */
	void *sums;
	uint8_t *keys; /* cause: keys of all slices */
};

struct pipe_pieces {		/* for traces of pipes: every cycle of a pipe once, as in `waves` */
	struct columns columns; /* a slice is a piece */
	struct split_sums bucket, cause;
	void **chunks;
	uint32_t n_chunks;
	bool is_made;
};

struct code_sum { /* of a code row; the last one is for unknown code */
	uint64_t hits, cyc, sum_cyc;
	track_idx track; /* of its first execution, if there are hits */
	uint32_t slice;
};

struct machine { /* all waves, by wave slot; view_machine.c */
	uint32_t n_rows, n_waves;
	uint32_t n_stray, n_open; /* ends without a start, starts without an end */
	struct machine_row {
		uint64_t place;	   /* SE, CU, SIMD, slot: 16 bits each */
		uint32_t first, n; /* into waves */
		bool is_traced;
	} * rows; /* by place */
	struct machine_wave {
		uint64_t begin, end; /* of the screen; end: UINT64_MAX if it is not known */
		uint32_t kernel_id;  /* or UINT32_MAX */
	} * waves;		     /* by row, then by time */
};

struct view_index {
	unsigned has;		   /* enum view_need; atomic */
	struct code_sum *code;	   /* n_code + 1 */
	struct wait_tables *waits; /* who waits for what; with NEED_WAITS */
	struct split_sums bucket, cause, diff;
	struct machine *machine;      /* with NEED_MACHINE */
	struct pipe_pieces pieces;    /* with NEED_BUCKET or NEED_CAUSE, of pipes */
	const struct view *diff_base; /* what diff compares with */
};

/* Builds the sums of all lanes for splits whose keys are set. */
bool split_sums_build(struct split_sums *s, const struct columns *c);
enum { DIFF_SAME, DIFF_WORSE, DIFF_BETTER, DIFF_ONLY_HERE };
/* diff_sums.c */
bool diff_sums_make(struct view *v, const struct view *base, struct incore_error *e);
/* diff_fill.c: makes the sums from given keys of code rows (n_code + 1, the last for unknown
 * code). */
bool diff_sums_fill(
	struct view *v, const struct view *base, const uint8_t *row_keys, struct incore_error *e);
void diff_sums_drop(struct view *v);
/* view_machine.c */
bool machine_make(struct view *v, struct incore_error *e);
void machine_free(struct view *v);
/* cause_sums.c; needs the wait tables */
void split_sums_free(struct split_sums *s);
/* pipe_pieces.c */
bool pipe_pieces_make(struct view *v, struct incore_error *e);
void pipe_pieces_free(struct pipe_pieces *x);
/* Calls fn for the pieces of one pipe with their slices; d: the whole track, from
 * view_track_load(). */
bool pipe_pieces_of(const struct view *v, track_idx track, const struct track_data *d,
	pipe_piece_fn fn, void *ctx, struct incore_error *e);
