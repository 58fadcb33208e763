/* SPDX-License-Identifier: Apache-2.0 */
/* packed_tables.h: the tables of a trace as sections of a packed file, both directions. */
#pragma once

#include "trace/fields.h"
#include "trace/packed_types.h"

/* One of PACKED_META .. PACKED_NOTES, or PACKED_SAMPLED. */
void packed_move_table(struct fields *f, uint32_t id, struct trace *t);
/* Is there anything for PACKED_SAMPLED? */
bool packed_has_sampled(const struct trace *t);
const char *packed_section_name(uint32_t id);
