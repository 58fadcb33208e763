/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h: finds where a series of figures changes by more than its own noise.
 *
 * Noise is the median distance of neighbours, expressed as the standard deviation of a normal
 * distribution with that median. The level of a stretch is the median of its first HISTORY_WINDOW
 * values, so that slow drift is found, too. A value is off if it is further from the level than the
 * limit: `sigmas` times the noise, times sqrt(1 + 2 / m) for a level made from m values, and at
 * least `floor` of the level. Two values in a row that are off on the same side begin a new stretch
 * with the first of them. A single one is an outlier; if it is the last value, it is unconfirmed.
 * With fewer than HISTORY_LEAST values the noise is not known and nothing is reported.
 * Time: that of one sort. May fail: memory.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"

#define HISTORY_WINDOW 32u
#define HISTORY_LEAST 4u

struct history_rule {
	double sigmas; /* e.g. 4 */
	double floor;  /* a fraction of the level, e.g. 0.01 */
};

enum history_mark { HISTORY_PLAIN, HISTORY_CHANGE, HISTORY_OUTLIER, HISTORY_UNCONFIRMED };

struct history_stretch {
	size_t first, n;
	double level;
	unsigned n_level; /* number of values that it was made from */
};

struct history {
	double noise;	      /* not finite: not known */
	unsigned char *marks; /* by value: enum history_mark */
	VEC(struct history_stretch) stretches;
};

/* *out must be freed with history_deinit() in any case. */
bool history_find(struct history *out, const double *v, size_t n, const struct history_rule *rule,
	struct incore_error *e);
void history_deinit(struct history *h);
double history_limit(const struct history_rule *rule, double noise, double level, double share);

enum gate_verdict { GATE_NO_CLAIM, GATE_PASSED, GATE_BETTER, GATE_WORSE };
struct history_gate {
	double before, after, limit, noise; /* limit: for the difference; not finite: not known */
	enum gate_verdict verdict;
};
/* Is the median of the last n_new values above the level of the values before them? The limit is
 * `sigmas` times the noise of those, times sqrt(1 / n_new + 2 / m), and at least the floor. */
bool history_judge(struct history_gate *out, const double *v, size_t n, size_t n_new,
	const struct history_rule *rule, struct incore_error *e);
