/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_pipes.h: support for Chrome trace events of pipes, where several instructions are in
 * flight at once: assigns each slice a row without overlaps, and locates the ends of links.
 * Owner: chrome_pipes_deinit().
 */
#pragma once

#include "analysis/pipes/clean.h"
#include "base/map.h"
#include "base/vec.h"
#include "export/export.h"

struct chrome_end { /* end of a link */
	uint32_t pid, tid;
	int64_t start_cyc;
	uint32_t dur_cyc;
	bool is_written;
};

struct chrome_pipes {
	struct clean_rows rows;
	VEC(uint32_t) row_of; /* by slice of the current track */
	uint32_t n_rows;      /* of the current track */
	uint32_t first_tid, next_tid;
	struct u64_map linked; /* track << 32 | slice -> index in ends + 1 */
	VEC(struct chrome_end) ends;
};

/* Finds which slices have links. */
bool chrome_pipes_init(struct chrome_pipes *p, const struct trace *t, struct incore_error *e);
void chrome_pipes_deinit(struct chrome_pipes *p);
/* Assigns rows to the slices of a track; its first row is p->first_tid. */
bool chrome_pipes_track(struct chrome_pipes *p, const struct track_data *d, struct incore_error *e);
/* Records where a slice was written; pid 0: nowhere. */
void chrome_pipes_keep(struct chrome_pipes *p, const struct export_slice *s, uint32_t pid);
/* Finds the end of a link; NULL: it was not written. */
const struct chrome_end *chrome_pipes_end(
	const struct chrome_pipes *p, track_idx track, uint32_t slice);
