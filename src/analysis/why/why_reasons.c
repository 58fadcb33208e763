/* SPDX-License-Identifier: Apache-2.0 */
/* why_reasons.c: the stall reasons of AMD's and NVIDIA's samplers in our words (docs/why.md). */
#include <string.h>

#include "analysis/why/why.h"

static const struct why_reason table[] = {
	/* AMD, stochastic PC sampling */
	{"none", "gap:other", WHY_UNKNOWN},
	{"fetch", "gap:branch", WHY_FETCH},
	{"alu-dependency", "pipe-stall:*", WHY_REGISTER},
	{"waitcnt", "wait:*", WHY_WORDS},
	{"internal", "nop-padding", WHY_HAZARD},
	{"arbiter", "pipe-stall:*", WHY_OTHER_WAVE},
	{"pipe", "pipe-stall:*", WHY_QUEUE},
	{"other-wait", "gap:other", WHY_UNKNOWN},
	{"sleep", "sleep", WHY_WORDS},
	/* both */
	{"barrier", "barrier", WHY_WORDS},
	/* NVIDIA, warp stall reasons */
	{"long_scoreboard", "wait:*", WHY_WORDS},
	{"short_scoreboard", "wait:*", WHY_WORDS},
	{"gmma", "wait:MATRIX", WHY_WORDS},
	{"warpgroup_arrive", "wait:MATRIX", WHY_WORDS},
	{"membar", "wait:VMEM-store", WHY_WORDS},
	{"imc_miss", "wait:SMEM", WHY_WORDS},
	{"sleeping", "sleep", WHY_WORDS},
	{"wait", "fixed-latency", WHY_REGISTER},
	{"math_pipe_throttle", "pipe-stall:*", WHY_OTHER_WAVE},
	{"mio_throttle", "pipe-stall:*", WHY_QUEUE},
	{"lg_throttle", "pipe-stall:*", WHY_QUEUE},
	{"tex_throttle", "pipe-stall:*", WHY_QUEUE},
	{"dispatch_stall", "dispatch", WHY_OWN_PIPE},
	{"branch_resolving", "gap:branch", WHY_FETCH},
	{"no_instructions", "gap:fetch", WHY_FETCH},
	{"not_selected", "not-selected", WHY_OTHER_WAVE},
	{"misc", "gap:other", WHY_UNKNOWN},
	{"drain", "drain", WHY_WORDS},
};

const struct why_reason *why_reason_of(const char *reason)
{
	static const struct why_reason other = {"", "gap:other", WHY_UNKNOWN};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].reason, reason) == 0)
			return &table[i];
	return &other;
}
