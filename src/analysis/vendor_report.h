/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vendor_report.h: what a report of the vendor's profiler states besides instructions, as rows: its
 * metrics, and what its own rules say. Texts belong to the trace.
 */
#pragma once

#include "codec/record.h"
#include "trace/trace.h"

struct vendor_metric {
	uint32_t capture; /* in tables */
	const char *name, *text;
	double value; /* NaN: a text */
	uint64_t instances;
};
extern const struct record vendor_metric_record, vendor_metric_table_record;
uint32_t vendor_metrics_count(const struct trace *t);
void vendor_metrics_fill(const struct trace *t, uint32_t capture, struct vendor_metric *v);

struct vendor_rule {
	uint32_t capture; /* in tables */
	const char *rule, *section, *kind, *message, *speedup;
	double speedup_pct; /* NaN: none is estimated */
};
extern const struct record vendor_rule_record, vendor_rule_table_record;
uint32_t vendor_rules_count(const struct trace *t);
void vendor_rules_fill(const struct trace *t, uint32_t capture, struct vendor_rule *v);
