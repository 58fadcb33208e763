/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h: the tables that a producer gave and no analysis interprets (trace.tables). */
#pragma once

#include "trace/trace.h"

/* Is it worth a page of its own: details of a run, not rows of instructions or blocks? */
bool table_is_detail(const struct named_table *k);
/* A cell in words: the codes of a column of units are words elsewhere. NULL where nothing stands. */
const char *table_cell(const struct named_table *k, uint32_t row, uint32_t col);
/* How busy each core was, as an on-device run states it; NULL: not stated. */
const struct named_table *table_of_occupancy(const struct trace *t);
/* The value of a metric of an NVIDIA report; not a number: it has none, or none that is one. */
double table_metric(const struct trace *t, const char *name);
#define TABLE_ROWS_MAX 4000 /* of a table that is no detail: it may have a row per instruction */
