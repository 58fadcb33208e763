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

#include "analysis/pipes/clean.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/vec.h"
#include "trace/trace.h"

struct clean_options {
	bool is_legacy;
	bool keep_scalar; /* lane SCALAR */
	bool keep_all;	  /* SCALAR, FLOWCTRL, CACHEMISS, ALL */
	struct progress *progress;
};

/* One slice. */
struct clean_slice {
	uint64_t at; /* its event in the text; without a text its row in clean.rows */
	double ts, dur;
	uint32_t lane;
	uint8_t kind; /* enum pipe_kind; not used for work */
	bool is_cut;  /* dur differs from the text: print it */
};

struct clean_row { /* of a code row: name and arguments as JSON, one after the other */
	const char *p;
	uint32_t name_len, args_len;
};

/* A pipe of a core, or the synchronisation of that pipe. */
struct clean_lane {
	struct str pid;
	struct str pipe;
	uint32_t group; /* shared by lanes of one pid; in string order of pids */
	bool is_wait;	/* holds flags, barriers, locks */
	bool is_kept;
	uint32_t order;	 /* of the pipe in the dataflow */
	uint64_t n;	 /* slices read, kept or not */
	uint32_t n_rows; /* after layout */
	uint32_t first_tid;
	struct clean_span *spans; /* sorted, after layout; n_spans of them */
	size_t n_spans;
	struct clean_lane_sum sum;
	double busy; /* union of the pipe's instructions; for a sync lane: exposed waits */
};

struct clean_head { /* waiting times of an instruction before it began */
	uint32_t slice;
	double cache, ccu;
};

struct clean_sync { /* one end of a flag */
	double begin, end;
	uint64_t id; /* the same for partners */
	uint32_t lane, key, slice;
	uint32_t number; /* in the order of the input */
	bool is_set;
};

struct clean_key { /* parts of a flag's detail */
	struct str pipe, trigger, flag;
};

#define CLEAN_NO_SLICE UINT32_MAX
#define CLEAN_NO_LANE UINT32_MAX

struct clean_arrow {
	uint32_t from, to; /* slices */
	uint32_t key;
	uint32_t number; /* of its SET */
};

/* Producers of a wait that are not lanes. */
#define CLEAN_BY_NOBODY UINT32_MAX
#define CLEAN_BY_BARRIER (UINT32_MAX - 1)
#define CLEAN_BY_BUFFER (UINT32_MAX - 2)

struct clean_wait {	   /* sum over the waits of one pipe for another */
	uint32_t lane;	   /* the waiting (sync) lane */
	uint32_t producer; /* lane of the SET, or CLEAN_BY_... */
	double exposed;
	uint64_t n;
};

struct clean_event { /* a counter sample, which is copied */
	uint64_t at;
	double ts;
	uint32_t lane;
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

/* < 0: lane x is shown before lane y. After clean_layout(). */
int clean_compare_lanes(const struct clean *c, uint32_t x, uint32_t y);
