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
#ifndef ANALYSIS_WAVES_H
#define ANALYSIS_WAVES_H

#include "analysis/barriers.h"
#include "analysis/clusters.h"
#include "analysis/states.h"
#include "analysis/walk.h"
#include "codec/json_writer.h"

struct wave_row {
	uint64_t duration_cyc; /* inside the window */
	uint64_t bucket[BUCKET_COUNT];
	uint64_t instructions;	 /* records that start in the window */
	uint64_t latency, stall; /* of those, as recorded */
	uint64_t barriers, barrier_cyc;
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
	WAVES_GROUPINGS
};
const char *wave_grouping_name(enum wave_grouping g); /* "se", "simd", "slot", "order" */

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

struct waves {
	struct arena arena;
	const struct trace *trace;
	struct states *states;
	struct clusters *clusters;
	struct barriers *barriers;
	struct wave_row *rows; /* by track_idx */
	uint64_t n_waves, n_instructions, n_not_ended;
	uint64_t bucket[BUCKET_COUNT];
	int64_t residue_cyc; /* lifetimes less all buckets: 0 */
	struct wave_category categories[256];
	struct duration_stats duration;
	struct wave_group *groups[WAVES_GROUPINGS];
	uint32_t n_groups[WAVES_GROUPINGS];
};

/* n_bins: of the state series; 0: none. */
struct waves *waves_new(const struct trace *t, uint32_t n_bins, struct incore_error *e);
void waves_free(struct waves *w);
/* The table alone, for a walk with other collectors; then waves_finish(). */
struct collector waves_collector(struct waves *w);
/* After the walk, with the collectors of states, clusters and barriers fed by the same walk. */
bool waves_finish(struct waves *w, struct incore_error *e);
bool waves_collect(struct waves *w, const struct walk_options *o, struct walk_result *r,
	struct incore_error *e);

/* Waves looked at, sorted; ties in track order. The array lives in `a`. */
bool waves_sorted(const struct waves *w, enum wave_sort by, struct arena *a, track_idx **out,
	uint32_t *n, struct incore_error *e);
/* Word of WAVES_SORT_CHOICES; WAVES_SORT_DURATION if unknown. */
enum wave_sort wave_sort_of(const char *word);

/* Members of an open object; `top` waves of the list. */
void waves_json(const struct waves *w, const track_idx *list, uint32_t n, struct json_writer *out);
void duration_json(const struct duration_stats *d, struct json_writer *out);
void buckets_json(const uint64_t bucket[BUCKET_COUNT], uint64_t duration, struct json_writer *out);

#endif
