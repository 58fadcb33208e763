/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_estimate.h: what the samples of a kernel add up to under a plan (whatif_samples.c), and
 * the kernel's length that follows (whatif_samples.c).
 */
#pragma once

#include "analysis/whatif/whatif_load.h"

struct estimate {
	struct loads loads;
	const struct trace *t;
	const struct whatif_plan *p;
	bool is_slower;	       /* the plan makes something take longer than before */
	enum use full;	       /* fullest resource of the memory behind L1 */
	double all;	       /* samples */
	double warp_cycles;    /* warp cycles per sample; NaN: unknown */
	double *passed;	       /* by row: cycles of one execution of all rows before it */
	double *kept[ENDS];    /* by row: samples that are left */
	double latency, queue; /* samples before the change: of latency; in queues */
	double own[ENDS];      /* samples of latency that are left */
	double rest[ENDS];  /* samples in queues that are left, if queues shorten with their load */
	double ahead[ENDS]; /* samples waiting for results that the plan requests earlier, by
			       depth */
	double calmer;	    /* work left for the busiest resource, as a share of the work before */
	uint64_t chain_hits; /* executions of a dependency chain that others are to overlap; 0:
				none */
	uint32_t chain_depth;
	double barrier[2]; /* samples at barriers: before; at barriers that are left */
};
