/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h: how a verb writes to the screen: a page in the medium that the command line asks for. The
 * rest is for verbs that print line by line.
 */
#pragma once

#include "cli/cli.h"
#include "page/page.h"

/* Initialises a page as the options of c->verb say; page_deinit() frees. */
void cli_page_init(const struct cli *c, struct page *p);
/* Writes it as text or CSV, through a pager if it is long, and frees it. False fills c->error. */
bool cli_page_finish(struct cli *c, struct page *p);

/* Codes for coloured text, "" without colour: say(c->out, "%s...%s", style_on(c, CELL_HOT),
 * style_off(c)). */
const char *style_on(const struct cli *c, enum cell_style style);
const char *style_off(const struct cli *c);
/* Writes a table as text or CSV and frees it. */
bool table_finish(struct table *t, struct cli *c);
/* Prints rows with the listed columns; NULL ends the list. */
bool record_table_print(
	struct cli *c, const struct record *r, struct rows rows, const char *const *columns);
bool record_table_print_styled(struct cli *c, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style);
