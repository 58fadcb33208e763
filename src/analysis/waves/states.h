/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states.h: how long was each wave IDLE, EXEC, WAIT, STALL by the hardware's own state stream? Sums
 * of the recorded segments, per wave and in all, cut to the window. (A timeline may be one clock
 * quantum longer than the wave; without a window it is used as recorded.) Bins: the number of
 * wave-cycles in each state over aligned time.
 * Owner: states_new() .. states_free(); results are valid after walk_tracks().
 */
#pragma once

#include "analysis/walk.h"

struct states_wave {
	uint64_t cyc[STATE_COUNT];
	uint64_t segments; /* inside the window */
};

struct states {
	const struct trace *trace;
	struct states_wave *waves; /* by track_idx */
	struct states_wave all;
	uint64_t n_waves;      /* waves with a timeline */
	uint32_t n_bins;       /* 0: no bins */
	int64_t bins_from_cyc; /* aligned time of the first bin's start */
	uint64_t bin_cyc;      /* width of a bin; 1 or more */
	uint64_t (*bins)[STATE_COUNT];
};

const char *state_name(enum wave_state s); /* "EXEC", ... */

/* n_bins 0: no time series; else the span of all tracks is cut into that many bins. */
struct states *states_new(const struct trace *t, uint32_t n_bins, struct incore_error *e);
void states_free(struct states *s);
struct collector states_collector(struct states *s);
uint64_t states_total(const struct states_wave *s); /* all states together */
