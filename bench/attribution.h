/* SPDX-License-Identifier: Apache-2.0 */
/* attribution.h: a capture, its samples, and what a method says of them (attribution.c). */
#pragma once

#include "analysis/code/samples.h"
#include "analysis/code/static_waits.h"
#include "base/map.h"
#include "isa/amd_operands.h"

#define MOST_TRUE 16u  /* rows that may have released one wait */
#define MOST_NAMED 64u /* producers that a method names for one row */

enum method { OURS, BACK_SLICE, COUNTER_CLASS, STATED_LISTS, METHODS };

struct truth { /* who released a wait: one row, or one of several */
	uint32_t n;
	code_idx row[MOST_TRUE];
};

struct sampled { /* samples on one row that stood at waits released by the same rows */
	code_idx row;
	uint32_t truth;
	uint64_t n;
};

struct named { /* what a method says of a row; shares add up to at most 1 */
	uint32_t n;
	code_idx row[MOST_NAMED]; /* NO_CODE: the class alone */
	uint8_t producer[MOST_NAMED];
	double share[MOST_NAMED];
};

struct run {
	const struct trace *t;
	struct trace s; /* the same code, sampled */
	struct wait_tables *tables;
	struct cfg g;
	struct amd_operands *operands;
	struct u64_map truth_of; /* hash of the rows -> index + 1 */
	VEC(struct truth) truths;
	VEC(struct sampled) sampled; /* of the period and skid at hand */
	struct u64_map sampled_at;
	VEC(struct code_link) stated; /* wait, producer; reason: how often */
	struct u64_map stated_at;
	uint64_t *true_cyc; /* by code row: cycles of waits that it released */
	uint64_t wait_cyc, exact_cyc;
	struct producers *ours;
	uint64_t seed;
	struct arena arena;
};

enum {
	REASON_OTHER = 8,
	REASON_WAITCNT = 3,
	REASON_BARRIER = 5,
	REASON_PIPE = 7,
	REASON_SLEEP = 9
};

void must(bool ok); /* ends the program where memory lacks */
/* attribution_methods.c: what a method says of the samples of a row. */
void name_row(const struct run *r, enum method m, code_idx row, struct named *x);
