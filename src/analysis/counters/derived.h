/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived.h: counters computed from counters. Definitions `name := expression`, one a line (a `;`
 * ends a line, too: an address cannot hold line ends), over tensors [XCC][SE][CU][TIME] that are
 * made from the counter series of a trace: samples are put into bins of the smallest distance
 * between two samples, names lose a leading "SQ_".
 *
 * The language: | & == < > <= >= + - * / ( ) and unary -, broadcast as usual; sum mean min max
 * [x, axis=[SE,CU]] (all axes without one), select[x, i:stop:step, axis=TIME], remove[x, i,
 * axis=..], delta[x, axis=..] (difference of neighbours), linear(n, axis=..) (0, 1, .. n-1), max(a,
 * b, ..), min(a, b, ..). Comparisons give 0 or 1; a division by zero gives infinity or no number.
 * `#` starts a comment; a name that starts with "_" is not shown. Tensors that are always there:
 * SCLOCK [1,1,1,TIME], RCLOCK [1,SE,2,n] (gfx clock, realtime clock); numbers: NUM_XCC, NUM_SE,
 * NUM_CU, NUM_SAMPLES.
 *
 * A definition that cannot be evaluated has an error of its own and spoils only those that need it.
 * Owner: derived_new() .. derived_free(); everything in it lives as long. May fail: memory alone.
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
	bool is_default;       /* not one of the caller's */
	bool is_hidden;	       /* its name starts with "_" */
	enum derived_state state;
	struct derived_tensor value;
	const char *code;    /* of the error: "syntax", "missing", "cycle", "shape", "size" */
	const char *message; /* or NULL */
	uint32_t error_line, error_column;
};

struct derived_counter {
	struct str name;
	const char *unit; /* NULL: events in a sample */
	bool is_clock;	  /* made up: SCLOCK, RCLOCK */
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

/* One object: axes, raw counters, definitions with their values over time (at most `points` each,
 * means of neighbours where there are more) or their error. */
void derived_json(const struct derived *d, uint32_t points, struct json_writer *w);
