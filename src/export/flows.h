/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.h: the two ends of each arrow, in the order in which slices are written, for formats that
 * attach arrows to the slices at their ends. For a trace of pipes these are the links whose ends
 * are both written; for waves the links that the driver sends, one track at a time.
 * Owner: the caller zeroes it; flows_deinit() frees.
 */
#pragma once

#include "base/vec.h"
#include "export/export.h"

struct flow_end {
	track_idx track;
	uint32_t slice;
	bool is_end; /* the arrow ends here; otherwise it starts here */
	uint64_t id;
	uint8_t kind;	 /* enum link_kind, for links between tracks */
	track_idx other; /* track of the other end */
};

struct flows {
	VEC(struct flow_end) ends;
	VEC(uint64_t) starting, ending; /* ids at a slice, filled by flows_ids() */
	size_t next;
	bool is_sorted;
};

void flows_deinit(struct flows *f);
/* Adds the links between tracks whose two ends are selected; counts them in x->result. */
bool flows_of_links(struct flows *f, struct export *x, struct incore_error *e);
/* Forgets all ends; to be called before the links of the next track. */
void flows_clear(struct flows *f);
bool flows_add(struct flows *f, const struct export_link *l, struct incore_error *e);
/* Returns the *n ends at a slice. Must be called in the order of slices. */
const struct flow_end *flows_at(struct flows *f, track_idx track, uint32_t slice, size_t *n);
/* Fills f->starting and f->ending with the ids of the ends at a slice. */
bool flows_ids(struct flows *f, track_idx track, uint32_t slice);

/* Are tracks lanes of a unit, named "unit/lane", with links between slices? Otherwise: waves. */
bool export_has_lanes(const struct trace *t);
/* The number of a lane's unit. */
uint32_t export_unit_of(const struct trace *t, const struct track *k);
