/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy_internal.h: events of the selection in time order; private to occupancy*.c. */
#pragma once

#include "analysis/occupancy/occupancy.h"

struct wave_event {
	int64_t time;		       /* trace clock */
	uint32_t order;		       /* position in the trace; breaks ties */
	uint32_t se, cu, simd, kernel; /* indices into the tables of struct occupancy */
	bool is_start;
	bool is_stray; /* an end without a start */
};

struct occupancy_events {
	struct wave_event *v; /* sorted by (time, ends first, order) */
	size_t n;
};

/* Fills *ev (the caller frees v) and the tables of *o: SEs, CUs, SIMDs, kernels, all counts 0. */
bool occupancy_gather(struct occupancy *o, const struct selection *s, struct occupancy_events *ev,
	struct incore_error *e);
