/* SPDX-License-Identifier: Apache-2.0 */
/*
 * to_trace.h: converts a timed kernel to a trace (shaped as in isa/ascend.h): a core per block, a
 * unit per core instance, a track per pipe; code rows are places in the kernel's source with the op
 * they issue. The table "labels" states the origin; findings become notes.
 * Owner: the caller; trace_free(). The trace does not refer to the streams or the timed result.
 */
#pragma once

#include "model/engine/engine.h"
#include "trace/trace.h"

#define MODEL_NAME "incore-embedded " INCORE_VERSION
#define MODEL_TEXT "estimated (embedded model), not camodel or hardware"

/* How far device times were from the estimates of kernels of this kind; false: not known. */
struct model_confidence {
	const char *kind; /* "cube", "vector", "mixed" */
	uint32_t kernels; /* number measured; none of them set a constant */
	double low, high; /* device / estimate: range of four fifths of them */
	bool has_load;	  /* with the load that was estimated */
	const char *source;
};
bool model_confidence_of(const struct opstream_set *set, const struct timed *timed,
	const struct profile *p, struct model_confidence *out);

bool timed_to_trace(const struct opstream_set *set, const struct timed *timed,
	const struct profile *p, struct trace **out, struct incore_error *e);
/* Adds a label to a trace that timed_to_trace() made. False on lack of memory. */
bool model_labels_add(struct trace *t, const char *key, const char *value);
