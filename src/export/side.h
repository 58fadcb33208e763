/* SPDX-License-Identifier: Apache-2.0 */
/* side.h: what of the tables beside the tracks a selection keeps, for writers. */
#pragma once

#include "export/export.h"

/* Is it of an engine that the user wants? */
bool export_has_clock(const struct export *x, clock_idx c);
/* Is a time, relative to the origin, inside the window? */
bool export_has_time(const struct export *x, int64_t time_cyc);
/* Waves that run on each clock domain: calls fn where their number changes. */
typedef void (*export_running_fn)(
	struct export *x, clock_idx clock, int64_t time_cyc, uint64_t n_running);
void export_each_running(struct export *x, export_running_fn fn);
