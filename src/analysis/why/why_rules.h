/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_rules.h: what a generation of chips makes a wave wait for, as data. Each number was read off
 * real captures (docs/why.md has the counts); what no capture shows has no rule.
 */
#pragma once

#include "analysis/why/why.h"
#include "isa/amd_operands.h"

/* What the rules need to know of a row. */
struct why_code {
	struct amd_operands regs;
	uint16_t bytes;	     /* of the instruction */
	uint16_t hold_cyc;   /* MATRIX: nothing else of the wave issues on a vector pipe so long */
	uint16_t passes_cyc; /* MATRIX: the matrix pipe is taken; 0: not known */
	uint8_t kind;	     /* of its memory queue: enum why_queue */
	bool writes_scalar;
	bool is_packed; /* packed 32-bit arithmetic, which the matrix pipe does */
};

enum why_queue { QUEUE_NONE, QUEUE_VMEM, QUEUE_LDS, QUEUE_SMEM, WHY_QUEUES };

enum why_when {
	WHEN_ANY,    /* whatever the operands */
	WHEN_SCALAR, /* the earlier one writes a scalar register */
	WHEN_READS,  /* the later one reads what the earlier one writes */
};

/* After an instruction of a class of `first` none of `then` goes on for `cyc` cycles. */
struct why_rule {
	uint32_t first, then; /* a bit per class */
	uint8_t when;
	uint8_t cyc;
};

struct why_chip {
	const struct why_rule *rules;	/* cyc 0 ends */
	unsigned fetch_bytes;		/* what one fetch brings, aligned */
	unsigned cold_cyc;		/* a longer gap before a row that nobody ran yet: a miss */
	unsigned silence_cyc, wake_cyc; /* after so long a silence VMEM takes so long; 0: no rule */
	unsigned packed_cyc;   /* packed arithmetic starts so long after the matrix pipe is free */
	bool has_turns;	       /* OTHER_SIMD is known of this generation */
	bool matrix_is_serial; /* its instructions wait in line for as long as they are recorded */
};

const struct why_chip *why_chip_of(const struct trace *t);
/* By code row, and one more: zeros. NULL on lack of memory. */
struct why_code *why_code_new(const struct trace *t);

struct why_inst { /* an instruction, as rules see it */
	const struct why_code *code;
	enum inst_class inst_class;
};
/* For how long after its issue an earlier instruction of a wave keeps a later one; 0: not at all.
 * *reads: the later one reads what the earlier one writes. */
uint64_t why_hold_cyc(
	const struct why_chip *chip, struct why_inst first, struct why_inst then, bool *reads);

#define WHY_FEW 2u   /* outstanding in the compute unit: a queue is possible */
#define WHY_MANY 16u /* it is likely: from here on stalls grow (docs/why.md) */
