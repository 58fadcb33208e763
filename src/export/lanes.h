/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h: the lanes that slices are drawn on, for formats that show them over time (chrome,
 * perfetto, otf2): which group a track belongs to, what groups and lanes are called, rows for
 * slices in flight at once, and the ends of arrows in the order in which slices are written.
 *
 * A track is either the lane of a unit, where slices overlap, so that it becomes rows; or a wave
 * below an engine. Arrows of lanes are the links between tracks; arrows of waves are the links that
 * the driver sends, one track at a time.
 * Owner: the caller zeroes both structs; lanes_deinit() and flows_deinit() free.
 */
#pragma once

#include "analysis/pipes/clean.h"
#include "base/vec.h"
#include "export/export.h"

struct lanes {
	const struct export *x;
	bool has_rows; /* tracks are lanes of a unit, named "unit/lane"; otherwise waves */
	const struct track *track; /* the current one; NULL before the first */
	uint32_t group;		   /* number of its unit or engine */
	struct clean_rows rows;	   /* of the current lane */
};

void lanes_init(struct lanes *l, const struct export *x);
void lanes_deinit(struct lanes *l);
/* Begins a track; returns true if it is the first of its group. */
bool lanes_begin(struct lanes *l, const struct track *k);
/* Finds the row of a slice of the current lane; slices come in the order of their starts. */
bool lanes_row(struct lanes *l, int64_t start, uint32_t dur, uint32_t *row, struct incore_error *e);
/* The part of a slice that is drawn: all of it where slices overlap, else its own part. */
struct lanes_span {
	int64_t from_cyc, to_cyc;
	uint64_t stall_cyc;
};
struct lanes_span lanes_span_of(const struct lanes *l, const struct export_slice *v);

/* Appends the name of the current group: "core0.veccore1" or "SE 3". */
void lanes_put_group(const struct lanes *l, struct strbuf *b);
/* Appends the name of an engine, of which no wave need be known. */
void lanes_put_engine(const struct lanes *l, uint32_t number, struct strbuf *b);
/* Appends what follows a group in the title of a picture: kernel, evidence, unit of time. */
void lanes_put_about(const struct lanes *l, struct strbuf *b);
/* Appends the name of the current track: "MTE2", for further rows "MTE2 #1", or "CU 1 SIMD 0". */
void lanes_put_name(const struct lanes *l, uint32_t row, struct strbuf *b);

struct flow_end {
	track_idx track;
	uint32_t slice;
	bool is_end; /* the arrow ends here; otherwise it starts here */
	uint64_t id;
	uint8_t kind;	 /* enum link_kind, for links between tracks */
	track_idx other; /* track of the other end */
};

struct lane_flows {
	VEC(struct flow_end) ends;
	VEC(uint64_t) starting, ending; /* ids at a slice, filled by flows_ids() */
	size_t next;
	bool is_sorted;
};

void flows_deinit(struct lane_flows *f);
/* Adds all links between tracks; the id of a link is its index + 1. */
bool flows_of_links(struct lane_flows *f, const struct trace *t, struct incore_error *e);
/* Adds the links between tracks whose two ends are selected; counts them in x->result. */
bool flows_of_selected(struct lane_flows *f, struct export *x, struct incore_error *e);
/* Forgets all ends; to be called before the links of the next track. */
void flows_clear(struct lane_flows *f);
bool flows_add(struct lane_flows *f, const struct export_link *l, struct incore_error *e);
/* Returns the *n ends at a slice. Must be called in the order of slices. */
const struct flow_end *flows_at(struct lane_flows *f, track_idx track, uint32_t slice, size_t *n);
/* Fills f->starting and f->ending with the ids of the ends at a slice. */
bool flows_ids(struct lane_flows *f, track_idx track, uint32_t slice);
