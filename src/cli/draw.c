/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c: writes pages, tables and colours to the output of a command. */
#include "cli/draw.h"

#include "page/write.h"

static struct text_medium medium_of(const struct cli *c)
{
	return (struct text_medium){.out = c->out, .width = c->width, .use_color = c->use_color};
}

void cli_page_init(const struct cli *c, struct page *p)
{
	page_init(p);
	p->is_csv = c->use_csv;
	p->explains = cli_flag(c, "explain");
	p->columns = cli_text(c, "columns");
}

bool cli_page_finish(struct cli *c, struct page *p)
{
	struct text_medium m;
	bool ok = page_is_whole(p, &c->error);

	if (ok && p->is_long)
		cli_page(c, p->open_at);
	m = medium_of(c);
	if (ok && c->use_csv)
		ok = page_write_csv(p, c->out) || err_nomem(&c->error);
	else if (ok)
		page_write_text(p, &m);
	page_deinit(p);
	return ok;
}

const char *style_on(const struct cli *c, enum cell_style style)
{
	return c->use_color ? style_code(style) : "";
}

const char *style_off(const struct cli *c)
{
	return c->use_color ? style_code_end : "";
}

bool table_finish(struct table *t, struct cli *c)
{
	const struct text_medium m = medium_of(c);
	bool ok = !t->is_failed && t->n_columns;

	if (ok && c->use_csv)
		ok = table_write_csv(t, c->out);
	else if (ok)
		table_write_text(t, &m);
	table_deinit(t);
	return ok || err_nomem(&c->error);
}

bool record_table_print_styled(struct cli *c, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style)
{
	const struct record_cells as = {.is_csv = c->use_csv, .style = style};
	struct table t;

	if (table_of_records(&t, r, rows, columns, &as, &c->error))
		return table_finish(&t, c);
	table_deinit(&t);
	return false;
}

bool record_table_print(
	struct cli *c, const struct record *r, struct rows rows, const char *const *columns)
{
	return record_table_print_styled(c, r, rows, columns, NULL);
}
