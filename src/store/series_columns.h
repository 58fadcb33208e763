/* SPDX-License-Identifier: Apache-2.0 */
/* series_columns.h: columns shared by the records of a series. Internal to this folder. */
#pragma once

#include <math.h>

#include "store/series.h"

#define STORE_SERIES_COLUMNS(S)                                                                    \
	COLUMN_AS(S, series.kernel, "kernel", UNIT_NONE, "name of the kernel", NULLABLE),          \
		COLUMN_AS(S, series.arch, "arch", UNIT_NONE, "architecture", NULLABLE),            \
		COLUMN_AS(S, series.evidence, "evidence", UNIT_NONE, "what the figures rest on"),  \
		COLUMN_AS(S, series.labels, "labels", UNIT_NONE, "labels of the captures"),        \
		COLUMN_AS(S, series.figure, "figure", UNIT_NONE, "what is compared, in cycles",    \
			.words = STORE_FIGURE_CHOICES),                                            \
		COLUMN_AS(S, series.captures, "captures", UNIT_COUNT, "that have this figure"),    \
		COLUMN_AS(S, series.noise, "noise", UNIT_CYCLES,                                   \
			"standard deviation, from the distances of neighbours; null: too few",     \
			NULLABLE, .digits = 1),                                                    \
		COLUMN_AS(S, series.noise_pct, "noise_pct", UNIT_PERCENT, "of the level",          \
			NULLABLE, .digits = 2),                                                    \
		COLUMN_HELD(S, series.accepted, "accepted", COLUMN_LIST, &store_accepted_record,   \
			"what somebody accepted of it, also what is over by now")

extern const struct record store_why_record;

static inline double store_percent(double part, double whole)
{
	return whole != 0 ? 100 * part / whole : NAN;
}
