/* SPDX-License-Identifier: Apache-2.0 */
/* producer_tables.c: which tables of a producer are worth showing, and the text of their cells. */
#include "analysis/producer_tables.h"

#include <math.h>
#include <stdlib.h>

#include "isa/ascend.h"
#include "isa/ncu_names.h"

bool table_is_detail(const struct named_table *k)
{
	static const char *const names[] = {ASCEND_TABLE_BASE, ASCEND_TABLE_BLOCK_DETAIL,
		ASCEND_TABLE_COMPUTE, ASCEND_TABLE_COMPUTE_ALL, ASCEND_TABLE_MEMORY_CORE,
		ASCEND_TABLE_MEMORY, ASCEND_TABLE_MEMORY_ALL, ASCEND_TABLE_OCCUPANCY,
		ASCEND_TABLE_ROOFLINE, ASCEND_TABLE_STALL, ASCEND_TABLE_ADVICE, ASCEND_TABLE_BUSY,
		NCU_TABLE_SECTIONS, NCU_TABLE_RULES};

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

double table_metric(const struct trace *t, const char *name)
{
	const struct named_table *k = trace_find_table(t, NCU_TABLE_METRICS);

	for (uint32_t i = 0; k && k->n_cols > 1 && i < k->n_rows; i++) {
		const char *const *cell = &k->cells[(size_t)i * k->n_cols];
		char *end;
		double v;

		if (!cell[0] || !cell[1] || strcmp(cell[0], name) != 0)
			continue;
		v = strtod(cell[1], &end);
		return end != cell[1] ? v : (double)NAN;
	}
	return (double)NAN;
}
