/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_live.h: which vector registers one instruction reads and which it overwrites, read off its
 * disassembly: the first operand is written, but for stores and whatever returns nothing; some also
 * read what they write (accumulating forms, half-register loads). A write under an execution mask
 * counts as a whole one. Pure functions, nothing fails.
 */
#pragma once

#include "isa/amd_regs.h"

/* Sets of registers: bit n is vn, bit accum_at + n is an. What lies beyond `bits` is left out. */
struct amd_live_sets {
	uint64_t *reads, *writes;
	uint32_t accum_at, bits;
};

/* Adds the registers of a row to both sets. */
void amd_live_row(struct str text, const struct amd_live_sets *out);
