/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.h: reads what kernels recorded about themselves with incore/cuda.h, see incore-scopes(7):
 * a line of JSON, then for each warp its record and its events. The file is indexed once; a
 * track's slices are made from its events on demand. Data goes to the trace's arena. Threads:
 * read-only once loaded.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "import/import.h"

#define SCOPE_MOST_NAMES 4096u
#define SCOPE_MOST_DEPTH 64u
#define SCOPE_MOST_ROWS 65536u
#define SCOPE_RECORD_BYTES 64u
#define SCOPE_EVENT_BYTES 16u

enum scope_kind { /* as in incore/cuda.h, and in files */
	SCOPE_WORK,
	SCOPE_WAITING,
	SCOPE_COPY,
	SCOPE_MATRIX,
	SCOPE_STORE,
	SCOPE_END,
	SCOPE_INSTANT,
	SCOPE_VALUE,
};

struct scope_head { /* the first line */
	const char *kernel, *device;
	uint32_t arch, sms, clock_khz, n_warps, n_lost_warps, ring;
	uint32_t grid[3], block[3];
	const char **names;
	uint32_t n_names;
};

struct scope_event {
	uint64_t clock; /* of the SM, all 64 bits */
	enum scope_kind kind;
	uint32_t name, value;
};

struct scope_warp {
	uint32_t sm, slot, block, warp;
	uint64_t begin_clock, begin_ns, end_clock, end_ns;
	uint32_t n_events, n_kept; /* in total; in the file */
	uint64_t at;		   /* offset of its record in the file */
	uint32_t run;		   /* number of the run in its slot */
	uint32_t n_slices;	   /* counted while collecting rows */
};

/* A code row is a scope inside its outer scopes: (row of the outer scope, name, kind). */
struct scope_row {
	uint32_t outer, name;
	enum scope_kind kind;
};
struct scope_rows {
	struct u64_map index; /* key -> row + 1 */
	VEC(struct scope_row) v;
};
#define NO_SCOPE UINT32_MAX

struct scope_file { /* trace.loader_ctx, in the trace's arena */
	struct file_data file;
	const char *path;
	struct scope_head head;
	struct scope_warp *warps; /* in the order of the tracks */
	int64_t *offset_cyc;	  /* by SM: offset from its clock to the time of the trace */
	uint32_t n_sms;		  /* of offset_cyc */
	struct u64_map rows;	  /* as scope_rows.index; owned by the file */
};

/* --- scopes_head.c --- */
bool scopes_read_head(struct scope_file *f, struct trace *t, size_t *end, struct incore_error *e);

/* --- scopes_walk.c --- */

/* An interval in which one scope is the innermost; an instant has length 0. */
typedef bool (*scope_piece_fn)(void *ctx, uint32_t row, uint64_t from, uint64_t to);
struct scope_walk {
	scope_piece_fn piece;
	bool (*value)(void *ctx, const struct scope_event *x); /* or NULL */
	/* The row of a scope inside another (NO_SCOPE: none); NO_SCOPE: out of memory, or too many
	 * rows. */
	uint32_t (*row)(void *ctx, uint32_t outer, const struct scope_event *x);
	void *ctx;
	uint32_t n_cut;	 /* ends without a begin: lost by the ring, or never recorded */
	uint32_t n_open; /* scopes still open when the warp ended */
	uint32_t n_back; /* events earlier than their predecessor */
	uint32_t n_deep; /* scopes nested too deep: their time counts for the outer one */
};
bool scopes_walk_warp(const struct scope_file *f, const struct scope_warp *k, struct scope_walk *w);
uint64_t scope_key(uint32_t outer, const struct scope_event *x);

/* --- scopes_clock.c --- */

/* Finds the frequency of the SMs and the offsets of their clocks, from the timer that they
 * share. */
bool scopes_align(struct scope_file *f, struct trace *t, struct incore_error *e);

/* --- scopes_tracks.c --- */

/* Builds rows, tracks and values in one pass over the events. */
bool scopes_build(struct scope_file *f, struct trace *t, struct incore_error *e);
