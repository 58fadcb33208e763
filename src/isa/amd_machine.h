/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_machine.h: what a chip offers a wave, for captures that do not say. These are assumptions by
 * target name, and every figure that uses one must say so. The table is in amd_machine_table.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
