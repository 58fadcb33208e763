/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h: converts a trace to another file format. One export_ops per format; registry.c has the
 * only list. The driver walks tracks in order (slices by time, states, links; or links first) and
 * reports what the format cannot hold: `lost` and `truncated` may not be NULL, so that no loss is
 * forgotten. One track is in memory at a time. */
#pragma once

#include <stdio.h>

#include "analysis/walk.h"
#include "base/file.h"
#include "trace/trace.h"

enum export_holds {
	EXPORT_SLICES = 1,
	EXPORT_STATES = 2,
	EXPORT_LINKS = 4, /* wait -> producer, flags */
	EXPORT_COUNTERS = 8,
	EXPORT_CYCLES = 16, /* exact integer cycles */
	EXPORT_STALLS = 32, /* the stall part of a slice */
	EXPORT_NOTES = 64,
	EXPORT_OCCUPANCY = 128,
	EXPORT_CODE = 256,	  /* the static instruction table */
	EXPORT_TRACK_LINKS = 512, /* links from track to track */
	EXPORT_SAMPLES = 1024,	  /* PC samples of the instructions */
};

struct export_track {
	track_idx index;
	const struct track *track;
	const struct track_data *data;
	int64_t begin_cyc, end_cyc; /* trace clock, relative to the export's origin */
	int64_t from_cyc, to_cyc;   /* begin and end clipped to the window */
};

struct export_slice {
	track_idx track;
	uint32_t index;	   /* in its track */
	int64_t start_cyc; /* trace clock, relative to the export's origin */
	uint32_t dur_cyc, stall_cyc;
	code_idx code;
	uint8_t inst_class, tag;
	/* The part that account.h attributes to this slice alone: start of stall, of issue, end. */
	int64_t own_cyc, own_issue_cyc, own_end_cyc;
};

struct export_state { /* clipped to the selected window */
	track_idx track;
	int64_t start_cyc;
	uint64_t dur_cyc;
	uint8_t state; /* enum wave_state */
};

struct export_link { /* e.g. producer -> wait */
	track_idx from_track, to_track;
	uint32_t from_slice, to_slice;
	int64_t from_cyc, to_cyc; /* where an arrow starts and ends */
	const char *kind;	  /* "wait", "flag", ... */
	uint64_t id;
};

struct export_sample {
	const struct counter_series *series;
	int64_t time_cyc;
	uint64_t value;
};

enum export_weight { WEIGHT_CYCLES, WEIGHT_LOST, WEIGHT_EXPOSED }; /* lost: all except issue */

struct export_options {
	struct walk_options walk;  /* selection and progress */
	bool is_real_time;	   /* microseconds by the measured clock (takes_time) */
	bool is_strict;		   /* an unreadable track is an error: write nothing */
	enum export_weight weight; /* for formats with takes_weight */
	bool no_sources;	   /* leaves out the text of sources (insight) */
};

#define EXPORT_MAX_CUTS 16

struct export_result {
	struct arena arena;
	uint32_t n_tracks, n_failed;
	uint64_t n_slices, n_states, n_links, n_samples;
	struct note cuts[EXPORT_MAX_CUTS]; /* left out: code says what, message why */
	uint32_t n_cuts;
	struct note *notes; /* one per track that could not be read, at most WALK_MAX_NOTES */
	uint32_t n_notes;
	uint64_t bytes;	    /* of all files, if a format writes a directory */
	const char *advice; /* hint of the writer for the user, or NULL */
};
void export_result_deinit(struct export_result *r);

struct export
{
	const struct trace *trace;
	const struct export_ops *ops;
	struct out_file file; /* for formats of one file */
	const char *path;     /* target, as given */
	int64_t origin_cyc;   /* aligned time that becomes 0 */
	const struct export_options *options;
	struct export_result *result;
	void *state; /* the writer's own */
};

struct export_ops {
	const char *name, *suffix, *media_type; /* name: the word after export --to */
	const char *summary;
	unsigned holds; /* enum export_holds */
	/* The writer makes a directory itself: no x->file; commit() moves it into place. */
	bool is_directory;
	/* track() handles a whole track: slices, states and links are not sent one by one. */
	bool takes_tracks;
	bool links_first;  /* links of a track come before its slices */
	bool takes_sums;   /* begin() uses export_walk(): track() is not called */
	bool takes_time;   /* has times that options->is_real_time changes */
	bool takes_weight; /* its numbers are chosen by options->weight */
	bool needs_name;   /* written by a library to x->file.tmp_path; stdout is not possible */
	bool (*begin)(struct export *x, struct incore_error *e);
	bool (*track)(struct export *x, const struct export_track *k, struct incore_error *e);
	bool (*slice)(struct export *x, const struct export_slice *s,
		struct incore_error *e); /* NULL: not a slice format */
	bool (*state_run)(struct export *x, const struct export_state *s, struct incore_error *e);
	bool (*link)(struct export *x, const struct export_link *l, struct incore_error *e);
	bool (*track_end)(struct export *x, struct incore_error *e);
	bool (*counter)(struct export *x, const struct export_sample *s, struct incore_error *e);
	bool (*lost)(struct export *x, const struct note *n,
		struct incore_error *e); /* once per note of the trace */
	bool (*truncated)(struct export *x, const struct note *c, struct incore_error *e);
	bool (*end)(struct export *x, struct incore_error *e);
	bool (*commit)(struct export *x, struct incore_error *e); /* directories only */
	void (*abort)(struct export *x); /* frees state after success or failure */
};

extern const struct export_ops *const export_registry[]; /* ends with NULL */
const struct export_ops *export_find(const char *name);

/* Runs one export; the target ("-" or NULL: stdout) appears complete or not at all. On success
 * *out is filled; export_result_deinit() frees it. */
bool export_run(const struct trace *t, const struct export_ops *ops, const char *path,
	const struct export_options *o, struct export_result *out, struct incore_error *e);

/* For lost and truncated of a format that has no place for notes: the result of the driver has
 * them. */
bool export_note_told(struct export *x, const struct note *n, struct incore_error *e);
/* For counter of a format that writes whole series in the end. */
bool export_sample_held(struct export *x, const struct export_sample *s, struct incore_error *e);
/* For writers: records that something was left out and calls ops->truncated; count 0: no-op. */
bool export_cut(struct export *x, const char *what, const char *why, uint64_t count,
	struct incore_error *e);
