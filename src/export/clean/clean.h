/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean.h: a simulator's trace made readable. What a run holds (as JSON text, or as a trace)
 * becomes one list of slices on lanes, is laid out on rows without overlap, gets arrows for its
 * flags, and is written as Chrome trace events, metrics per instruction and a summary.
 *
 * Text in, text out: names, arguments and times are copied as they stand wherever they were sound.
 * The `legacy` form has the events of the older cleaner, faults of its layout apart.
 * Owner: clean_deinit() frees all; the input bytes are borrowed and must live as long. One thread.
 */
#ifndef EXPORT_CLEAN_CLEAN_H
#define EXPORT_CLEAN_CLEAN_H

#include "base/arena.h"
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
	bool is_mapped;	  /* the input bytes are a mapped file: pages are given back when read */
	struct progress *progress;
};

struct clean {
	struct clean_options options;
	struct arena arena;
	struct intern lane_keys, sync_keys;
	VEC(struct clean_lane) lanes; /* index = 2 * key + is_wait */
	VEC(struct clean_slice) slices;
	VEC(struct clean_head) heads; /* by rising slice */
	VEC(struct clean_sync) syncs;
	VEC(struct clean_key) keys;
	VEC(struct clean_arrow) arrows;
	VEC(struct clean_wait) waits;
	VEC(struct clean_event) counters;
	VEC(struct clean_span) span_pool;
	struct str profiling_type, schema_version, time_unit; /* raw JSON or empty */
	const char *time_name; /* "us", or "cycles" when 1 us shown = 1000 cycles */
	double ticks_per_unit; /* shown / unit of ts: 1, or 0.001 for cycles */
	bool is_per_core;      /* integer pids: this text is not for us, read it as a trace */
	/* losses, by reason */
	uint64_t n_no_time, n_bad_time, n_no_lane, n_bad_event, n_unknown_phase, n_open;
	uint64_t n_heads_left, n_cleaned, n_clipped;
	uint64_t n_unmatched_sets, n_unmatched_waits, n_hidden_arrows, n_no_anchor;
	struct strbuf unmatched; /* the first few, named */
	bool is_bare_array;
	uint64_t n_events;
};

void clean_init(struct clean *c, const struct clean_options *o);
void clean_deinit(struct clean *c);

/* Adds the events of one JSON text; offset is where it stands in the file `path`, for messages. */
bool clean_read_json(struct clean *c, struct str text, const char *path, uint64_t offset,
	struct incore_error *e);
/* Adds a trace of pipes. */
bool clean_read_trace(struct clean *c, const struct trace *t, struct incore_error *e);

/* Rows, arrows, sums. */
bool clean_layout(struct clean *c, struct incore_error *e);
bool clean_link(struct clean *c, struct incore_error *e);

/* Busy time and exposed waits of every kept pipe, by the accounting of all verbs (pipe_sweep.h).
 * partner: by sync, the lane of a WAIT's SET. */
bool clean_sum_pipes(struct clean *c, const uint32_t *partner, struct incore_error *e);

#define CLEAN_MAX_NAME 255 /* bytes of a pid or tid; no real one is longer */

/* For readers: the lane of (pid, pipe), made on first sight; its sync lane is the next. No name is
 * longer than CLEAN_MAX_NAME. UINT32_MAX: no memory. */
uint32_t clean_lane_of(struct clean *c, struct str pid, struct str pid_raw, struct str pipe);

#endif
