/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class.h: what kind of instruction, and which bucket its lost cycles go to. The one enumeration of
 * the product; names as printed are class_name()'s. Ascend and SASS classes are added at the end,
 * values never change (they are in packed files).
 */
#ifndef TRACE_CLASS_H
#define TRACE_CLASS_H

#include <stdint.h>

enum inst_class {
	CLASS_OTHER = 0,
	CLASS_MATRIX = 1,
	CLASS_TRANS = 2,
	CLASS_VALU = 3,
	CLASS_VMEM_LOAD = 4,
	CLASS_VMEM_STORE = 5,
	CLASS_VMEM_ATOMIC = 6,
	CLASS_VMEM_TO_LDS = 7,
	CLASS_LDS = 8,
	CLASS_LDS_XLANE = 9,
	CLASS_SMEM = 10,
	CLASS_SALU = 11,
	CLASS_BRANCH = 12,
	CLASS_WAIT = 13,
	CLASS_NOP = 14,
	CLASS_BARRIER = 15,
	CLASS_SLEEP = 16,
	CLASS_DRAIN = 17,
	CLASS_MSG = 18,
	CLASS_TRAP = 19,
	CLASS_BVH = 20,
	/* Ascend, by the pipe that executes; synchronisation by opcode first (isa/ascend.h). */
	CLASS_SCALAR = 21,
	CLASS_FLOWCTRL = 22,
	CLASS_MTE = 23, /* MTE1, MTE2, MTE3 */
	CLASS_CUBE = 24,
	CLASS_FIXP = 25,
	CLASS_VECTOR = 26, /* VECTOR, RVEC*, PUSHQ */
	CLASS_SIMT = 27,   /* WARP_n */
	CLASS_FLAG_SET = 28,
	CLASS_FLAG_WAIT = 29,
	CLASS_SYNC = 30, /* barriers, buffer locks, NOP_PIPE: never work */
	CLASS_CACHE_MISS = 31,
	CLASS_USERMARK = 32, /* a range the program marked: no instruction */
	CLASS_COUNT
};
const char *class_name(enum inst_class c); /* "VMEM-load", "LDS-xlane", ... */

/* The five buckets of the conserved accounting. */
enum bucket { BUCKET_ISSUE, BUCKET_STALL, BUCKET_WAIT, BUCKET_IDLE, BUCKET_DRAIN, BUCKET_COUNT };
const char *bucket_name(enum bucket b); /* "issue", ... */

/* Where the stall cycles of a slice of this class go. */
static inline enum bucket class_stall_bucket(enum inst_class c)
{
	if (c == CLASS_WAIT || c == CLASS_BARRIER || c == CLASS_SLEEP)
		return BUCKET_WAIT;
	return c == CLASS_DRAIN ? BUCKET_DRAIN : BUCKET_STALL;
}

#endif
