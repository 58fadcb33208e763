/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h: data that counters.c and spm.c collect for the trace. Owner: struct counters belongs
 * to one read; samples and names are in the trace's arena.
 */
#pragma once

#include "import/ui_output/ui_output.h"

struct counters {
	struct ui_build *b;
	clock_idx clock; /* of the file being read */
	VEC(struct counter_series) series;
	VEC(struct marker) markers;
	VEC(struct other_issue) issues;
	bool is_nomem;
};

/* b->counters is set while these run; each is a ui_parse_fn. */
bool ui_perfcounter_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_markers_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_issues_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_spm_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
