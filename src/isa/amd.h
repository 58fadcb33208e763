/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd.h: the class of an AMD instruction, from its trace category and its disassembly. The category
 * of a record decides first, then the text; a code row without a record is classified by text only.
 * Nothing here fails on unexpected text: it becomes CLASS_OTHER.
 * Threads: all functions are pure except amd_class_lut(), which allocates in the caller's arena.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "trace/class.h"
#include "trace/trace.h"

/* Record categories of the thread-trace decoder. */
enum amd_category {
	AMD_CATEGORY_NONE = 0,
	AMD_CATEGORY_SMEM = 1,
	AMD_CATEGORY_SALU = 2,
	AMD_CATEGORY_VMEM = 3,
	AMD_CATEGORY_FLAT = 4, /* global_* as a rule, not flat addressing */
	AMD_CATEGORY_LDS = 5,
	AMD_CATEGORY_VALU = 6, /* matrix instructions too */
	AMD_CATEGORY_JUMP = 7, /* branch taken */
	AMD_CATEGORY_NEXT = 8, /* branch not taken */
	AMD_CATEGORY_IMMED = 9,
	AMD_CATEGORY_CONTEXT = 10,
	AMD_CATEGORY_MESSAGE = 11,
	AMD_CATEGORY_BVH = 12,
	AMD_CATEGORY_COUNT = 13,
};

#define AMD_NO_CATEGORY 255u
#define AMD_LUT_WIDTH 16u /* entries per row of amd_class_lut(); larger categories use the last */

/* First word of a disassembly line: "s_waitcnt". Empty for a label or blank text. */
struct str amd_mnemonic(struct str text);

/* Class of a record; category >= AMD_LUT_WIDTH (AMD_NO_CATEGORY): by text only. */
enum inst_class amd_class(unsigned category, struct str text);
/* Class of a record whose row is unknown. */
enum inst_class amd_class_of_category(unsigned category);

/* lut[code * AMD_LUT_WIDTH + category] for all rows of t, followed by a row for records that name
 * no row: by category only. False on lack of memory. */
bool amd_class_lut(struct arena *a, const struct trace *t, const uint8_t **lut);

/* Is it s_branch, s_cbranch_* or s_call_b64, and where does it go? The word offset is an unsigned
 * decimal (two's complement), a signed number or hex. False: no static target. */
bool amd_branch_target(struct str text, uint64_t address, uint64_t *target);
/* s_branch, s_setpc, s_endpgm: control never reaches the next row. */
bool amd_ends_block(struct str text);
bool amd_is_branch(struct str text);
/* Is it executed without leaving a record in a thread trace? True for scheduler hints of gfx11 and
 * later. */
bool amd_is_untraced(unsigned gfx_major, struct str text);

/* --- machines --------------------------------------------------------------------------------- */

/*
 * What a chip offers a wave, for captures that do not say. These are assumptions by target name,
 * and every figure that uses one must say so. The table is in amd.c.
 */

struct amd_machine {
	const char *arch;    /* "gfx950", or a family ("gfx9") if only that is known */
	const char *product; /* the product whose device totals are given */
	uint32_t waves_per_simd;
	uint32_t vgprs_per_simd; /* pool shared by all waves of a SIMD, in wave-sized registers */
	uint32_t vgpr_granule;
	bool has_unified_accum; /* accumulation registers come from the same pool */
	uint32_t lds_bytes_per_cu;
	uint32_t simds_per_cu;
	uint32_t simds; /* in the device; 0: differs between products */
	uint32_t wave_size;
	bool is_family; /* the name says only the family: more is assumed */
};

/* Returns the row of that target, or of its family ("gfx9", "gfx11"), or NULL. */
const struct amd_machine *amd_machine_find(const char *arch, unsigned gfx_major);
