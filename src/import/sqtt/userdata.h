/* SPDX-License-Identifier: Apache-2.0 */
/*
 * userdata.h: data that the capture software wrote into the stream through the USERDATA registers:
 * addresses of code objects, the realtime clock, the counter interval.
 */
#pragma once

#include "base/vec.h"
#include "import/sqtt/code_lines.h"

#define REG_USERDATA2 0xc342u
#define REG_USERDATA3 0xc343u

struct object_words { /* words received so far from one (me, pipe) */
	uint32_t size[2], addr[2], id[2];
	uint8_t expect; /* type + 1 of the next payload; 0: a header is next */
};

struct entry_cache { /* the resolved program address of a queue */
	uint64_t addr;
	uint64_t version;
	struct sqtt_pc pc;
};

struct userdata {
	bool is_enabled;
	bool is_rt_short;  /* one word of realtime, its low half */
	uint8_t rt_expect; /* words of realtime still to come */
	uint32_t rt_low, rt_high;
	struct object_words words[8];
	uint64_t version; /* changes with the ranges */
	struct entry_cache entries[8];
	const struct sqtt_places *places;   /* or NULL; of the caller */
	VEC(struct object_range) ranges;    /* active now */
	VEC(struct object_range) preloaded; /* loaded before the trace began */
};

struct decoder;

/* Handles a write to USERDATA2 or 3 by queue me * 4 + pipe at time now. */
void userdata_write(struct decoder *d, unsigned reg, unsigned queue, uint32_t data, int64_t now);
/* Maps a device address to (object, vaddr) if a range holds it. */
struct sqtt_pc userdata_resolve(const struct userdata *u, uint64_t addr);
/* userdata_resolve() among the objects that were loaded before the trace. */
struct sqtt_pc userdata_resolve_preloaded(const struct userdata *u, uint64_t addr);
/* The entry of waves of queue me * 4 + pipe, from its current registers; 0, 0: unknown. */
struct sqtt_pc userdata_entry(struct decoder *d, unsigned queue);
void userdata_deinit(struct userdata *u);
