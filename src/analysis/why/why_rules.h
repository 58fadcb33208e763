/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_rules.h: what makes a wave wait on a chip generation, as data. Each number was taken from
 * real captures (docs/why.md has the counts); there are no rules for effects that no capture shows.
 */
#pragma once

#include "analysis/why/why.h"
#include "isa/amd_operands.h"

/* What the rules need to know of a row. */
struct why_code {
	struct amd_operands regs;
	uint16_t bytes;	     /* of the instruction */
	uint16_t hold_cyc;   /* MATRIX: time in which the wave issues nothing else on a vector
				pipe */
	uint16_t passes_cyc; /* MATRIX: time the matrix pipe is occupied; 0: unknown */
	uint8_t kind;	     /* its memory queue: enum why_queue */
	bool writes_scalar;
	bool is_packed; /* packed 32-bit arithmetic, executed by the matrix pipe */
};

enum why_queue { QUEUE_NONE, QUEUE_VMEM, QUEUE_LDS, QUEUE_SMEM, WHY_QUEUES };

enum why_when {
	WHEN_ANY,    /* whatever the operands */
	WHEN_SCALAR, /* the earlier one writes a scalar register */
	WHEN_READS,  /* the later one reads what the earlier one writes */
};

/* After an instruction of a class in `first`, none of a class in `then` issues for `cyc` cycles. */
struct why_rule {
	uint32_t first, then; /* sets of classes, one bit each */
	uint8_t when;
	uint8_t cyc;
};

struct why_chip {
	const struct why_rule *rules;	/* ends with cyc 0 */
	unsigned fetch_bytes;		/* what one fetch brings, aligned */
	unsigned cold_cyc;		/* a longer gap before a row that no wave ran yet is a
					   miss */
	unsigned silence_cyc, wake_cyc; /* after this long without VMEM, VMEM takes wake_cyc; 0:
					   no rule */
	unsigned packed_cyc;   /* delay of packed arithmetic after the matrix pipe gets free */
	bool has_turns;	       /* the OTHER_SIMD rule applies to this generation */
	bool matrix_is_serial; /* matrix instructions queue for as long as their records last */
};

const struct why_chip *why_chip_of(const struct trace *t);
/* Entries by code row, plus one of zeros for unknown rows. NULL on lack of memory. */
struct why_code *why_code_new(const struct trace *t);

struct why_inst { /* an instruction as the rules see it */
	const struct why_code *code;
	enum inst_class inst_class;
};
/* How long after its issue an earlier instruction of a wave delays a later one; 0: not at all.
 * *reads: the later one reads what the earlier one writes. */
uint64_t why_hold_cyc(
	const struct why_chip *chip, struct why_inst first, struct why_inst then, bool *reads);

#define WHY_FEW 2u   /* from this many outstanding in the compute unit a queue is possible */
#define WHY_MANY 16u /* from here on a queue is likely: stalls grow (docs/why.md) */
