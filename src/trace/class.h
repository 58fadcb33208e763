/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class.h: the kind of an instruction and what follows from it: its name, the buckets its cycles go
 * to, its colour on a timeline and the unit it issues to. This is the product's only enumeration of
 * kinds, and class.c has the only table. Ascend and SASS classes are added at the end, values never
 * change (they are in packed files). Pure; needs no C library.
 *
 * Classes come from files: every function here accepts all 256 values of a byte and treats invalid
 * ones as CLASS_OTHER.
 */
#pragma once

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
	CLASS_USERMARK = 32, /* a range marked by the program; not an instruction */
	CLASS_COUNT
};
const char *class_name(enum inst_class c); /* "VMEM-load", "LDS-xlane", ... */

/*
 * Only in the columns of a viewer, never in a trace: CLASS_WAIT_FOR + s is a CLASS_WAIT that waited
 * for operations of slot s. The tables below give it that slot, and otherwise the values of
 * CLASS_WAIT.
 */
#define CLASS_WAIT_FOR 224u
static inline uint8_t class_plain(unsigned c)
{
	return (uint8_t)(c >= CLASS_WAIT_FOR ? CLASS_WAIT : c);
}

/* The five buckets of the conserved accounting. */
enum bucket { BUCKET_ISSUE, BUCKET_STALL, BUCKET_WAIT, BUCKET_IDLE, BUCKET_DRAIN, BUCKET_COUNT };
const char *bucket_name(enum bucket b); /* "issue", ... */

/* Buckets for the stall and the issue of a slice, by class, for all 256 values of a byte. */
extern const uint8_t class_stall_buckets[256], class_issue_buckets[256];

static inline enum bucket class_stall_bucket(enum inst_class c)
{
	return (enum bucket)class_stall_buckets[c & 255u];
}

static inline enum bucket class_issue_bucket(enum inst_class c)
{
	return (enum bucket)class_issue_buckets[c & 255u];
}

/* The twelve colours of a timeline; words in tables and JSON stay those of class_name(). */
enum slot {
	SLOT_SCALAR,
	SLOT_SMEM,
	SLOT_VALU,
	SLOT_MATRIX,
	SLOT_VMEM,
	SLOT_STORE,
	SLOT_LDS,
	SLOT_CROSS_LANE,
	SLOT_BRANCH,
	SLOT_SYNC,
	SLOT_END,
	SLOT_OTHER,
	SLOT_COUNT
};
const char *slot_name(enum slot s); /* "scalar", ... */
/* Slots by class (all 256 values of a byte) for the track of that name: Ascend's move instructions
 * get the colour of the pipe they run on. The table is static. */
const uint8_t *slots_of_track(const char *track_name);
/* The letter drawn on a slice of the class if there is room. */
char class_letter(enum inst_class c);

/* The unit of a SIMD that a slice occupies while it issues. */
enum simd_unit {
	SIMD_VALU,
	SIMD_MATRIX,
	SIMD_LDS,
	SIMD_VMEM,
	SIMD_SALU,
	SIMD_SMEM,
	SIMD_BRANCH,
	SIMD_OTHER,
	SIMD_NONE, /* waits, nops, barriers, sleeps, the end of the program */
	SIMD_UNITS
};
extern const uint8_t class_units[256]; /* by class, for all 256 values of a byte */

static inline enum simd_unit class_unit(enum inst_class c)
{
	return (enum simd_unit)class_units[c & 255u];
}
