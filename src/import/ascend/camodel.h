/* SPDX-License-Identifier: Apache-2.0 */
/* camodel.h: the lines of one core's dumps, between reading and joining. */
#pragma once

#include "import/ascend/ascend.h"
#include "isa/ascend.h"

/* --- one line --------------------------------------------------------------------------------- */

/* One line of a raw dump of the simulator; everything is borrowed from the line. */

struct dump_line {
	uint64_t tick, pc, id;
	bool has_id;
	bool is_popped_from_queue; /* "poped from IQ": not a start */
	struct str unit, opcode, operands;
};

enum dump_event { DUMP_MISS, DUMP_FETCH, DUMP_ISSUE };

struct dump_transfer { /* of an mte log */
	uint64_t tick, bytes, instr_id, req_id;
	enum { DUMP_GM, DUMP_L1, DUMP_UB, DUMP_ELSEWHERE } side;
	bool is_write; /* a write to that side */
};

enum dump_log { DUMP_NONE, DUMP_STARTS, DUMP_ENDS, DUMP_ICACHE, DUMP_CCU, DUMP_MTE, DUMP_OTHER };

/* --- a core ----------------------------------------------------------------------------------- */

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
