/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.h: how many of the cycles a wave lost were covered by work of other waves of its SIMD? Two
 * walks: busy_walk() makes the unions, then this collector looks at every lost piece. The rule and
 * its proof are in busy.h. Exposed = total - hidden. 0 <= hidden <= total, and 0 where one wave
 * runs per SIMD.
 *
 * `recorded` is the same question for the stall field as recorded, without the accounting's
 * corrections: it also holds the stall of the end-of-program record (bucket drain here) and, where
 * a record starts before the one before has ended, the few cycles that lie over the wave's own
 * issue; there another wave must issue at the same time to count. So recorded.hidden is at least
 * hidden of stall + wait, and published figures can be checked.
 *
 * Owner: hidden_new() .. hidden_free(); results are valid after walk_tracks().
 */
#pragma once

#include "analysis/waves/busy.h"

struct hidden_sum {
	uint64_t cyc, hidden_cyc;
	/* Part of cyc in which a SIMD without detail issued (gfx10+ traces one SIMD and reports of
	 * the others only when they issue): a separate column, never part of hidden_cyc. */
	uint64_t other_simd_cyc;
};

struct hidden {
	const struct busy *busy;
	struct hidden_sum bucket[BUCKET_COUNT]; /* ISSUE: cyc only */
	struct hidden_sum recorded;		/* without other_simd_cyc */
	struct spans *others;	   /* by clock: issue of SIMDs without detail; NULL: not recorded */
	struct hidden_sum *rows;   /* lost cycles by code_idx; one more for unknown rows */
	struct hidden_sum *tracks; /* lost cycles by track_idx */
};

struct hidden *hidden_new(const struct busy *b, struct incore_error *e);
void hidden_free(struct hidden *h);
struct collector hidden_collector(struct hidden *h);
/* All buckets but issue. */
struct hidden_sum hidden_lost(const struct hidden *h);
