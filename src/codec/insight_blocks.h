/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_blocks.h: the container of MindStudio Insight (visualize_data.bin): consecutive blocks
 * without index or checksum. Nothing is copied: blocks borrow the bytes they were read from.
 * Damage after the first good block ends the list and is described in `rest`; a bad first header
 * is an error. Owner: the caller; insight_blocks_deinit().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#define INSIGHT_HEADER_BYTES 12
#define INSIGHT_PATH_BYTES 4096 /* of a SOURCE block, not counted in contentSize */
#define INSIGHT_MARK 0x5a

enum insight_type {
	INSIGHT_SOURCE = 0x01,
	INSIGHT_TRACE = 0x02,
	INSIGHT_API_FILE = 0x03,
	INSIGHT_API_INSTR = 0x04,
	INSIGHT_BASE_INFO = 0x05,
	INSIGHT_COMPUTE_GRAPH = 0x06,
	INSIGHT_COMPUTE_TABLE = 0x07,
	INSIGHT_MEMORY_GRAPH = 0x08,
	INSIGHT_MEMORY_TABLE = 0x09,
	INSIGHT_OCCUPANCY = 0x0c,
	INSIGHT_ROOFLINE = 0x0d,
	INSIGHT_CACHE = 0x0e,
	INSIGHT_TOP_STALL = 0x0f,
	INSIGHT_FREE = 0x10,   /* and above: free for other writers */
	INSIGHT_TABLES = 0x70, /* ours: the trace without its slices, as a packed trace */
};
const char *insight_type_name(unsigned type); /* "TRACE"; "unknown" */

struct insight_block {
	uint64_t offset; /* of its header */
	uint64_t size;	 /* contentSize as stored: payload and padding */
	uint8_t type, padding, version, reserve;
	struct str path;    /* SOURCE only, up to its NUL */
	struct str payload; /* without padding */
	bool is_legacy;	    /* SOURCE whose contentSize counts the path too */
};

struct insight_blocks {
	VEC(struct insight_block) v;
	uint64_t rest_offset, rest_bytes; /* unreadable bytes after the last block; 0: none */
	char rest_why[80];
	uint32_t n_odd_reserve; /* blocks after the first whose reserve byte is not 0x5a */
};

/* Can these first bytes of a file be the header of a block? For sniffing. */
bool insight_is_head(const uint8_t *head, size_t n);
bool insight_blocks_read(struct insight_blocks *b, const void *data, size_t size, const char *path,
	struct incore_error *e);
void insight_blocks_deinit(struct insight_blocks *b);
