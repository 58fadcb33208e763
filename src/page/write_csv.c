/* SPDX-License-Identifier: Apache-2.0 */
/* write_csv.c: the tables of a page as CSV. */
#include "codec/csv.h"
#include "page/write.h"

#define FLUSH_BYTES (1u << 16)

static void put_titles(const struct table *t, struct strbuf *line)
{
	for (unsigned k = 0; k < t->n_columns; k++) {
		const struct table_column *c = &t->columns[k];

		if (k)
			sb_putc(line, ',');
		csv_put(line, str_of(c->csv_title ? c->csv_title : c->title));
	}
	sb_puts(line, "\r\n");
}

bool table_write_csv(const struct table *t, FILE *out)
{
	struct strbuf line = {0};
	bool ok;

	put_titles(t, &line);
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct table_cell *cell = &t->cells.v[i];

		(cell->is_text ? csv_put_text : csv_put)(
			&line, str_of(cell->csv ? cell->csv : cell->text));
		sb_puts(&line, i % t->n_columns + 1 == t->n_columns ? "\r\n" : ",");
		if (line.n > FLUSH_BYTES && !line.failed) {
			fwrite(line.p, 1, line.n, out);
			sb_reset(&line);
		}
	}
	if (line.n && !line.failed)
		fwrite(line.p, 1, line.n, out);
	ok = !line.failed;
	sb_free(&line);
	return ok;
}

bool page_write_csv(const struct page *p, FILE *out)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (!table_write_csv(p->tables.v[i], out))
			return false;
	return true;
}
