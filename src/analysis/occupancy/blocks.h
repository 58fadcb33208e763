/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h: how many blocks of an NVIDIA launch an SM can hold, what limits them, what would allow
 * one more, and how evenly the grid fills the device. Figures are the report's own where it states
 * them, else computed from the launch and the device; is_computed says which.
 * Threads: pure. Never fails: unknown figures are NO_VALUE.
 */
#pragma once

#include "base/str.h"
#include "trace/trace.h"

enum block_limit {
	BLOCKS_REGISTERS,
	BLOCKS_SHARED,
	BLOCKS_WARPS,
	BLOCKS_SLOTS, /* most blocks of any kind that the SM holds */
	BLOCKS_BARRIERS,
	BLOCKS_CLUSTERS,
	BLOCKS_GRID, /* number of blocks launched */
	BLOCKS_LIMITS
};

struct block_limits {
	struct block_count {
		int64_t blocks; /* per SM, or NO_VALUE */
		bool is_computed;
	} by[BLOCKS_LIMITS];
	int64_t per_sm;		  /* the smallest limit, or NO_VALUE */
	unsigned mask;		  /* 1 << limit of all equal to per_sm */
	int64_t warps, max_warps; /* per block; per SM */
	int64_t sms, schedulers, grid, threads;
	int64_t registers; /* per thread, as allocated */
	int64_t shared, shared_config,
		shared_max; /* bytes: per block; per SM as configured; per SM at most */
	int64_t cluster;    /* blocks per cluster; 0: no clusters */
	double fills;	    /* how often the grid fills the device; NaN: unknown */
	bool is_fills_computed;
	double achieved_pct; /* measured, in per cent of the warps an SM can hold; or NaN */
};

const char *block_limit_name(enum block_limit k); /* "registers", "shared memory", ... */
/* "limited to 2 blocks per SM (16 of 64 warps) by registers (...)" */
bool blocks_put_limit(const struct block_limits *b, struct strbuf *out);
