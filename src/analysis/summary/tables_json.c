/* SPDX-License-Identifier: Apache-2.0 */
/* tables_json.c: the tables that a producer gave, as JSON. */
#include "analysis/summary/tables.h"

#include "isa/ascend.h"

bool table_is_detail(const struct named_table *k)
{
	static const char *const names[] = {ASCEND_TABLE_BASE, ASCEND_TABLE_BLOCK_DETAIL,
		ASCEND_TABLE_COMPUTE, ASCEND_TABLE_COMPUTE_ALL, ASCEND_TABLE_MEMORY_CORE,
		ASCEND_TABLE_MEMORY, ASCEND_TABLE_MEMORY_ALL, ASCEND_TABLE_OCCUPANCY,
		ASCEND_TABLE_ROOFLINE, ASCEND_TABLE_STALL, ASCEND_TABLE_ADVICE, ASCEND_TABLE_BUSY};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(k->name, names[i]))
			return true;
	return false;
}

const char *table_cell(const struct named_table *k, uint32_t row, uint32_t col)
{
	static const char *const units[] = {"us", "instructions", "bytes", "%"};
	const char *cell = k->cells[(size_t)row * k->n_cols + col];

	if (cell && cell[0] >= '0' && cell[0] <= '3' && !cell[1] && !strcmp(k->cols[col], "unit") &&
		(!strcmp(k->name, ASCEND_TABLE_COMPUTE) ||
			!strcmp(k->name, ASCEND_TABLE_COMPUTE_ALL)))
		return units[cell[0] - '0'];
	return cell;
}

const struct named_table *table_of_occupancy(const struct trace *t)
{
	return trace_find_table(t, ASCEND_TABLE_OCCUPANCY);
}

static void put_cells(const struct named_table *k, uint64_t top, struct json_writer *w)
{
	json_w_key(w, "cells");
	json_w_array(w);
	for (uint32_t r = 0; r < k->n_rows && r < top; r++) {
		json_w_row(w);
		for (uint32_t c = 0; c < k->n_cols; c++)
			json_w_cstr(w, k->cells[(size_t)r * k->n_cols + c]);
		json_w_end(w);
	}
	json_w_end(w);
}

void tables_json(const struct trace *t, uint64_t top, bool all, struct json_writer *w)
{
	json_w_key(w, "tables");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_tables; i++) {
		const struct named_table *k = &t->tables[i];

		json_w_object(w);
		json_w_kv_cstr(w, "name", k->name);
		json_w_kv_cstr(w, "origin", k->origin);
		json_w_kv_u64(w, "rows", k->n_rows);
		json_w_key(w, "columns");
		json_w_row(w);
		for (uint32_t c = 0; c < k->n_cols; c++)
			json_w_cstr(w, k->cols[c]);
		json_w_end(w);
		if (top && table_is_detail(k))
			put_cells(k, top, w);
		else if (all)
			put_cells(k, top < TABLE_ROWS_MAX ? top : TABLE_ROWS_MAX, w);
		json_w_end(w);
	}
	json_w_end(w);
}
