/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_load.h: for sampled data, how busy the machine's resources were, and what a plan leaves of
 * that. Rows load a resource by their executions, wavefronts, requests or sectors; beyond L1 only
 * L1 misses count. Unknowns (do misses disappear with the removed requests?) give an interval.
 *
 * Needs the metrics of an Nsight Compute report; resources that it does not state are ignored.
 */
#pragma once

#include "analysis/whatif/whatif.h"

enum use { /* how a row loads a resource */
	USE_ISSUE,
	USE_FMA,
	USE_ALU,
	USE_XU,
	USE_FP64,
	USE_TENSOR,
	USE_LSU, /* memory instructions, whatever their size */
	USE_L1,
	USE_WAY, /* path from the SMs to L2: requests and written data */
	USE_TAG, /* L2 tags: lines */
	USE_L2,
	USE_SLICE, /* busiest L2 slice: atomics on few words */
	USE_DRAM,
	USES
};

enum end { AT_LEAST, AT_MOST, ENDS };

/* Cycles from issue to result without contention, measured on H200 by tests/gpu/latency.cu. */
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
	double used[USES];	 /* share of the kernel's time */
	double left[USES][ENDS]; /* the same share under the plan */
	double cap[USES];	 /* how far kernels limited by nothing else fill it */
	double most[USES];	 /* how far any kernel was seen to fill it */
	struct {		 /* shares of load sectors that come from there */
		double l2, memory;
	} from, from_left; /* before; under the plan at most: misses that must happen stay */
};

/* A metric of the report; NaN if it is not stated. */
double stated_metric(const struct trace *t, const char *name);
void loads_find(struct loads *l, const struct trace *t, const struct whatif_plan *p);
/* Share of an instruction that is left: 0 if removed, 1 if kept. */
double left_of_row(const struct whatif_row *r);
double row_weight(const struct trace *t, enum use use, code_idx i);
bool is_memory_class(enum inst_class c);
/* Cycles from issue to result on an idle machine; is_left: for the requests that the plan
 * leaves. */
double loads_latency(const struct loads *l, enum inst_class c, bool is_left);
/* The fullest resource of the memory behind L1. */
enum use loads_fullest(const struct loads *l);
/* How much of the wait in excess of an idle machine's is due to the queue of a resource: 0 to 1. */
double loads_queue_part(const struct loads *l, enum use u);
/* Load left under the plan divided by the load before. */
double loads_ratio(const struct loads *l, enum use u, enum end end);
enum fill { /* how far this kernel is assumed to fill a resource */
	FILL_USUAL,
	FILL_MOST,
	FILL_AS_IT_IS, /* a resource that is nearly full cannot get fuller */
};
/* Lower bound of the kernel's length, given by the busiest resource. *which: that resource. */
double loads_floor(const struct loads *l, enum end end, enum fill fill, enum use *which);
/* As loads_floor(), for the unchanged kernel. */
double loads_before(const struct loads *l, enum fill fill);
const char *loads_bound_text(enum use u);
