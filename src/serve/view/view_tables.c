/* SPDX-License-Identifier: Apache-2.0 */
/* view_tables.c: the producer's tables that no analysis interprets, with their cells. */
#include "serve/view/view.h"

#include "base/vec.h"

static void put_cells(const struct named_table *k, struct json_writer *w)
{
	json_w_kv_array(w, "cells");
	for (uint32_t i = 0; i < k->n_rows && i < VIEW_MAX_ROWS; i++) {
		json_w_row(w);
		for (uint32_t c = 0; c < k->n_cols; c++)
			json_w_cstr(w, k->cells[(size_t)i * k->n_cols + c]);
		json_w_end(w);
	}
	json_w_end(w);
}

bool view_tables(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct trace *t = v->trace;
	struct json_writer w;

	(void)q;
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view.tables/1");
	json_w_kv_array(&w, "tables");
	EACH (const struct named_table, k, t->tables, t->n_tables) {
		json_w_row_object(&w);
		json_w_kv_cstr(&w, "name", k->name);
		json_w_kv_cstr(&w, "origin", k->origin);
		json_w_kv_u64(&w, "rows", k->n_rows);
		json_w_kv_row(&w, "columns");
		for (uint32_t c = 0; c < k->n_cols; c++)
			json_w_cstr(&w, k->cols[c]);
		json_w_end(&w);
		put_cells(k, &w);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return json_w_finish(&w, e);
}
