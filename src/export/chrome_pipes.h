/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_pipes.h: what Chrome trace events need for pipes, where several instructions are in flight
 * at once: a row for each slice so that none overlaps on its row, and where the ends of links are.
 * Owner: chrome_pipes_deinit().
 */
#pragma once

#include "analysis/pipes/clean.h"
#include "base/map.h"
#include "base/vec.h"
#include "export/export.h"

struct chrome_end { /* of a link */
	uint32_t pid, tid;
	int64_t start_cyc;
	uint32_t dur_cyc;
	bool is_written;
};

struct chrome_pipes {
	struct clean_rows rows;
	VEC(uint32_t) row_of; /* by slice of the open track */
	uint32_t n_rows;      /* of the open track */
	uint32_t first_tid, next_tid;
	struct u64_map linked; /* track << 32 | slice -> index in ends + 1 */
	VEC(struct chrome_end) ends;
};

/* Knows which slices have links. */
bool chrome_pipes_init(struct chrome_pipes *p, const struct trace *t, struct incore_error *e);
void chrome_pipes_deinit(struct chrome_pipes *p);
/* Rows of a track's slices; its first row is p->first_tid. */
bool chrome_pipes_track(struct chrome_pipes *p, const struct track_data *d, struct incore_error *e);
/* Tells where a slice was written; pid 0: nowhere. */
void chrome_pipes_keep(struct chrome_pipes *p, const struct export_slice *s, uint32_t pid);
/* NULL: that end was not written. */
const struct chrome_end *chrome_pipes_end(
	const struct chrome_pipes *p, track_idx track, uint32_t slice);
