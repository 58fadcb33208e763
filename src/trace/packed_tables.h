/* SPDX-License-Identifier: Apache-2.0 */
/* packed_tables.h: reads and writes the tables of a trace as sections of a packed file. */
#pragma once

#include "trace/fields.h"
#include "trace/packed_types.h"

/* Moves one section: id is one of PACKED_META .. PACKED_NOTES, or PACKED_SAMPLED. */
void packed_move_table(struct fields *f, uint32_t id, struct trace *t);
/* Does the trace have data for PACKED_SAMPLED? */
bool packed_has_sampled(const struct trace *t);
const char *packed_section_name(uint32_t id);
