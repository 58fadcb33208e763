/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waves.h: wave by wave: how long, how many instructions, where its cycles went, how it compares
 * with the others. One walk feeds the wave table, the states, the path clusters and the barriers.
 *
 *	struct waves *w = waves_new(trace, 0, e);
 *	waves_collect(w, &walk_options, &walk_result, e)
 *	... w->rows[track], w->states, w->clusters, w->duration ...
 *	waves_free(w);
 *
 * Quantiles: sorted[min(n - 1, floor(p * n))]; the median is sorted[n / 2].
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/barriers.h"
#include "analysis/waves/clusters.h"
#include "analysis/waves/states.h"

struct wave_row {
	uint64_t duration_cyc; /* inside the window */
	uint64_t bucket[BUCKET_COUNT];
	uint64_t instructions;	 /* records that start in the window */
	uint64_t latency, stall; /* sums over those records, as recorded */
	uint64_t barriers, barrier_cyc;
	uint64_t nop_cyc;  /* part of bucket stall: padding */
	uint64_t ends_cyc; /* part of bucket idle: before the first record, after the last */
	bool is_seen;
	bool has_end; /* its last record is the end of the program */
};

struct wave_category { /* per record category of the producer */
	uint64_t n, latency, stall;
};

struct duration_stats {
	uint64_t n, min, p5, p25, median, p75, p95, p99, max, sum;
	double mean, deviation; /* standard deviation over the waves (n) */
};

struct wave_group {	 /* waves that share a place */
	track_idx first; /* for its coordinates */
	struct duration_stats duration;
	uint64_t bucket[BUCKET_COUNT];
	struct states_wave states; /* sums */
};

enum wave_grouping {
	WAVES_BY_SE,
	WAVES_BY_SIMD,	/* se, cu, simd */
	WAVES_BY_SLOT,	/* slot number, all SIMDs pooled */
	WAVES_BY_ORDER, /* first wave of a slot, later ones */
	WAVES_BY_PHASE, /* enum wave_phase */
	WAVES_GROUPINGS
};
const char *wave_grouping_name(enum wave_grouping g); /* "se", "simd", "slot", "order", "phase" */

/* Position of a wave among those of its slot, selected or not. */
enum wave_phase {
	WAVE_FIRST,  /* nothing ran there before: cold caches, all start at once */
	WAVE_STEADY, /* other waves ran before and after it */
	WAVE_TAIL,   /* the last of two or more: the machine empties */
};
enum wave_phase wave_phase_of(const struct trace *t, track_idx i);
const char *wave_phase_name(enum wave_phase p); /* "first", ... */

/* WAVES_BY_ORDER: not the first wave of its slot. */
struct waves;
bool wave_group_is_later(const struct waves *w, const struct wave_group *g);

enum wave_sort {
	WAVES_SORT_DURATION,
	WAVES_SORT_WAVE,
	WAVES_SORT_BEGIN,
	WAVES_SORT_INSTRUCTIONS,
	WAVES_SORT_ISSUE,
	WAVES_SORT_WAIT,
	WAVES_SORT_STALL,
	WAVES_SORT_IDLE,
	WAVES_SORT_DRAIN,
};
#define WAVES_SORT_CHOICES "duration|wave|begin|instructions|issue|wait|stall|idle|drain"

/* Compares a hardware state with the records of the waves that have a timeline. */
#define STATE_PARTS 3u
struct state_part {
	const char *name; /* "waits", "s_nop", ... */
	enum bucket bucket;
	uint64_t cyc;
};
struct state_explained {
	enum wave_state state;
	uint64_t cyc;	  /* as recorded by the hardware */
	uint64_t records; /* sum of the parts */
	struct state_part parts[STATE_PARTS];
	uint32_t n_parts;
};
#define STATES_EXPLAINED 4u

struct waves {
	struct arena arena;
	const struct trace *trace;
	struct states *states;
	struct clusters *clusters;
	struct barriers *barriers;
	struct wave_row *rows; /* by track_idx */
	uint64_t n_waves, n_instructions, n_not_ended;
	uint64_t bucket[BUCKET_COUNT];
	int64_t residue_cyc; /* lifetimes minus all buckets; must be 0 */
	struct wave_category categories[256];
	struct duration_stats duration;
	struct wave_group *groups[WAVES_GROUPINGS];
	uint32_t n_groups[WAVES_GROUPINGS];
};

/* n_bins: of the state series; 0: none. */
struct waves *waves_new(const struct trace *t, uint32_t n_bins, struct incore_error *e);
void waves_free(struct waves *w);
/* Only the table, for a walk with other collectors; call waves_finish() afterwards. */
struct collector waves_collector(struct waves *w);
/* Call after the walk, with states, clusters and barriers fed by the same walk. */
bool waves_finish(struct waves *w, struct incore_error *e);
bool waves_collect(struct waves *w, const struct walk_options *o, struct walk_result *r,
	struct incore_error *e);

/* Waves looked at, sorted; ties in track order. The array lives in `a`. */
bool waves_sorted(const struct waves *w, enum wave_sort by, struct arena *a, track_idx **out,
	uint32_t *n, struct incore_error *e);

/*
 * What each state consists of, from the records: IDLE is the time before the first and after the
 * last record, WAIT all waits, s_nop and the drain, EXEC the issue and the gaps between records,
 * STALL the other stalls. IDLE and WAIT agree to a few cycles a wave; how the hardware splits the
 * rest between EXEC and STALL is not known. Returns how many: 0 without a timeline.
 */
uint32_t waves_explain(const struct waves *w, struct state_explained out[STATES_EXPLAINED]);
