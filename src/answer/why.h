/* SPDX-License-Identifier: Apache-2.0 */
/* why.h: what lost cycles waited for: parameters, and the answer of answer/why.c. */
#pragma once

#include "analysis/why/why.h"
#include "answer/rows.h"

enum why_by { WHY_BY_CAUSE, WHY_BY_ROW, WHY_BY_LINE, WHY_BY_WAVE, WHY_BY_WORD };
#define WHY_BY_CHOICES "cause|row|line|wave"

struct why_params {
	unsigned by; /* enum why_by */
};

struct why_totals {
	uint64_t waves, duration, cycles, hidden, exposed, unknown;
	double unknown_pct; /* of cycles less hazard padding; NaN: no such cycles */
	int64_t residue;
};

/* Part of a cause, with what it is grouped by; fields that a group does not have are unset. */
struct why_row {
	const char *cause;
	uint64_t cause_cycles;
	int64_t row;
	const char *isa, *source, *wave;
	const char *why, *confidence;
	uint64_t cycles, hidden, exposed, hit;
	double share;
	int64_t of_row;
	const char *of_isa, *of_wave;
	uint64_t latency; /* mean, from the issue of of_row; NO_U64: none */
};

struct why_reason_row { /* the sampler's stall reason, translated into our terms */
	const char *reason, *cause, *why;
	uint64_t samples, exposed; /* exposed NO_U64: not known */
};

struct why_answer {
	const char *evidence, *by;
	struct why_totals totals;
	struct rows words; /* why_row: by word and confidence */
	uint64_t found;	   /* rows that exist; fewer may be given */
	struct rows rows;
	struct rows reasons; /* why_reason_row */
};

extern const struct record why_part_record, why_reason_record;
