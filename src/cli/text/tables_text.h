/* SPDX-License-Identifier: Apache-2.0 */
/* tables_text.h: the tables that a producer gave, as text. */
#pragma once

#include "cli/cli.h"

/* One line a table: name, rows, columns, where it stands. */
bool tables_print_list(struct cli *c, const struct trace *t);
/* The first `top` rows of one table, under its name. */
bool tables_print_one(struct cli *c, const struct named_table *k, uint64_t top);
/* The same of every table of details. */
bool tables_print_details(struct cli *c, const struct trace *t, uint64_t top);
