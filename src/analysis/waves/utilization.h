/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utilization.h: for what share of the time with resident waves did each pipe of a SIMD issue? Per
 * SIMD: union of the issue intervals of a pipe over the union of wave lifetimes. Waits, nops,
 * barriers and the end of the program occupy no pipe. This is ISSUE utilization: on CDNA a matrix
 * instruction issues in 4 to 12 cycles and keeps its pipe busy longer.
 * Owner: utilization_new() .. utilization_free(); valid after walk_tracks() and
 * utilization_finish(). Holds memory only for the SIMDs being looked at.
 */
#pragma once

#include "analysis/waves/busy.h"

enum pipe {
	PIPE_VALU, /* TRANS too */
	PIPE_MATRIX,
	PIPE_LDS, /* LDS-xlane too */
	PIPE_VMEM,
	PIPE_SCALAR, /* SALU and SMEM */
	PIPE_BRANCH,
	PIPE_OTHER,
	PIPE_ANY,      /* any of the above */
	PIPE_RESIDENT, /* not a pipe: at least one wave lives */
	PIPE_COUNT
};
const char *pipe_name(enum pipe p); /* "VALU", ... */

struct utilization_simd {
	track_idx first; /* a wave of it, for its coordinates; NO_TRACK if none was looked at */
	uint64_t cyc[PIPE_COUNT];
};

struct utilization {
	const struct busy *groups;	/* for its numbering of SIMDs only */
	struct utilization_simd *simds; /* by group */
	uint64_t cyc[PIPE_COUNT];	/* over all SIMDs */
	struct simd_sets sets;		/* private: by pipe */
};

/* `groups` need not have been walked. */
struct utilization *utilization_new(const struct busy *groups, struct incore_error *e);
void utilization_free(struct utilization *u);
struct collector utilization_collector(struct utilization *u);
bool utilization_finish(struct utilization *u, struct incore_error *e);
