/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h: how a verb reaches the screen: the medium of a command line, and a page on it. Verbs that put
 * their lines out one by one have the rest.
 */
#pragma once

#include "cli/cli.h"
#include "page/page.h"

/* A page as c->verb's options ask for it; page_deinit() frees. */
void cli_page_init(const struct cli *c, struct page *p);
/* Writes it as text or CSV, through a pager if it is long, and frees it. False fills c->error. */
bool cli_page_finish(struct cli *c, struct page *p);

/* Colour for text: "" without colour. say(c->out, "%s...%s", style_on(c, CELL_HOT), style_off(c)). */
const char *style_on(const struct cli *c, enum cell_style style);
const char *style_off(const struct cli *c);
/* Words of s and a line's end, broken to fit, each line after `indent` blanks, which stand there. */
void cli_wrapped(const struct cli *c, const char *s, unsigned first, unsigned indent);
/* Writes a table as text or CSV and frees it. */
bool table_finish(struct table *t, struct cli *c);
/* Rows with the columns in the list, which NULL ends. */
bool record_table_print(
	struct cli *c, const struct record *r, struct rows rows, const char *const *columns);
bool record_table_print_styled(struct cli *c, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style);
