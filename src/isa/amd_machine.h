/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_machine.h: what a chip offers a wave, where the capture does not say. These are assumptions
 * by name of the target, and every figure that uses one must say so. The table is
 * amd_machine_table.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct amd_machine {
	const char *arch;    /* "gfx950"; a family ("gfx9") where only that is known */
	const char *product; /* whose device totals these are */
	uint32_t waves_per_simd;
	uint32_t vgprs_per_simd; /* of one wave's size: what all waves of a SIMD share */
	uint32_t vgpr_granule;
	bool has_unified_accum; /* accumulation registers come from the same pool */
	uint32_t lds_bytes_per_cu;
	uint32_t simds_per_cu;
	uint32_t simds; /* of the device; 0: differs between products */
	uint32_t wave_size;
	bool is_family; /* the name tells the family only: more is assumed */
};

/* The row of that target, else of its family ("gfx9", "gfx11"), else NULL. */
const struct amd_machine *amd_machine_find(const char *arch, unsigned gfx_major);
