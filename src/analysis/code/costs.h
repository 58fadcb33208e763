/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs.h: what does one execution of an instruction cost a wave, by kind (amd_kind.h)? Exact
 * distributions of the recorded latency: stall and issue, as the producer's Latency column sums it.
 * What a load takes until its data is there is another question (latency.h).
 *
 * Owner: costs_new() .. costs_free(); rows after walk_tracks() and costs_finish().
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/histogram.h"

struct cost {
	const char *kind;
	enum inst_class inst_class;
	uint32_t n_rows; /* instructions of this kind in the code, executed or not */
	uint64_t hits, latency_cyc, stall_cyc;
	struct distribution each; /* latency of one execution */
};

struct costs {
	const struct trace *trace;
	struct arena arena;
	struct cost *v; /* after costs_finish(): those that were executed, by latency */
	uint32_t n;
	uint16_t *kind_of_row; /* private: by code row; row n_code: records of unknown code */
	struct histograms sum; /* private */
};

/* Does the trace have waves whose instructions have a kind? */
bool costs_apply(const struct trace *t);
struct costs *costs_new(const struct trace *t, struct incore_error *e);
void costs_free(struct costs *c);
struct collector costs_collector(struct costs *c);
bool costs_finish(struct costs *c, struct incore_error *e);
