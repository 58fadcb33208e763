/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands.h: which registers does an instruction read, and which does it write? Read off its
 * disassembly, or off its words where a text holds those alone (amd_words.h). Implicit ones count:
 * EXEC of vector instructions, SCC, VCC and EXEC of branches, M0 of loads into LDS. A write under
 * an execution mask counts as a whole one. Of words the width of an operand is not always known:
 * then it is one register. Pure functions, nothing fails.
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

#define AMD_MAX_OPERANDS 14u /* what an instruction names beyond is left out */

struct amd_reg_list {
	uint8_t n;
	struct amd_reg_range v[AMD_MAX_OPERANDS];
};

struct amd_operands {
	struct amd_reg_list reads, writes;
};

/* Of one row; gfx_major says how words are laid out. */
void amd_operands_row(unsigned gfx_major, struct str text, struct amd_operands *out);
/* The two readers behind it: by disassembly, and by the words that stand at text.p + at
 * ("<0x... 0x...>"); false: a kind that is not laid out, and *out is as it was. */
void amd_operands_text(struct str text, struct amd_operands *out);
bool amd_operands_words(unsigned gfx_major, struct str text, size_t at, struct amd_operands *out);
void amd_regs_push(struct amd_reg_list *l, unsigned first, unsigned n);
/* Is there a register in both? */
bool amd_regs_meet(const struct amd_reg_list *a, const struct amd_reg_list *b);
/* Is there a scalar register (VCC, EXEC, M0 and SCC among them)? */
bool amd_regs_has_scalar(const struct amd_reg_list *l);
