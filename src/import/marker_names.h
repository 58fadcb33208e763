/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker_names.h: what the markers of an AMD trace (s_ttracedata) are called. Compilers that insert
 * them leave the names in the section .sqtt_funcmap of the code object; AMD's decoder copies them into
 * code.json. Both become one table of the trace, MARKER_NAMES.
 *
 * A marker's value is id << 2 | enter << 1 | exit: "enter" opens a scope, "exit" closes the one that is
 * open, neither is a point. With a clock in its highest bits the id is narrower.
 *
 * Owner: the caller zeroes it but for the trace, adds, and puts it, which frees. False: no memory.
 */
#pragma once

#include "base/vec.h"
#include "trace/trace.h"

#define MARKER_NAMES "marker_names"
#define MARKER_ID_BITS 30u

struct marker_names {
	struct trace *trace;
	VEC(const char *) cells;
};

/* kind: a word or a letter of the format: f, k, u, p, ...; numbers as text. */
bool marker_names_add(struct marker_names *m, uint64_t object, struct str kind, struct str id,
	struct str name, struct str source);
/* The lines of a section. */
bool marker_names_section(struct marker_names *m, uint64_t object, struct str text);
/* Adds the table to the trace, if it has rows. */
bool marker_names_put(struct marker_names *m, const char *origin);
void marker_names_drop(struct marker_names *m);

/* In place of its waves the trace has its markers, as a timeline (timeline/timeline.h): a process
 * per compute unit, a thread per slot; cycles stay those of the trace's clock. An error where it
 * has none. */
bool marker_timeline(struct trace *t, struct incore_error *e);
