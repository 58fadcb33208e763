/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_estimate.h: what the samples of a kernel add up to under a plan (whatif_samples.c), and how long
 * it takes with that (whatif_lengths.c).
 */
#pragma once

#include "analysis/whatif/whatif_load.h"

struct estimate {
	struct loads loads;
	const struct trace *t;
	const struct whatif_plan *p;
	bool is_slower;	       /* something is asked for that takes longer than before */
	enum use full;	       /* of memory behind L1 */
	double all;	       /* samples */
	double warp_cycles;    /* of one sample; not a number: not known */
	double *passed;	       /* by row: cycles of one execution of all rows before it */
	double *kept[ENDS];    /* by row: samples of it that are left */
	double latency, queue; /* samples as they are: of latency, in queues */
	double own[ENDS];      /* samples of latency that are left */
	double rest[ENDS];  /* samples in queues that are left, if queues shorten with their load */
	double ahead[ENDS]; /* samples that wait for what is asked earlier, by depth */
	double calmer;	    /* the work of the busiest resource that is left, by what there was */
	uint64_t chain_hits; /* executions of a chain that others are to run beside; 0: none */
	uint32_t chain_depth;
	double barrier[2]; /* samples at barriers: before, of barriers that are left */
};

/* Cycles of the kernel; 0: the capture does not say. */
uint64_t estimate_length(const struct trace *t);
/* Sets after, low, high and why of a result that has before. */
void estimate_conclude(const struct estimate *x, struct whatif_result *out);
