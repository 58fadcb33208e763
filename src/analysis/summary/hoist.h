/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hoist.h: how much sooner could a load be issued? At most right after the last instruction that
 * writes one of its operands; between them lie as many cycles as these rows take on average. A load
 * that stands at the very start of a kernel has nothing before it: who waits for it waits for the
 * launch. Pure functions of a summary; for AMD, whose operands are known from the text.
 */
#pragma once

#include "analysis/summary/summary.h"

struct hoist {
	double cyc;	    /* it could be issued so much sooner, in the same piece of code */
	double before_cyc;  /* what the rows before it take, as far back as its operands */
	bool is_from_start; /* nothing that it needs is computed before it */
};
struct hoist hoist_of(const struct summary *s, code_idx load);

/* Is a wait of `wait_cyc` cycles on average for this load what a launch costs: a scalar load of
 * arguments at the start, before which too little stands to hide the wait behind? */
bool hoist_is_launch(const struct summary *s, code_idx load, double wait_cyc);
/* Would moving the load up hide a part of the wait that is worth it? */
bool hoist_is_worth(const struct summary *s, code_idx load, double wait_cyc);
/* The row that a wait waits for most, or NO_CODE. */
code_idx hoist_load_of(const struct summary *s, code_idx wait);
