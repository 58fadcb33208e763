/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clusters.h: which waves took the same path? Waves are grouped by the exact set of code rows they
 * executed, and inside a cluster by how often each row ran (variants). Sets are compared by a
 * 128-bit order-independent hash and the row count; each wave is then checked row by row against
 * the bit set of its cluster's first wave, so that a hash collision would be seen (n_collisions).
 *
 * latency and stall have the producer's meaning: sums of the recorded fields of the records that
 * start in the window.
 * Owner: clusters_new() .. clusters_free(); valid after walk_tracks() and clusters_finish().
 */
#pragma once

#include "analysis/walk.h"
#include "base/hash.h"

#define NO_CLUSTER UINT32_MAX

struct cluster_wave { /* what one wave did */
	struct hash128 rows_hash;
	uint64_t trips_hash; /* hash of all (row, executions) */
	uint64_t records, latency, stall, duration;
	uint32_t n_rows;
	bool is_seen;
};

struct cluster_variant {
	uint32_t n_waves;
	uint64_t records; /* executed by each of them */
	track_idx first;
};

struct cluster {
	uint32_t n_waves, n_rows;
	uint64_t records, latency, stall, duration; /* sums over its waves */
	uint64_t min_dur, median_dur, max_dur;	    /* median: sorted[n / 2] */
	track_idx first;
	track_idx representative;	  /* duration closest to the median, then the first */
	struct cluster_variant *variants; /* descending by waves, then by first wave */
	uint32_t n_variants;
};

struct clusters {
	struct arena arena;
	const struct trace *trace;
	struct cluster_wave *waves; /* by track_idx */
	uint32_t *of_track;	    /* by track_idx: its cluster, NO_CLUSTER if not looked at */
	struct cluster *v;	    /* descending by latency, waves; then by first wave */
	uint32_t n;
	uint64_t n_waves, latency, stall; /* in all */
	uint32_t n_collisions;		  /* waves with equal hash but another set; expected 0 */
	void *gather;			  /* private */
};

struct clusters *clusters_new(const struct trace *t, struct incore_error *e);
void clusters_free(struct clusters *c);
struct collector clusters_collector(struct clusters *c);
bool clusters_finish(struct clusters *c, struct incore_error *e);
