/* SPDX-License-Identifier: Apache-2.0 */
/* camodel_line.h: one line of a raw dump of the simulator; everything is borrowed from the line. */
#pragma once

#include "isa/ascend.h"

struct dump_line {
	uint64_t tick, pc, id;
	bool has_id;
	bool is_popped_from_queue; /* "poped from IQ": not a start */
	struct str unit, opcode, operands;
};
/* instr_log and instr_popped_log; false: not such a line. */
bool dump_line_parse(struct str line, struct dump_line *out);

enum dump_event { DUMP_MISS, DUMP_FETCH, DUMP_ISSUE };
/* A line of an icache or ccu log: tick and address; false: another kind of line. */
bool dump_event_parse(struct str line, enum dump_event *kind, uint64_t *tick, uint64_t *address);

struct dump_transfer { /* of an mte log */
	uint64_t tick, bytes, instr_id, req_id;
	enum { DUMP_GM, DUMP_L1, DUMP_UB, DUMP_ELSEWHERE } side;
	bool is_write; /* a write to that side */
};
bool dump_transfer_parse(struct str line, struct dump_transfer *out);

enum dump_log { DUMP_NONE, DUMP_STARTS, DUMP_ENDS, DUMP_ICACHE, DUMP_CCU, DUMP_MTE, DUMP_OTHER };
/* The kind of log by file name; *core is "core0.veccore1". */
enum dump_log dump_log_of(struct str name, struct str *core);
