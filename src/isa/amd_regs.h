/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_regs.h: how many vector registers a kernel uses, according to its disassembly. A range counts
 * with its upper bound: "v[0:15]" needs 16. Compilers may report half of that (gfx90a and later),
 * so the text is used. Pure functions, nothing fails.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "trace/trace.h"

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
