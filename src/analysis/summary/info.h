/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h: what is this capture? Figures from the trace's tables only; no track is read.
 * Owner: the caller; info_deinit() frees. Borrows the trace.
 */
#pragma once

#include "base/arena.h"
#include "trace/trace.h"

struct info_domain { /* occupancy of one clock domain (shader engine) */
	uint32_t id;
	uint64_t events, starts, ends;
	uint32_t cus; /* CUs that had an event */
	uint64_t target_cu_starts;
};

struct info_numbers { /* distinct numbers of one track level, sorted */
	uint32_t *v;
	uint32_t n;
};

struct info {
	struct arena arena;
	const struct trace *trace;
	const char *dir; /* last part of the origin */
	uint32_t n_instructions, n_mapped, n_executed;
	uint32_t n_lines; /* distinct innermost source lines */
	uint32_t n_snapshots;
	struct code_totals stated;   /* sums over all rows */
	struct info_domain *domains; /* those with occupancy events */
	uint32_t n_domains;
	struct info_numbers coords[TRACK_LEVELS];
	uint64_t n_track_files;	    /* files present, listed or not */
	int64_t begin_cyc, end_cyc; /* aligned, first begin and last end of all tracks */
};

bool info_make(struct info *i, const struct trace *t, struct incore_error *e);
void info_deinit(struct info *i);
/* "0-3,7" of sorted numbers. */
bool info_put_numbers(const struct info_numbers *n, struct strbuf *out);
