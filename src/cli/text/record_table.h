/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_table.h: rows of an answer as a text table or CSV, by the descriptions of their columns.
 * A column is named by its path in the record; "path=TITLE" heads it otherwise, in CSV too, and
 * "path=TITLE=csv_title" each in its own way. "2?path" is left out as the second where a terminal
 * is too narrow for all.
 */
#pragma once

#include "cli/cli.h"
#include "cli/text/table.h"
#include "codec/record.h"

/* Prints rows with the columns in the list, which NULL ends. May fail: memory, in c->error. */
bool record_table_print(
	struct cli *c, const struct record *r, struct rows rows, const char *const *columns);

/* How a cell is coloured: by its row and the name of its column. */
typedef enum cell_style (*cell_style_fn)(const void *row, const char *column);
bool record_table_print_styled(struct cli *c, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style);
