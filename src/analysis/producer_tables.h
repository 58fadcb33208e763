/* SPDX-License-Identifier: Apache-2.0 */
/* producer_tables.h: tables given by the producer that no analysis interprets (trace.tables). */
#pragma once

#include "trace/trace.h"

/* Does the table deserve a page of its own? Yes for details of a run, no for rows of instructions
 * or blocks. */
bool table_is_detail(const struct named_table *k);
/* Text of a cell; numeric codes in a column of units are translated to words. NULL if the cell is
 * empty. */
const char *table_cell(const struct named_table *k, uint32_t row, uint32_t col);
/* How busy each core was, as stated by an on-device run, or NULL. */
const struct named_table *table_of_occupancy(const struct trace *t);
/* The value of a metric of an NVIDIA report; NaN if it is missing or not a number. */
double table_metric(const struct trace *t, const char *name);
#define TABLE_ROWS_MAX 4000 /* for tables other than details: may have a row per instruction */
