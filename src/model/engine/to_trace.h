/* SPDX-License-Identifier: Apache-2.0 */
/*
 * to_trace.h: a timed kernel as a trace like any other (isa/ascend.h has its shape): a core per
 * block, a unit per core instance, a track per pipe; code rows are places in the kernel's source
 * with the op they issue. The table "labels" says what made it; findings are notes.
 * Owner: the caller; trace_free(). The trace needs neither streams nor timed result afterwards.
 */
#pragma once

#include "model/engine/engine.h"
#include "trace/trace.h"

#define MODEL_NAME "incore-embedded " INCORE_VERSION
#define MODEL_TEXT "estimated (embedded model), not camodel or hardware"

/* How far devices have been from the estimates of kernels of this kind; false: nobody knows. */
struct model_confidence {
	const char *kind; /* "cube", "vector", "mixed" */
	uint32_t kernels; /* measured, none of which set a constant */
	double low, high; /* four fifths of them took so much of their estimate */
	bool has_load;	  /* with the load that was estimated */
	const char *source;
};
bool model_confidence_of(const struct opstream_set *set, const struct timed *timed,
	const struct profile *p, struct model_confidence *out);

bool timed_to_trace(const struct opstream_set *set, const struct timed *timed,
	const struct profile *p, struct trace **out, struct incore_error *e);
