/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h: how many blocks of an NVIDIA launch an SM can hold, what says so, what would let one
 * more in, and how even the grid fills the device. Figures are the report's own where it states
 * them and computed from the launch and the device where not; which is which is told.
 * Threads: pure. Fails never: what is not known is NO_VALUE.
 */
#pragma once

#include "base/str.h"
#include "trace/trace.h"

enum block_limit {
	BLOCKS_REGISTERS,
	BLOCKS_SHARED,
	BLOCKS_WARPS,
	BLOCKS_SLOTS, /* the SM holds so many blocks of any kind */
	BLOCKS_BARRIERS,
	BLOCKS_CLUSTERS,
	BLOCKS_GRID, /* no more were launched */
	BLOCKS_LIMITS
};

struct block_limits {
	struct block_count {
		int64_t blocks; /* per SM, or NO_VALUE */
		bool is_computed;
	} by[BLOCKS_LIMITS];
	int64_t per_sm;		  /* the least, or NO_VALUE */
	unsigned mask;		  /* 1 << limit of all that equal it */
	int64_t warps, max_warps; /* of a block; of an SM */
	int64_t sms, schedulers, grid, threads;
	int64_t registers; /* of a thread, as given out */
	int64_t shared, shared_config,
		shared_max; /* bytes of a block; of the SM, as set and at most */
	int64_t cluster;    /* blocks in one, 0: none */
	double fills;	    /* how often the grid fills the device; not a number: not known */
	bool is_fills_computed;
	double achieved_pct; /* of the warps that an SM can hold, measured; or not a number */
};

const char *block_limit_name(enum block_limit k); /* "registers", "shared memory", ... */
void blocks_compute(const struct trace *t, struct block_limits *b);
/* "limited to 2 blocks per SM (16 of 64 warps) by registers (...)" */
bool blocks_put_limit(const struct block_limits *b, struct strbuf *out);
/* The same, with how many there were and what stays empty at the end. */
bool blocks_put_sentence(const struct block_limits *b, struct strbuf *out);
/* "3 blocks need <= 80 registers per thread (now 120); ..." */
bool blocks_put_next_step(const struct block_limits *b, struct strbuf *out);
