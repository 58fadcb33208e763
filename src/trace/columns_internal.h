/* SPDX-License-Identifier: Apache-2.0 */
/* columns_internal.h: a columns file, shared by its writer and its reader. Native byte order and
 * layout: it is a cache of this machine, never exchanged. */
#pragma once

#include "trace/columns.h"

#define COLUMNS_MAGIC "incols1"
#define COLUMNS_VERSION 2u
#define COLUMNS_FIRST 128u /* lowest offset of the first lane */

struct columns_head { /* at the start; written last */
	char magic[8];
	uint32_t version, lane_sums;
	uint64_t key[2];
	uint32_t n_tracks, n_lanes;
	uint64_t dir_offset, dir_hash, file_bytes;
};
_Static_assert(sizeof(struct columns_head) <= COLUMNS_FIRST, "the head lies before the lanes");

struct columns_entry { /* the directory: one per lane */
	uint32_t track, n, first, n_sub;
	uint64_t base_cyc, begin_cyc, end_cyc, offset, hash;
};

/* Appends the directory, writes the head, and calls fsync. */
bool columns_file_end(int fd, const struct columns *c, uint64_t offset, const uint64_t key[2],
	struct incore_error *e);
