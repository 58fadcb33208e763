/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean.h: a simulator's trace made readable. The slices of a trace of pipes become one list on
 * lanes, are laid out on rows without overlap, get arrows for their flags, and are written as
 * Chrome trace events, metrics per instruction and a summary.
 *
 * If the trace has the text it was read from (trace_text.h), names, arguments and times are copied
 * verbatim, in its order; otherwise times are cycles. The `legacy` form has the same events as the
 * older cleaner, without its layout errors: arrows are matched by the operands of flags.
 * Owner: clean_deinit() frees all; the bytes of the text are borrowed and must live as long. One
 * thread.
 */
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/vec.h"
#include "export/clean/clean_records.h"
#include "trace/trace.h"

struct clean_options {
	bool is_legacy;
	bool keep_scalar; /* lane SCALAR */
	bool keep_all;	  /* SCALAR, FLOWCTRL, CACHEMISS, ALL */
	struct progress *progress;
};

struct clean {
	struct clean_options options;
	const struct file_data *file; /* the text; NULL: no text, or not needed */
	struct arena arena;
	struct intern lane_keys, sync_keys;
	VEC(struct clean_lane) lanes; /* index = 2 * key + is_wait */
	VEC(struct clean_slice) slices;
	uint32_t *row_of;	      /* by slice: its row on its lane; set by layout */
	struct clean_row *rows;	      /* by code row */
	VEC(struct clean_head) heads; /* in ascending order of slice */
	VEC(struct clean_sync) syncs;
	VEC(struct clean_key) keys;
	VEC(struct clean_arrow) arrows;
	VEC(struct clean_wait) waits;
	VEC(struct clean_event) counters;
	VEC(struct clean_span) span_pool;
	const char *profiling_type; /* NULL: not given */
	int64_t schema_version;	    /* -1: not given */
	bool is_text;		    /* slices are in the text, times are its microseconds */
	const char *time_name;	    /* "us", or "cycles" when 1 us shown = 1000 cycles */
	double ticks_per_unit;	    /* shown / unit of ts: 1, or 0.001 for cycles */
	uint64_t n_heads_left, n_clipped;
	uint64_t n_unmatched_sets, n_unmatched_waits, n_hidden_arrows, n_no_anchor;
	uint64_t n_moved_samples; /* counter samples moved away from time 0 */
	struct strbuf unmatched;  /* names of the first few unmatched flags */
	uint64_t n_events;
};

void clean_init(struct clean *c, const struct clean_options *o);
void clean_deinit(struct clean *c);

/* Takes the slices of a trace of pipes; file: the file with its text, or NULL. */
bool clean_read_trace(struct clean *c, const struct trace *t, const struct file_data *file,
	struct incore_error *e);

/* Assign rows and sum up lanes; make the arrows. */
bool clean_layout(struct clean *c, struct incore_error *e);
bool clean_link(struct clean *c, struct incore_error *e);

/* Computes busy time and exposed waits of every kept pipe, by the same accounting as the verbs
 * (pipe_sweep.h). partner: by sync, the lane of a WAIT's SET. */
bool clean_sum_pipes(struct clean *c, const uint32_t *partner, struct incore_error *e);

/* The lane of (pid, pipe), created on first use; the next one is its sync lane. UINT32_MAX: no
 * memory. */
uint32_t clean_lane_of(struct clean *c, struct str pid, struct str pipe);
/* Finds the lane of (pid, pipe); UINT32_MAX: it does not exist. */
uint32_t clean_find_lane(const struct clean *c, struct str pid, struct str pipe);
/* < 0: lane x is shown before lane y. After clean_layout(). */
int clean_compare_lanes(const struct clean *c, uint32_t x, uint32_t y);
