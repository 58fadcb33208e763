/* SPDX-License-Identifier: Apache-2.0 */
/* tables_page.h: the tables of the producer. */
#pragma once

#include "page/page.h"
#include "trace/trace.h"

/* One line per table: name, rows, columns, where it comes from. */
void put_table_list(struct page *p, const struct trace *t);
/* The first `top` rows of one table, under its name. */
void put_named_table(struct page *p, const struct named_table *k, uint64_t top);
/* The first `top` rows of every table of details. */
void put_detail_tables(struct page *p, const struct trace *t, uint64_t top);
