/* SPDX-License-Identifier: Apache-2.0 */
/* producer_tables.c: the producer's own tables, for several answers. */
#include "answer/rows.h"

#include "analysis/producer_tables.h"
#include "analysis/vendor_report.h"

static const struct column cell_columns[] = {
	COLUMN(text_item, v, UNIT_NONE, "value as the producer gave it; null: empty", NULLABLE),
};
static const struct record cell_record = RECORD_OF(text_item, RECORD_SCALAR, cell_columns);
static const struct column cells_columns[] = {
	{.name = "",
		.doc = "a row, in the order of the columns",
		.of = &cell_record,
		.type = COLUMN_LIST},
};
static const struct record cells_record = {cells_columns, 1, RECORD_SCALAR, sizeof(struct rows)};

static const struct column table_columns[] = {
	COLUMN(producer_table, name, UNIT_NONE, "name of the table"),
	COLUMN(producer_table, origin, UNIT_NONE, "file or block that holds the table", NULLABLE),
	COLUMN(producer_table, rows, UNIT_COUNT, "number of rows of the table"),
	LIST(producer_table, columns, &text_item_record, "names of its columns"),
	LIST(producer_table, cells, &cells_record,
		"first rows of the table; absent if none are shown",
		.flags = COLUMN_OPTIONAL | COLUMN_BLOCK),
};
const struct record producer_table_record = RECORD_OF(producer_table, RECORD_BLOCK, table_columns);

static bool put_cells(struct answer *a, const struct named_table *k, uint64_t top,
	struct producer_table *out, struct incore_error *e)
{
	size_t n = k->n_rows < top ? k->n_rows : (size_t)top;
	struct rows *v = ANSWER_ROWS(a, &out->cells, n, rows, e);

	for (size_t i = 0; v && i < n; i++)
		v[i] = (struct rows){&k->cells[i * k->n_cols], k->n_cols};
	return v != NULL;
}

bool producer_table_rows(struct answer *a, const struct trace *t, uint64_t top, bool all,
	struct rows *out, struct incore_error *e)
{
	struct producer_table *v = ANSWER_ROWS(a, out, t->n_tables, producer_table, e);

	for (uint32_t i = 0; v && i < t->n_tables; i++) {
		const struct named_table *k = &t->tables[i];
		uint64_t n = table_is_detail(k)	    ? top
			     : !all		    ? 0
			     : top < TABLE_ROWS_MAX ? top
						    : TABLE_ROWS_MAX;

		v[i] = (struct producer_table){.name = k->name,
			.origin = k->origin,
			.rows = k->n_rows,
			.columns = {k->cols, k->n_cols}};
		if (n && !put_cells(a, k, n, &v[i], e))
			return false;
	}
	return v != NULL;
}

bool vendor_report_rows(struct answer *a, const struct trace *t, struct rows *metrics,
	struct rows *rules, struct incore_error *e)
{
	uint32_t n_metrics = vendor_metrics_count(t), n_rules = vendor_rules_count(t);
	struct vendor_metric *m =
		n_metrics ? ANSWER_ROWS(a, metrics, n_metrics, vendor_metric, e) : NULL;
	struct vendor_rule *r = n_rules ? ANSWER_ROWS(a, rules, n_rules, vendor_rule, e) : NULL;

	if (m)
		vendor_metrics_fill(t, 0, m);
	if (r)
		vendor_rules_fill(t, 0, r);
	return (m || !n_metrics) && (r || !n_rules);
}
