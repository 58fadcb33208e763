/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.h: the two ends of each arrow, in the order in which slices are written, for formats that
 * tell of an arrow where its ends are. Of a trace of pipes its links, of which both ends are
 * written; of waves what the driver sends, a track at a time.
 * Owner: the holder zeroes it; flows_deinit() frees.
 */
#pragma once

#include "base/vec.h"
#include "export/export.h"

struct flow_end {
	track_idx track;
	uint32_t slice;
	bool is_end; /* the arrow ends here; else it starts here */
	uint64_t id;
	uint8_t kind;	 /* enum link_kind, of links between tracks */
	track_idx other; /* track of the other end */
};

struct flows {
	VEC(struct flow_end) ends;
	VEC(uint64_t) starting, ending; /* ids at the slice asked for */
	size_t next;
	bool is_sorted;
};

void flows_deinit(struct flows *f);
/* The links between tracks of which both ends are selected; counts them in x->result. */
bool flows_of_links(struct flows *f, struct export *x, struct incore_error *e);
/* Before the links of the next track. */
void flows_clear(struct flows *f);
bool flows_add(struct flows *f, const struct export_link *l, struct incore_error *e);
/* The ends at a slice: *n of them from the pointer returned. Ask in the order of slices. */
const struct flow_end *flows_at(struct flows *f, track_idx track, uint32_t slice, size_t *n);
/* The same as two lists of ids. */
bool flows_ids(struct flows *f, track_idx track, uint32_t slice);

/* Are tracks lanes of a unit, named "unit/lane", whose links are between slices? Else they are waves. */
bool export_has_lanes(const struct trace *t);
/* The number of a lane's unit. */
uint32_t export_unit_of(const struct trace *t, const struct track *k);
