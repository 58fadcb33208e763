/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_table.h: the data of ascend_table.c, used by ascend.c only. */
#pragma once

#include "isa/ascend.h"

struct ascend_name {
	const char *name; /* NULL ends a table */
	enum ascend_pipe pipe;
};

struct ascend_sync_name {
	const char *name; /* NULL ends the table */
	enum ascend_sync sync;
};

extern const struct ascend_lane ascend_lane_table[];
extern const size_t ascend_lane_count;
extern const struct ascend_lane ascend_warp_lane, ascend_other_lane;
extern const struct ascend_name ascend_unit_names[];
extern const struct ascend_sync_name ascend_sync_names[];
extern const struct ascend_soc ascend_soc_table[];
extern const size_t ascend_soc_count;
