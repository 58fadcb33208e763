/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands.h: which registers an instruction reads and writes. Taken from its disassembly, or
 * from its words where the text holds only those (amd_words.h). Implicit registers count: EXEC for
 * vector instructions, SCC, VCC and EXEC for branches, M0 for loads into LDS. A write under an
 * execution mask counts as a full write. From words the width of an operand is not always known;
 * then it counts as one register. Pure functions, nothing fails.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "trace/trace.h"

/* --- registers of a kernel -------------------------------------------------------------------- */

/*
 * How many vector registers a kernel uses, according to its disassembly. A range counts with its
 * upper bound: "v[0:15]" needs 16. Compilers may report half of that (gfx90a and later), so the
 * text is used. Pure functions, nothing fails.
 */

/* No AMD chip can name more; a larger number in a damaged text is not a register. */
#define AMD_MAX_VGPR 1024u

struct amd_regs {
	uint32_t arch;	/* highest v index + 1; 0: none used */
	uint32_t accum; /* highest a index + 1; 0: none used */
};

/* Raises *r to what the operands of one row need. */
void amd_regs_add(struct amd_regs *r, struct str text);
/* Over the code table, label rows left out. */
struct amd_regs amd_regs_of_trace(const struct trace *t);

static inline uint32_t amd_regs_round(uint32_t n, uint32_t granule)
{
	return granule ? (n + granule - 1) / granule * granule : n;
}

/* What the hardware gives a wave: both parts rounded up to the granule. */
static inline uint32_t amd_regs_allocated(const struct amd_regs *r, uint32_t granule)
{
	return amd_regs_round(r->arch, granule) + amd_regs_round(r->accum, granule);
}

/* --- operands --------------------------------------------------------------------------------- */

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
/* Do the lists have a register in common? */
bool amd_regs_meet(const struct amd_reg_list *a, const struct amd_reg_list *b);
/* Does the list contain a scalar register (VCC, EXEC, M0 and SCC included)? */
bool amd_regs_has_scalar(const struct amd_reg_list *l);

/* --- reads and writes ------------------------------------------------------------------------- */

/*
 * Which vector registers an instruction reads and which it overwrites, according to its
 * disassembly: the first operand is written, except by stores and other instructions without a
 * result; some also read what they write (accumulating forms, half-register loads). A write under
 * an execution mask counts as a full write. Pure functions, nothing fails.
 */

/* Sets of registers: bit n is vn, bit accum_at + n is an. Registers beyond `bits` are left out. */
struct amd_live_sets {
	uint64_t *reads, *writes;
	uint32_t accum_at, bits;
};

/* Adds the registers of a row to both sets. */
void amd_live_row(struct str text, const struct amd_live_sets *out);
