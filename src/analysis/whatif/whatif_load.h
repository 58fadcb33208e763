/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_load.h: of samples, how busy the machine's resources were, and what a plan leaves of it. Rows
 * load a resource by their executions, wavefronts, requests or sectors; beyond L1 with those alone that
 * L1 does not have. What is not known (do misses go with the requests that go?) is an interval.
 *
 * Needs the metrics of a report of Nsight Compute; a resource that it does not state is not used.
 */
#pragma once

#include "analysis/whatif/whatif.h"

enum use { /* what of a row loads a resource */
	USE_ISSUE,
	USE_FMA,
	USE_ALU,
	USE_XU,
	USE_FP64,
	USE_TENSOR,
	USE_LSU, /* memory instructions, whatever they move */
	USE_L1,
	USE_WAY, /* from the SMs to L2: requests, and what is written */
	USE_TAG, /* of L2: lines */
	USE_L2,
	USE_SLICE, /* of L2, the busiest: atomics on few words */
	USE_DRAM,
	USES
};

enum end { AT_LEAST, AT_MOST, ENDS };

/* Cycles from issue to result where nothing is in the way: H200, tests/gpu/latency.cu. */
enum {
	LATENCY_SHARED = 30,
	LATENCY_L1 = 45,
	LATENCY_L2 = 295,
	LATENCY_ATOMIC = 410,
	LATENCY_MEMORY = 720,
	LATENCY_MATH = 4,
	LATENCY_TRANS = 18,
};

struct loads {
	const struct trace *t;
	const struct whatif_plan *p;
	double used[USES];	 /* part of the kernel's time */
	double left[USES][ENDS]; /* the same under the plan */
	double cap[USES];	 /* as far as kernels fill it that wait for nothing else */
	double most[USES];	 /* as far as any was seen to fill it */
	struct {		 /* parts of the sectors of loads that come from there */
		double l2, memory;
	} from, from_left; /* as they are; under the plan at the most: what has to come still comes */
};

/* A metric of the report; not a number where it is not stated. */
double stated_metric(const struct trace *t, const char *name);
void loads_find(struct loads *l, const struct trace *t, const struct whatif_plan *p);
/* What is left of an instruction: 0 for one that is gone, 1 for one that stays. */
double left_of_row(const struct whatif_row *r);
double row_weight(const struct trace *t, enum use use, code_idx i);
bool is_memory_class(enum inst_class c);
/* Cycles from issue to result on an idle machine; is_left: of requests that the plan changes. */
double loads_latency(const struct loads *l, enum inst_class c, bool is_left);
/* Of the memory behind L1, what is fullest. */
enum use loads_fullest(const struct loads *l);
/* How far a wait that is longer than on an idle machine is the queue of a resource: 0 to 1. */
double loads_queue_part(const struct loads *l, enum use u);
/* What is left of the load by what there was. */
double loads_ratio(const struct loads *l, enum use u, enum end end);
enum fill { /* as far as a resource can be filled, by this kernel */
	FILL_USUAL,
	FILL_MOST,
	FILL_AS_IT_IS, /* what is nearly full is as full as it gets */
};
/* The busiest resource: the kernel is no shorter. *which: its place. */
double loads_floor(const struct loads *l, enum end end, enum fill fill, enum use *which);
/* The same of the kernel as it is. */
double loads_before(const struct loads *l, enum fill fill);
const char *loads_bound_text(enum use u);
