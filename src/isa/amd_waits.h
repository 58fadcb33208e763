/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_waits.h: the part a code row plays in waiting. Memory instructions raise counters, wait
 * instructions hold the wave until a counter has fallen to a value. Each row's text is read once,
 * into a few bytes.
 *
 * There are two meanings: the right one (struct amd_wait_row) and the one of the viewer that wrote
 * the stored `waitcnt` arrays (struct amd_viewer_row), which has known holes and is kept only to
 * reproduce those arrays. Pure functions; only amd_wait_tables() can fail, on lack of memory.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "trace/trace.h"

/* In the order in which a wait on several counters names them: scalar and LDS first. */
enum amd_counter {
	AMD_LGKMCNT, /* gfx9 to gfx11: SMEM, LDS, cross-lane, messages */
	AMD_DSCNT,   /* gfx12 */
	AMD_KMCNT,   /* gfx12: SMEM, messages */
	AMD_EXPCNT,
	AMD_VMCNT, /* gfx9: all vector memory; gfx10, 11: loads */
	AMD_LOADCNT,
	AMD_SAMPLECNT,
	AMD_BVHCNT,
	AMD_VSCNT, /* gfx10, 11: stores */
	AMD_STORECNT,
	AMD_ASYNCCNT,
	AMD_TENSORCNT,
	AMD_COUNTERS
};
const char *amd_counter_name(enum amd_counter c); /* "vmcnt" */

/* Producer keys in byte order of their names; a set of them is a mask of bits 1 << key. */
enum amd_producer {
	AMD_PRODUCER_LDS,
	AMD_PRODUCER_LDS_XLANE,
	AMD_PRODUCER_MSG,
	AMD_PRODUCER_SMEM,
	AMD_PRODUCER_VMEM_ATOMIC,
	AMD_PRODUCER_VMEM_LOAD,
	AMD_PRODUCER_VMEM_STORE,
	AMD_PRODUCER_VMEM_TO_LDS,
	AMD_PRODUCERS
};
const char *amd_producer_name(enum amd_producer p); /* "LDS-xlane" */

enum amd_wait_role {
	AMD_ROLE_NONE = 0, /* no part in waiting */
	AMD_ROLE_PRODUCER = 1,
	AMD_ROLE_WAIT = 2,   /* counters may be empty: s_wait_alu, s_wait_xcnt, unknown waits */
	AMD_ROLE_VIEWER = 3, /* tables only: matters only to the viewer's reading */
};

#define AMD_NO_WAIT 255u /* this wait does not name the counter */

/* Kinds of instances. Those of one kind on one counter return in the order of issue, except for the
 * two unordered kinds; different kinds on one counter may overtake each other. */
enum amd_order {
	AMD_ORDER_VMEM,
	AMD_ORDER_SAMPLE,
	AMD_ORDER_BVH,
	AMD_ORDER_LDS,
	AMD_ORDER_MSG,
	AMD_ORDER_EXPORT,
	AMD_ORDER_SMEM, /* unordered */
	AMD_ORDER_FLAT, /* unordered: may be LDS or memory */
	AMD_ORDERS
};
static inline bool amd_order_is_free(enum amd_order o)
{
	return o >= AMD_ORDER_SMEM;
}

struct amd_wait_row {
	uint8_t role;	   /* enum amd_wait_role */
	uint8_t producer;  /* enum amd_producer; set for every memory instruction */
	uint8_t order;	   /* enum amd_order */
	uint16_t counters; /* bit per enum amd_counter: raised, or named by the wait */
	/* wait: value to fall to; producer: by how much the counter is raised; indexed by counter
	 */
	uint8_t value[AMD_COUNTERS];
};

/* gfx_major 9 to 12; others use the nearest. Label rows and anything unknown: AMD_ROLE_NONE. */
struct amd_wait_row amd_wait_row(unsigned gfx_major, struct str text);

/* --- the viewer's reading --- */

enum amd_viewer_push {
	AMD_PUSH_NONE = 0,
	AMD_PUSH_LIST,	     /* into the FIFO of `counter` */
	AMD_PUSH_LIST_TWICE, /* messages with a result */
	AMD_PUSH_FLAT_LOAD,  /* into the shared list of flat loads; gfx9: of all flat
				instructions */
	AMD_PUSH_FLAT_STORE,
};

struct amd_viewer_row {
	uint8_t push;	   /* enum amd_viewer_push */
	uint8_t counter;   /* enum amd_counter, for the lists */
	bool is_wait;	   /* resolves `counters` in the order of amd_viewer_order() */
	bool is_wait_idle; /* gfx12: drains every list into one entry */
	uint16_t parallel; /* counters whose out-of-order flag this row sets */
	uint16_t counters; /* named by the wait */
	uint16_t value[AMD_COUNTERS];
};

struct amd_viewer_row amd_viewer_row(unsigned gfx_major, struct str text);
/* Counters in the order in which the viewer resolves them, ended by AMD_COUNTERS. */
const uint8_t *amd_viewer_order(unsigned gfx_major);

/* --- tables of a whole trace --- */

struct amd_wait_tables {
	uint32_t n_code;
	const uint8_t *role;		     /* by code row: all that most records need */
	const struct amd_wait_row *row;	     /* by code row */
	const struct amd_viewer_row *viewer; /* by code row */
};

/* Fills the tables, in the arena. False on lack of memory. */
bool amd_wait_tables(struct arena *a, const struct trace *t, struct amd_wait_tables *out);
