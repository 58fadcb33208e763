/* SPDX-License-Identifier: Apache-2.0 */
/* camodel.h: the lines of one core's dumps, between reading (camodel.c) and joining
 * (camodel_join.c). */
#pragma once

#include "import/ascend/ascend.h"
#include "import/ascend/camodel_line.h"

struct dump_rec {
	uint64_t key, tick, order;
	struct str line;
};

struct dump_time {
	uint64_t address, tick;
};

struct core_dump {
	struct asc_build *b;
	struct str name;
	const char *unit;
	bool by_id;
	unsigned n_logs;
	VEC(struct dump_rec) starts, ends;
	VEC(struct dump_time) misses, fetches, issues;
	uint64_t n_alone[2], n_backwards, n_bad;
	struct strbuf alone[2];
	uint32_t lane_of[256];	   /* lane + 1 by pipe */
	uint64_t block, sub_block; /* + 1, as read by the program; 0: never read */
};

/* Adds the lines of one log; the bytes must stay valid until the join. False when out of memory. */
bool core_dump_add(struct core_dump *c, struct str bytes, enum dump_log log);
void core_dump_deinit(struct core_dump *c);
/* Makes slices from the lines; false when out of memory. */
bool core_dump_join(struct core_dump *c);
