/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands.h: which registers an instruction reads and writes. Taken from its disassembly, or
 * from its words where the text holds only those (amd_words.h). Implicit registers count: EXEC for
 * vector instructions, SCC, VCC and EXEC for branches, M0 for loads into LDS. A write under an
 * execution mask counts as a full write. From words the width of an operand is not always known;
 * then it counts as one register. Pure functions, nothing fails.
 */
#pragma once

#include "base/str.h"
#include "isa/amd_regs.h"

/* One numbering for all register files: scalars as the hardware numbers them, then SCC, V, A. */
enum amd_reg {
	AMD_REG_VCC = 106, /* and 107 */
	AMD_REG_M0 = 124,
	AMD_REG_EXEC = 126, /* and 127 */
	AMD_REG_SCC = 128,
	AMD_REG_V = 256,
	AMD_REG_A = AMD_REG_V + AMD_MAX_VGPR,
};

struct amd_reg_range {
	uint16_t first, last; /* both included */
};

#define AMD_MAX_OPERANDS 14u /* further operands are left out */

struct amd_reg_list {
	uint8_t n;
	struct amd_reg_range v[AMD_MAX_OPERANDS];
};

struct amd_operands {
	struct amd_reg_list reads, writes;
};

/* Operands of one row; gfx_major selects the encoding of words. */
void amd_operands_row(unsigned gfx_major, struct str text, struct amd_operands *out);
/* The two readers behind it: from disassembly, and from the words at text.p + at ("<0x... 0x...>").
 * The latter returns false, with *out unchanged, for an encoding it does not know. */
void amd_operands_text(struct str text, struct amd_operands *out);
bool amd_operands_words(unsigned gfx_major, struct str text, size_t at, struct amd_operands *out);
void amd_regs_push(struct amd_reg_list *l, unsigned first, unsigned n);
/* Do the lists have a register in common? */
bool amd_regs_meet(const struct amd_reg_list *a, const struct amd_reg_list *b);
/* Does the list contain a scalar register (VCC, EXEC, M0 and SCC included)? */
bool amd_regs_has_scalar(const struct amd_reg_list *l);
