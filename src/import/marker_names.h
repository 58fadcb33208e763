/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker_names.h: the names of the markers of an AMD trace (s_ttracedata). Compilers that insert
 * markers store the names in the section .sqtt_funcmap of the code object; AMD's decoder copies
 * them into code.json. Both become one table of the trace, MARKER_NAMES.
 *
 * A marker's value is id << 2 | enter << 1 | exit: "enter" opens a scope, "exit" closes the open
 * one, neither bit is a point. If the highest bits hold a clock, the id is narrower.
 *
 * Owner: the caller zeroes the struct, sets the trace, adds names, and puts the table, which frees
 * it. False: out of memory.
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
/* Adds the lines of a section. */
bool marker_names_section(struct marker_names *m, uint64_t object, struct str text);
/* Adds the table to the trace, if it has rows. */
bool marker_names_put(struct marker_names *m, const char *origin);
void marker_names_drop(struct marker_names *m);

/* Replaces the waves of the trace by its markers as a timeline (timeline/timeline.h): a process per
 * compute unit, a thread per slot; cycles are still those of the trace's clock. An error if there
 * are no markers. */
bool marker_timeline(struct trace *t, struct incore_error *e);
