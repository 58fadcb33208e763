/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.h: what the units of a machine can do in practice: the share of its nominal peak that each
 * unit reaches when a kernel does nothing else, and the latencies of an idle machine. One table for all vendors (rates_table.c); each row says what it rests
 * on. A unit without a rate is not judged.
 */
#pragma once

#include <stdbool.h>

/* The units of all vendors; an architecture has rates for its own alone. */
enum machine_unit {
	/* NVIDIA: of an SM */
	MACHINE_ISSUE,
	MACHINE_FMA,
	MACHINE_ALU,
	MACHINE_XU,
	MACHINE_FP64,
	MACHINE_TENSOR,
	MACHINE_UNIFORM,
	MACHINE_LSU,
	MACHINE_ADU,
	MACHINE_L1,
	MACHINE_L2_LINK,
	MACHINE_CONSTANTS,
	/* NVIDIA: of the device */
	MACHINE_L2,
	MACHINE_L2_ATOMICS,
	MACHINE_DRAM,
	/* AMD: of a SIMD or compute unit */
	MACHINE_VALU,
	MACHINE_MFMA,
	MACHINE_SALU,
	MACHINE_SMEM,
	MACHINE_LDS,
	MACHINE_VMEM,
	MACHINE_VMEM_DATA,
	MACHINE_EXPORT,
	MACHINE_BRANCH,
	/* AMD: of the device, from counters alone */
	MACHINE_TCP,
	MACHINE_TCC,
	MACHINE_HBM,
	/* Ascend: pipes of a core */
	MACHINE_CUBE,
	MACHINE_VECTOR,
	MACHINE_MTE1,
	MACHINE_MTE2,
	MACHINE_MTE3,
	MACHINE_FIXP,
	MACHINE_SCALAR,
	MACHINE_UNITS
};
#define MACHINE_UNIT_CHOICES                                                                       \
	"issue|fma|alu|xu|fp64|tensor|uniform|lsu|adu|l1|l2-link|constants|l2|l2-atomics|dram|"    \
	"valu|mfma|salu|smem|lds|vmem|vmem-data|export|branch|tcp|tcc|hbm|cube|vector|mte1|mte2|mte3|fixp|scalar"
const char *machine_unit_code(enum machine_unit u); /* "l2-link": in JSON and tables */
const char *machine_unit_name(enum machine_unit u); /* in the vendor's words, for people */

enum rate_evidence {
	RATE_MEASURED,	/* kernels that do nothing else, on that chip */
	RATE_PUBLISHED, /* the vendor's documents */
	RATE_DERIVED,	/* taken over from a chip that was measured */
};
#define RATE_EVIDENCE_CHOICES "measured|published|derived"
const char *rate_evidence_name(enum rate_evidence e);

struct machine_rates {
	const char *arch; /* "sm_90", "gfx950", "910b" */
	const char *chip; /* the product that the rates are of */
	enum rate_evidence evidence;
	/* Share of the nominal peak that is reached in practice; 0: the architecture has no such
	 * unit, or its rate is unknown. */
	double practical[MACHINE_UNITS];
	/* Cycles from issue to result on an idle machine; 0: unknown. */
	double dram_cyc, l2_cyc, l1_cyc, shared_cyc;
	/* AMD: bytes a cycle that a compute unit's LDS and L1 deliver, and a channel of L2; 0: unknown */
	double lds_bytes, l1_bytes, l2_bytes;
	double tag_cyc; /* what each further cache line of one access adds to its latency */
};

/* The rates of an architecture, or NULL if nothing is known of it. */
const struct machine_rates *machine_rates_find(const char *arch);
