/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h: how many waves of this kernel a SIMD can hold, which resource limits them, and what
 * would allow one more. Register counts are the highest register used in the ISA text (on some
 * targets producers report half of that). Machine figures come from the capture's side files, else
 * from a table by target; machine_source says which.
 */
#pragma once

#include "analysis/occupancy/blocks.h"
#include "base/str.h"
#include "isa/amd.h"
#include "isa/amd_operands.h"
#include "trace/trace.h"

enum limit_kind {
	LIMIT_WAVES,
	LIMIT_VGPR,
	LIMIT_LDS,
	LIMIT_GRID,
	LIMIT_BLOCKS, /* this and those below: NVIDIA only */
	LIMIT_BARRIERS,
	LIMIT_CLUSTERS,
	LIMIT_KINDS
};
const char *limit_name(enum limit_kind k); /* "waves", "vgpr", "lds", "grid", ... */

enum limit_state {
	LIMIT_KNOWN,
	LIMIT_UNKNOWN, /* the capture does not say */
	LIMIT_NONE,    /* the kernel does not use it */
};

struct limit {
	enum limit_state state;
	uint64_t waves; /* per SIMD, if known */
};

struct limits {
	struct limit by[LIMIT_KINDS];
	bool is_known;	     /* at least one limit is known */
	bool is_upper_bound; /* some limits are unknown: the truth may be lower */
	uint64_t predicted;  /* the smallest known limit */
	enum limit_kind
		limiter; /* first limit equal to predicted, in the order vgpr, lds, grid, waves */
	unsigned limiter_mask; /* 1 << kind of all limits equal to predicted */

	struct amd_regs regs;		  /* as used in the ISA text */
	uint32_t arch_vgprs, accum_vgprs; /* rounded up to the granule */
	uint32_t vgpr_pool, vgpr_granule; /* 0: unknown */
	bool has_unified_accum;
	int64_t stated_vgprs;				   /* by the producer, or NO_VALUE */
	int64_t lds_bytes_per_cu, lds_bytes_per_workgroup; /* or NO_VALUE */
	bool has_code;		   /* there are instructions to take registers from */
	bool has_lds_instructions; /* other than cross-lane */
	int64_t waves_per_workgroup, launched_waves;
	bool is_by_block; /* NVIDIA: whole blocks on an SM; see `blocks` */
	struct block_limits blocks;
	int64_t simds, simds_per_cu, max_waves_per_simd, wave_size;
	const char
		*machine_source; /* "side-files", "assumed", "mixed", or NULL: nothing is known */
	const struct amd_machine *assumed; /* table row used for missing figures, or NULL */
	bool is_assumed;		   /* some machine figures are from the table */
};

void limits_compute(const struct trace *t, struct limits *l);
/* LDS bytes a workgroup may use so that `waves` waves fit on a SIMD; 0 if unknown. */
uint64_t limits_lds_for(const struct limits *l, uint64_t waves);
/* "registers: 3 waves need <= 168 VGPRs (now 248)"; false if there is nothing to say, or on lack of
 * memory. */
bool limits_put_next_step(const struct limits *l, struct strbuf *out);
/* "limited to 2 waves per SIMD by registers (248 of 512 VGPRs) and grid" */
bool limits_put_sentence(const struct limits *l, struct strbuf *out);
