/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy.h: how many waves were resident, when and where. Counts every start and end event of
 * the traced SEs (all their CUs), on aligned clocks, ends before starts at equal times. Without
 * such events the lifetimes of the traced waves are used instead (is_from_tracks).
 *
 * Owner: the caller; occupancy_deinit() frees all (nothing is held after a failure). The trace is
 * borrowed.
 */
#pragma once

#include "analysis/selection.h"
#include "base/arena.h"
#include "trace/trace.h"

/* Figures of one set of waves: all, or those of one SE, CU, SIMD or kernel. */
struct occupancy_stats {
	uint64_t events, starts, ends; /* inside the window */
	uint64_t peak;
	uint64_t wave_cyc;	     /* sum of residence */
	uint64_t busy_cyc;	     /* at least one wave resident */
	int64_t first_cyc, last_cyc; /* trace clock: first event, last event; 0 without events */
	int64_t last_start_cyc;
	uint64_t unmatched_ends; /* ends without a start; the count never drops below zero */
	uint64_t open;		 /* starts without an end */
};

struct occupancy_se {
	uint32_t se;
	struct occupancy_stats stats;
	uint32_t n_cus;		   /* that had waves */
	uint64_t peak_per_simd;	   /* peak of its fullest SIMD */
	uint64_t target_cu_starts; /* on the CU with instruction detail */
	bool is_aligned;
};

struct occupancy_cu {
	uint32_t se, cu;
	struct occupancy_stats stats;
	uint64_t peak_per_simd;
	bool is_target;
};

struct occupancy_simd {
	uint32_t se, cu, simd;
	struct occupancy_stats stats;
};

struct occupancy_kernel { /* merged by name */
	const char *name; /* "?" if the id has no name */
	uint32_t n_ids;	  /* ids of this name that the capture lists */
	uint32_t first_id;
	uint32_t n_used; /* of n_ids: those that had waves */
	struct occupancy_stats stats;
};

struct occupancy_kernel_id {
	uint32_t id;
	const char *name; /* or NULL */
	uint64_t starts;
};

enum occupancy_series { SERIES_SE, SERIES_CU, SERIES_SIMD };

struct occupancy {
	struct arena arena;
	const struct trace *trace;
	bool is_from_tracks;
	bool is_aligned; /* all SEs with events are aligned */
	struct occupancy_stats all;
	uint64_t span_cyc;	 /* first start to last end */
	uint64_t below_half_cyc; /* part of the span with fewer waves than half the peak */
	uint64_t tail_cyc;	 /* first end that no start follows to the last end */
	uint64_t peak_per_simd;
	uint32_t n_ses, n_cus, n_simds, n_kernels, n_kernel_ids;
	struct occupancy_se *ses;		/* by number */
	struct occupancy_cu *cus;		/* by (se, cu) */
	struct occupancy_simd *simds;		/* by (se, cu, simd) */
	struct occupancy_kernel *kernels;	/* by starts, then name */
	struct occupancy_kernel_id *kernel_ids; /* by id; those with a name or with waves */
	/* Time series: mean waves in each of n_bins equal parts of the span, as wave-cycles. */
	uint32_t n_bins;
	uint64_t *bin_wave_cyc;	   /* [bin] */
	uint64_t *bin_se_wave_cyc; /* [se index * n_bins + bin] */
	enum occupancy_series series;
	uint64_t *bin_unit_wave_cyc; /* [CU or SIMD index * n_bins + bin], by `series`; NULL for
					SERIES_SE */
	uint64_t launched_waves;     /* from the kernel trace; 0: unknown */
	uint64_t traced_waves;	     /* selected tracks, which have instruction detail */
};

struct occupancy_options {
	const struct selection *selection; /* NULL: all; its wave number is ignored */
	uint32_t n_bins;		   /* 0: no series */
	enum occupancy_series series;	   /* which units get a series of their own, besides SEs */
};

bool occupancy_compute(struct occupancy *o, const struct trace *t,
	const struct occupancy_options *options, struct incore_error *e);
void occupancy_deinit(struct occupancy *o);

double occupancy_mean(const struct occupancy *o);	/* waves over the span */
double occupancy_below_half(const struct occupancy *o); /* share of the span, 0..1 */
/* Waves started per 1,000 cycles between first and last start; 0 with fewer than 2 starts. */
double occupancy_launch_rate(const struct occupancy *o);
/* First and last cycle (trace clock) of bin i: [*from, *to). */
void occupancy_bin(const struct occupancy *o, uint32_t i, int64_t *from, int64_t *to);
/* Largest over mean wave-cycles of a CU: 1.0 is perfect balance; 0 if unknown. */
double occupancy_cu_balance(const struct occupancy *o);
/* "32 of 2,048 waves traced, 4 SEs, CU 1, 16 SIMDs, 2,191.2 MHz, span 10,268 cycles = 4.69 us" */
bool occupancy_put_coverage(const struct occupancy *o, struct strbuf *out);
/* Names of the hardware events of newer captures, by type: "packet-loss", ...; "unknown" beyond the
 * last type. */
#define OCCUPANCY_EVENT_TYPES 18
const char *occupancy_event_name(uint32_t type);
