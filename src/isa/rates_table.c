/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates_table.c: practical rates by architecture.
 *
 * sm_90: highest shares seen on an H200 in kernels that fill one unit, as shares of the peak that the
 * counters state (pct_of_peak_sustained_elapsed; tests/gpu/peaks.py takes them again). Latencies:
 * chains of loads with few warps (tests/gpu/latency.txt); shared_cyc is the longest of what a short
 * scoreboard waits for. Other NVIDIA chips count their units in the same way, so the shares are
 * taken over and marked as derived; their latencies are not known.
 * gfx9: a wave64 instruction holds a SIMD's VALU for four cycles, and a unit takes one instruction
 * a cycle (CDNA 3 and CDNA 4 instruction set documents); 90 % of that is taken for full. LDS delivers
 * 128 bytes a cycle to a compute unit, its L1 64, and a channel of L2 128 (CDNA 3 white paper).
 */
#include "isa/rates.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
#define NVIDIA_SHARES                                                                              \
	{[MACHINE_ISSUE] = .93, [MACHINE_FMA] = .95, [MACHINE_ALU] = .95, [MACHINE_XU] = .85,      \
	[MACHINE_FP64] = .95, [MACHINE_TENSOR] = .90, [MACHINE_UNIFORM] = .95, [MACHINE_LSU] = .95,\
	[MACHINE_ADU] = .90, [MACHINE_L1] = .98, [MACHINE_L2_LINK] = .90, [MACHINE_CONSTANTS] = .75,\
	[MACHINE_L2] = .85, [MACHINE_L2_ATOMICS] = .75, [MACHINE_DRAM] = .92}
#define DERIVED_FROM_SM_90(ARCH, CHIP)                                                             \
	{.arch = ARCH, .chip = CHIP, .evidence = RATE_DERIVED, .practical = NVIDIA_SHARES}
#define AMD_SHARES                                                                                 \
	{[MACHINE_VALU] = .90, [MACHINE_MFMA] = .90, [MACHINE_SALU] = .90, [MACHINE_SMEM] = .90,   \
	[MACHINE_LDS] = .90, [MACHINE_VMEM] = .90, [MACHINE_VMEM_DATA] = .90,                      \
	[MACHINE_EXPORT] = .90, [MACHINE_BRANCH] = .90, [MACHINE_TCP] = .90, [MACHINE_TCC] = .85,  \
	[MACHINE_HBM] = .85}
#define AMD_PUBLISHED(ARCH, CHIP)                                                                  \
	{.arch = ARCH, .chip = CHIP, .evidence = RATE_PUBLISHED, .practical = AMD_SHARES,        \
		.lds_bytes = 128, .l1_bytes = 64, .l2_bytes = 128}

static const struct machine_rates rates_table[] = {
	{.arch = "sm_90", .chip = "H200", .evidence = RATE_MEASURED, .practical = NVIDIA_SHARES,
		.dram_cyc = 730, .l2_cyc = 300, .l1_cyc = 45, .shared_cyc = 60, .tag_cyc = 2},
	DERIVED_FROM_SM_90("sm_80", "A100"),
	DERIVED_FROM_SM_90("sm_86", "GA102"),
	DERIVED_FROM_SM_90("sm_89", "AD102"),
	DERIVED_FROM_SM_90("sm_100", "B200"),
	DERIVED_FROM_SM_90("sm_120", "GB202"),
	AMD_PUBLISHED("gfx942", "MI300X"),
	AMD_PUBLISHED("gfx950", "MI350X"),
};
/* clang-format on */

static const struct {
	const char *code, *name;
} units[MACHINE_UNITS] = {
	[MACHINE_ISSUE] = {"issue", "issue slots"},
	[MACHINE_FMA] = {"fma", "FP32/INT (FMA)"},
	[MACHINE_ALU] = {"alu", "ALU"},
	[MACHINE_XU] = {"xu", "XU (special functions)"},
	[MACHINE_FP64] = {"fp64", "FP64"},
	[MACHINE_TENSOR] = {"tensor", "tensor cores"},
	[MACHINE_UNIFORM] = {"uniform", "uniform datapath"},
	[MACHINE_LSU] = {"lsu", "load/store unit (LSU)"},
	[MACHINE_ADU] = {"adu", "address divergence unit (ADU)"},
	[MACHINE_L1] = {"l1", "L1/shared memory"},
	[MACHINE_L2_LINK] = {"l2-link", "L1-L2 link"},
	[MACHINE_CONSTANTS] = {"constants", "constant cache"},
	[MACHINE_L2] = {"l2", "L2"},
	[MACHINE_L2_ATOMICS] = {"l2-atomics", "L2 atomics"},
	[MACHINE_DRAM] = {"dram", "DRAM"},
	[MACHINE_VALU] = {"valu", "VALU"},
	[MACHINE_MFMA] = {"mfma", "MFMA"},
	[MACHINE_SALU] = {"salu", "SALU"},
	[MACHINE_SMEM] = {"smem", "SMEM"},
	[MACHINE_LDS] = {"lds", "LDS"},
	[MACHINE_VMEM] = {"vmem", "VMEM issue"},
	[MACHINE_VMEM_DATA] = {"vmem-data", "VMEM data"},
	[MACHINE_EXPORT] = {"export", "export"},
	[MACHINE_BRANCH] = {"branch", "branch unit"},
	[MACHINE_TCP] = {"tcp", "L1 (TCP)"},
	[MACHINE_TCC] = {"tcc", "L2 (TCC)"},
	[MACHINE_HBM] = {"hbm", "HBM"},
	[MACHINE_CUBE] = {"cube", "CUBE"},
	[MACHINE_VECTOR] = {"vector", "VECTOR"},
	[MACHINE_MTE1] = {"mte1", "MTE1"},
	[MACHINE_MTE2] = {"mte2", "MTE2"},
	[MACHINE_MTE3] = {"mte3", "MTE3"},
	[MACHINE_FIXP] = {"fixp", "FIXP"},
	[MACHINE_SCALAR] = {"scalar", "SCALAR"},
};

const char *machine_unit_code(enum machine_unit u)
{
	return units[u].code;
}

const char *machine_unit_name(enum machine_unit u)
{
	return units[u].name;
}

const char *rate_evidence_name(enum rate_evidence e)
{
	static const char *const names[] = {"measured", "published", "derived"};

	return names[e];
}

const struct machine_rates *machine_rates_find(const char *arch)
{
	for (size_t i = 0; arch && i < sizeof(rates_table) / sizeof(*rates_table); i++)
		if (strcmp(rates_table[i].arch, arch) == 0)
			return &rates_table[i];
	return NULL;
}
