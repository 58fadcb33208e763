/* SPDX-License-Identifier: Apache-2.0 */
/* vendor_report.c: metrics and rules of a report, which a trace has as tables of texts. */
#include "analysis/vendor_report.h"

#include <math.h>
#include <stdlib.h>

#include "isa/ncu_names.h"

#define CAPTURE_OF(S)                                                                              \
	COLUMN(S, capture, UNIT_INDEX, "number of the capture, as in the other tables")
/* Tables have the capture, answers do not. */
#define RECORD_BEHIND_CAPTURE(T, COLUMNS)                                                          \
	{                                                                                          \
		(COLUMNS) + 1, sizeof(COLUMNS) / sizeof(*(COLUMNS)) - 1, RECORD_LINE,              \
			sizeof(struct T)                                                           \
	}

/* NaN where a cell is missing or no number. */
static double number_of(const char *cell)
{
	char *end = NULL;
	double v = cell && *cell ? strtod(cell, &end) : NAN;

	return end && *end == '\0' ? v : NAN;
}

static uint32_t count_of(const struct trace *t, const char *name)
{
	const struct named_table *k = trace_find_table(t, name);

	return k ? k->n_rows : 0;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static const struct column metric_columns[] = {
	CAPTURE_OF(vendor_metric),
	COLUMN(vendor_metric, name, UNIT_NONE,
		"name of the metric, as the vendor's profiler has it"),
	COLUMN(vendor_metric, value, UNIT_NONE, "value of the metric; null: it is a text",
		NULLABLE),
	COLUMN(vendor_metric, text, UNIT_NONE, "value of the metric as the profiler prints it",
		NULLABLE),
	COLUMN(vendor_metric, instances, UNIT_COUNT,
		"values by instruction, opcode or unit that the report also has"),
};
const struct record vendor_metric_table_record =
	RECORD_OF(vendor_metric, RECORD_LINE, metric_columns);
const struct record vendor_metric_record = RECORD_BEHIND_CAPTURE(vendor_metric, metric_columns);

uint32_t vendor_metrics_count(const struct trace *t)
{
	return count_of(t, NCU_TABLE_METRICS);
}

void vendor_metrics_fill(const struct trace *t, uint32_t capture, struct vendor_metric *v)
{
	const struct named_table *k = trace_find_table(t, NCU_TABLE_METRICS);

	for (uint32_t i = 0; k && i < k->n_rows; i++) {
		const char *text = named_table_cell(k, i, "value");
		double instances = number_of(named_table_cell(k, i, "instances"));

		v[i] = (struct vendor_metric){.capture = capture,
			.name = named_table_cell(k, i, "name"),
			.text = text,
			.value = number_of(text),
			.instances = instances > 0 ? (uint64_t)instances : 0};
	}
}

/* --- rules ------------------------------------------------------------------------------------ */

static const struct column rule_columns[] = {
	CAPTURE_OF(vendor_rule),
	COLUMN(vendor_rule, rule, UNIT_NONE, "name of the vendor's rule"),
	COLUMN(vendor_rule, section, UNIT_NONE, "section of the report that the rule belongs to",
		NULLABLE),
	COLUMN(vendor_rule, kind, UNIT_NONE, "how grave the finding is: ok, warning, ...",
		NULLABLE),
	COLUMN(vendor_rule, message, UNIT_NONE, "what the rule says"),
	COLUMN(vendor_rule, speedup, UNIT_NONE,
		"whether the estimate is of the whole kernel (global) or of a part (local)",
		NULLABLE),
	COLUMN(vendor_rule, speedup_pct, UNIT_PERCENT, "the vendor's estimate of the saving",
		NULLABLE, .digits = 2),
};
const struct record vendor_rule_table_record = RECORD_OF(vendor_rule, RECORD_LINE, rule_columns);
const struct record vendor_rule_record = RECORD_BEHIND_CAPTURE(vendor_rule, rule_columns);

uint32_t vendor_rules_count(const struct trace *t)
{
	return count_of(t, NCU_TABLE_RULES);
}

void vendor_rules_fill(const struct trace *t, uint32_t capture, struct vendor_rule *v)
{
	const struct named_table *k = trace_find_table(t, NCU_TABLE_RULES);

	for (uint32_t i = 0; k && i < k->n_rows; i++)
		v[i] = (struct vendor_rule){.capture = capture,
			.rule = named_table_cell(k, i, "rule"),
			.section = named_table_cell(k, i, "section"),
			.kind = named_table_cell(k, i, "kind"),
			.message = named_table_cell(k, i, "message"),
			.speedup = named_table_cell(k, i, "speedup"),
			.speedup_pct = number_of(named_table_cell(k, i, "speedup_pct"))};
}
