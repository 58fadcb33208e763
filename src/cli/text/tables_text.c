/* SPDX-License-Identifier: Apache-2.0 */
/* tables_text.c: the tables that a producer gave, as text. */
#include "cli/text/tables_text.h"

#include "analysis/summary/tables.h"
#include "base/mem.h"
#include "cli/text/say.h"
#include "cli/text/table.h"

#define MAX_COLUMNS 16u /* of a producer's table side by side; the rest is in --json */

bool tables_print_list(struct cli *c, const struct trace *t)
{
	struct table out;

	if (!t->n_tables)
		return true;
	say(c->out, "\ntables of the producer\n");
	table_titles(&out, "table<|rows|columns|from~");
	for (uint32_t i = 0; i < t->n_tables; i++)
		TABLE_ROW(&out, CELL_TEXT(t->tables[i].name), CELL_COUNT(t->tables[i].n_rows),
			CELL_COUNT(t->tables[i].n_cols), CELL_TEXT(t->tables[i].origin));
	return table_finish(&out, c);
}

bool tables_print_one(struct cli *c, const struct named_table *k, uint64_t top)
{
	struct table_column columns[MAX_COLUMNS];
	uint32_t n = k->n_cols < MAX_COLUMNS ? k->n_cols : MAX_COLUMNS;
	struct table out;
	bool ok;

	if (!n || !k->n_rows)
		return true;
	for (uint32_t i = 0; i < n; i++)
		columns[i] = (struct table_column){k->cols[i], NULL, CELL_LEFT, false};
	say(c->out, "\n%s (%s)\n", k->name, k->origin);
	table_init(&out, columns, n);
	for (uint32_t r = 0; r < k->n_rows && r < top; r++)
		for (uint32_t i = 0; i < n; i++) {
			const char *cell = table_cell(k, r, i);

			table_cstr(&out, cell ? cell : "-");
		}
	ok = table_finish(&out, c);
	if (k->n_rows > top)
		say(c->out, "%llu of %u rows shown (--top all shows every one)\n",
			(unsigned long long)top, k->n_rows);
	return ok;
}

bool tables_print_details(struct cli *c, const struct trace *t, uint64_t top)
{
	for (uint32_t i = 0; i < t->n_tables; i++)
		if (table_is_detail(&t->tables[i]) && !tables_print_one(c, &t->tables[i], top))
			return false;
	return true;
}
