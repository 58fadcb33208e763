/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h: records delivered by the thread-trace decoder. Times are signed shader-clock cycles
 * as AMD's decoder counts them (gfx9: from 0; a stream's clock may jump back). `off` is the byte
 * of the stream (low 32 bits) whose token made the record. Addresses are (object, vaddr) where a
 * marker named the code object, else (0, device address); 0, 0: unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sqtt_category {
	SQTT_NONE = 0,
	SQTT_SMEM = 1,
	SQTT_SALU = 2,
	SQTT_VMEM = 3,
	SQTT_FLAT = 4,
	SQTT_LDS = 5,
	SQTT_VALU = 6,
	SQTT_JUMP = 7,
	SQTT_NEXT = 8,
	SQTT_IMMED = 9,
	SQTT_CONTEXT = 10,
	SQTT_MSG = 11,
	SQTT_BVH = 12,
	SQTT_UNCONFIRMED = 16, /* 0.1.6: issued, never confirmed, but with an address */
};

enum sqtt_state { SQTT_EMPTY = 0, SQTT_IDLE = 1, SQTT_EXEC = 2, SQTT_WAIT = 3, SQTT_STALL = 4 };

struct sqtt_inst {
	int64_t time; /* of the first stalled cycle; time + stall: issue */
	uint64_t pc;  /* 0: unknown */
	int32_t dur;  /* stall included */
	uint32_t stall;
	uint32_t off;
	uint32_t object : 24;
	uint32_t category : 8; /* enum sqtt_category */
};

struct sqtt_span {
	int32_t state; /* enum sqtt_state */
	int32_t dur;   /* 0.1.6 rules: may be 0 or negative */
};

struct sqtt_wave {
	unsigned cu; /* gfx10+: sa << 7 | wgp */
	unsigned simd, slot, contexts;
	bool is_incomplete; /* no end was seen */
	int64_t begin, end;
	uint64_t entry_pc; /* from the registers at its start; 0: unknown */
	uint32_t entry_object;
	uint32_t off, end_off; /* start and end tokens */
	const struct sqtt_inst *insts;
	size_t n_insts;
	const struct sqtt_span *timeline;
	size_t n_spans;
};

struct sqtt_occupancy {
	int64_t time;
	uint64_t pc; /* entry of the program */
	uint32_t object;
	uint32_t off;
	uint8_t cu, simd, slot;
	uint8_t is_start;
	uint8_t is_front; /* belongs before all others: the added start of an end without one */
};

struct sqtt_realtime {
	int64_t time;
	uint64_t clock;
	uint32_t off;
};

struct sqtt_perf {
	int64_t time;
	uint16_t counter[4];
	uint32_t off;
	uint8_t cu, bank;
};

struct sqtt_shaderdata {
	int64_t time;
	uint32_t value, off;
	uint8_t cu, simd, slot;
	uint8_t flags; /* 1 immediate, 2 privileged */
};

enum sqtt_event_type { /* but for the first, the numbers of occupancy.json 3.1.0 */
	SQTT_DISPATCH = 0,
	SQTT_CS_FLUSH = 1,
	SQTT_BOTTOM_OF_PIPE = 2,
	SQTT_SAVE_CONTEXT = 3,
	SQTT_PACKET_LOSS = 6,
	SQTT_STALL_BEGIN = 9,
	SQTT_STALL_END = 10,
};

struct sqtt_event {
	int64_t time;
	uint64_t pc; /* for a dispatch: entry of the program */
	uint32_t object;
	uint32_t threads[3]; /* for a dispatch: size of a workgroup; 0: unknown */
	uint8_t type;	     /* enum sqtt_event_type */
	uint8_t me, pipe;
	uint8_t flags; /* 2: bottom of pipe */
};

struct sqtt_other_simd {
	int64_t time;
	uint32_t cycles, off;
	uint8_t cu, category;
};
