/* SPDX-License-Identifier: Apache-2.0 */
/* report_part.h: which slices go into a report, by --waves, --window and --hottest. */
#pragma once

#include "cli/cli.h"
#include "serve/report/blob.h"

struct report_part {
	struct blob_part *parts; /* by track; NULL: all */
	uint64_t n_slices;	 /* that go in */
	struct strbuf left_out;	 /* said on the page; empty: nothing */
};

/* Fills c->error on failure. */
bool report_part_make(struct report_part *p, struct cli *c, const struct view *v);
void report_part_deinit(struct report_part *p);
