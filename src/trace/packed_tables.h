/* SPDX-License-Identifier: Apache-2.0 */
/* packed_tables.h: the tables of a trace as sections of a packed file, both directions. */
#ifndef TRACE_PACKED_TABLES_H
#define TRACE_PACKED_TABLES_H

#include "trace/packed_fields.h"
#include "trace/packed_types.h"
#include "trace/trace.h"

struct packed_table {
	uint32_t id; /* enum packed_section_id */
	const char *name;
	void (*move)(struct fields *f, struct trace *t);
};

/* In the order of the file, PACKED_META .. PACKED_NOTES; ends with name NULL. */
extern const struct packed_table packed_tables[];
const char *packed_section_name(uint32_t id);

/* More tables, in packed_side_tables.c. */
void packed_move_occupancy(struct fields *f, struct trace *t);
void packed_move_dispatches(struct fields *f, struct trace *t);
void packed_move_counters(struct fields *f, struct trace *t);
void packed_move_markers(struct fields *f, struct trace *t);
void packed_move_other_issues(struct fields *f, struct trace *t);
void packed_move_series(struct fields *f, struct trace *t);
void packed_move_links(struct fields *f, struct trace *t);
void packed_move_notes(struct fields *f, struct trace *t);

#endif
