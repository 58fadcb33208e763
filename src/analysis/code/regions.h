/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.h: the code cut into ranges of the listing, for kernels whose source lines say nothing:
 * maximal runs of equal source, basic blocks, or loop bodies. Every instruction row is in exactly
 * one region, so regions add up to the whole.
 */
#pragma once

#include "analysis/flow/cfg.h"
#include "base/arena.h"
#include "trace/trace.h"

enum region_kind { REGION_SOURCE_RUN, REGION_BLOCK, REGION_LOOP };

struct region {
	code_idx first, last; /* rows of lowest and highest address */
	uint64_t first_address, last_address;
	uint32_t loop; /* REGION_LOOP: the innermost loop of its rows, or NO_LOOP */
	uint32_t n_rows, n_executed;
	struct code_totals totals;
	enum inst_class dominant; /* class with most latency; with most rows if nothing was
				     executed */
};

/* Builds the regions in address order, in arena `a`. */
bool regions_build(const struct cfg *g, enum region_kind kind, const struct code_totals *totals,
	struct arena *a, struct region **out, uint32_t *n, struct incore_error *e);
/* "0x2a40-0x2b08 VALU" */
bool region_put_label(const struct region *r, struct strbuf *out);
