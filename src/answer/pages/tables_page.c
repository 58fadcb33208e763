/* SPDX-License-Identifier: Apache-2.0 */
/* tables_page.c: the tables of the producer. */
#include "answer/pages/tables_page.h"

#include "analysis/producer_tables.h"

#define MAX_COLUMNS 16u /* limit for a producer's table; the rest is in --json */

void put_table_list(struct page *p, const struct trace *t)
{
	struct table *out;

	if (!t->n_tables)
		return;
	page_gap(p);
	page_line(p, "tables of the producer");
	out = page_table(p, "table<|rows|columns|from~");
	for (uint32_t i = 0; i < t->n_tables; i++)
		TABLE_ROW(out, CELL_TEXT(t->tables[i].name), CELL_COUNT(t->tables[i].n_rows),
			CELL_COUNT(t->tables[i].n_cols), CELL_TEXT(t->tables[i].origin));
}

void put_named_table(struct page *p, const struct named_table *k, uint64_t top)
{
	struct table_column columns[MAX_COLUMNS];
	uint32_t n = k->n_cols < MAX_COLUMNS ? k->n_cols : MAX_COLUMNS;
	struct table *out;

	if (!n || !k->n_rows)
		return;
	for (uint32_t i = 0; i < n; i++)
		columns[i] = (struct table_column){k->cols[i], NULL, CELL_LEFT, false};
	page_gap(p);
	page_line(p, "%s (%s)", k->name, k->origin);
	out = page_table_of(p, columns, n);
	for (uint32_t r = 0; r < k->n_rows && r < top; r++)
		for (uint32_t i = 0; i < n; i++) {
			const char *cell = table_cell(k, r, i);

			table_cstr(out, cell ? cell : "-");
		}
	if (k->n_rows > top)
		page_line(p, "%llu of %u rows shown (--top all shows every one)",
			(unsigned long long)top, k->n_rows);
}

void put_detail_tables(struct page *p, const struct trace *t, uint64_t top)
{
	for (uint32_t i = 0; i < t->n_tables; i++)
		if (table_is_detail(&t->tables[i]))
			put_named_table(p, &t->tables[i], top);
}
