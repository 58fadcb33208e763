/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived.h: counters computed from counters. Definitions have the form `name := expression`, one
 * per line (a `;` also ends a line, since a URL cannot hold line breaks). They work on tensors
 * [XCC][SE][CU][TIME] made from the counter series of a trace: samples go into bins as wide as the
 * smallest distance between two samples, and names lose a leading "SQ_".
 *
 * The language: | & == < > <= >= + - * / ( ) and unary -, broadcast as usual; sum mean min max [x,
 * axis=[SE,CU]] (all axes without one), select[x, i:stop:step, axis=TIME], remove[x, i, axis=..],
 * delta[x, axis=..] (difference of neighbours), linear(n, axis=..) (0, 1, .. n-1), max(a, b, ..),
 * min(a, b, ..). Comparisons give 0 or 1; a division by zero gives infinity or NaN. `#` starts a
 * comment; a name that starts with "_" is not shown. Predefined tensors: SCLOCK [1,1,1,TIME],
 * RCLOCK [1,SE,2,n] (gfx clock, realtime clock); numbers: NUM_XCC, NUM_SE, NUM_CU, NUM_SAMPLES.
 *
 * A definition that cannot be evaluated gets its own error; only definitions that depend on it fail
 * too.
 * Owner: derived_new() .. derived_free(); everything in it lives as long. May fail: only on lack of
 * memory.
 */
#pragma once

#include "codec/json_writer.h"
#include "trace/trace.h"

#define DERIVED_AXES 4 /* XCC, SE, CU, TIME */
#define DERIVED_MAX_SAMPLES 16384
#define DERIVED_MAX_DEFINITIONS 512
#define DERIVED_MAX_ELEMENTS (UINT64_C(1) << 24) /* of all tensors together */

struct derived_tensor {
	uint32_t dim[DERIVED_AXES]; /* TIME runs fastest */
	double *v;
};

enum derived_state { DERIVED_NEW, DERIVED_BUSY, DERIVED_OK, DERIVED_BAD };

struct derived_definition {
	struct str name, text; /* borrowed from the derived's copy of the definitions */
	uint32_t line, column; /* of the text, 1-based */
	bool is_default;       /* built in, not the caller's */
	bool is_hidden;	       /* its name starts with "_" */
	enum derived_state state;
	struct derived_tensor value;
	const char *code;    /* error code: "syntax", "missing", "cycle", "shape", "size" */
	const char *message; /* or NULL */
	uint32_t error_line, error_column;
};

struct derived_counter {
	struct str name;
	const char *unit; /* NULL: events per sample */
	bool is_clock;	  /* predefined: SCLOCK, RCLOCK */
	struct derived_tensor value;
};

struct derived {
	struct arena arena;
	const struct trace *trace;
	uint32_t n_ses, n_cus, n_samples;
	uint32_t *se_clock; /* SE axis -> clock of the trace */
	uint64_t first_cyc; /* aligned time of sample 0 */
	uint64_t step_cyc;  /* between samples */
	bool is_coarse;	    /* step_cyc was made larger to stay within DERIVED_MAX_SAMPLES */
	uint32_t n_counters;
	struct derived_counter *counters;
	uint32_t n;
	struct derived_definition *v; /* in the order given; defaults first */
	uint64_t n_elements;
};

/* Evaluates the definitions of `text`, after the built-in ones if with_defaults. */
struct derived *derived_new(
	const struct trace *t, struct str text, bool with_defaults, struct incore_error *e);
void derived_free(struct derived *d);

/* Writes one object: axes, raw counters, and each definition with its values over time (at most
 * `points`; if there are more, neighbours are averaged) or its error. */
void derived_json(const struct derived *d, uint32_t points, struct json_writer *w);
