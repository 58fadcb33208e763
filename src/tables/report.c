/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: metrics and rules of a report of the vendor's profiler as tables. */
#include "analysis/vendor_report.h"
#include "tables/source.h"

static bool make_metrics(struct table_cursor *c, struct incore_error *e)
{
	struct vendor_metric *v = TABLE_ROWS(c, vendor_metrics_count(c->trace), vendor_metric, e);

	if (v)
		vendor_metrics_fill(c->trace, c->scan.capture, v);
	return v != NULL;
}

static uint64_t estimate_metrics(const struct trace *t)
{
	return vendor_metrics_count(t);
}

const struct table metrics_table = {
	.name = "metrics",
	.doc = "all metrics of a report of the vendor's profiler",
	.record = &vendor_metric_table_record,
	.has_lasting_texts = true,
	.source = &(const struct table_source){.make = make_metrics, .estimate = estimate_metrics},
};

static bool make_rules(struct table_cursor *c, struct incore_error *e)
{
	struct vendor_rule *v = TABLE_ROWS(c, vendor_rules_count(c->trace), vendor_rule, e);

	if (v)
		vendor_rules_fill(c->trace, c->scan.capture, v);
	return v != NULL;
}

static uint64_t estimate_rules(const struct trace *t)
{
	return vendor_rules_count(t);
}

const struct table vendor_rules_table = {
	.name = "vendor_rules",
	.doc = "what the rules of the vendor's profiler say, with their estimates",
	.record = &vendor_rule_table_record,
	.has_lasting_texts = true,
	.source = &(const struct table_source){.make = make_rules, .estimate = estimate_rules},
};
