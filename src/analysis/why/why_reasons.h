/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_reasons.h: where each stall reason of a sampler stands among our causes and their parts, so
 * that a sampled capture and a traced one are read in the same words. Pure.
 */
#pragma once

#include "analysis/why/why.h"

struct why_reason {
	const char *reason; /* the sampler's word, as trace.reasons has it */
	const char *cause;  /* "*": by the class of the row, or by the producer */
	enum why_word word; /* WHY_WORDS: the cause says all there is */
};

/* A word that no sampler is known to have is unknown here too. */
const struct why_reason *why_reason_of(const char *reason);
extern const struct why_reason why_reason_table[]; /* NULL ends */
