/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_live.h: which vector registers an instruction reads and which it overwrites, according to its
 * disassembly: the first operand is written, except by stores and other instructions without a
 * result; some also read what they write (accumulating forms, half-register loads). A write under
 * an execution mask counts as a full write. Pure functions, nothing fails.
 */
#pragma once

#include "isa/amd_regs.h"

/* Sets of registers: bit n is vn, bit accum_at + n is an. Registers beyond `bits` are left out. */
struct amd_live_sets {
	uint64_t *reads, *writes;
	uint32_t accum_at, bits;
};

/* Adds the registers of a row to both sets. */
void amd_live_row(struct str text, const struct amd_live_sets *out);
