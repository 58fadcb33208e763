/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traced.h: the units of the compute units that a thread trace holds: how long each worked for what
 * the waves asked of it. A SIMD has its own VALU and MFMA, and its own turn at SALU, SMEM and branch;
 * LDS, VMEM and export serve all SIMDs of a compute unit, which therefore add up. LDS and L1 also deliver so many bytes a
 * cycle; the lanes that were on are not in a trace, so all count, and the figure is an upper bound.
 * Pure function of a summary of waves.
 */
#pragma once

#include "analysis/summary/summary.h"
#include "isa/rates.h"

struct traced_unit {
	bool is_known;
	double busy_cyc;    /* of all its instances */
	double all_cyc;	    /* that they could have worked */
	double busiest_pct; /* of the busiest instance */
};
struct traced_units {
	struct traced_unit unit[MACHINE_UNITS];
};
/* `rates` may be NULL: then nothing is known of bytes. */
void traced_units(
	const struct summary *s, const struct machine_rates *rates, struct traced_units *out);
