/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_identity.h: when is what stands in a trace.json the instruction, or the pipe, of a table
 * that stands elsewhere? The exporter writes a code row into events and the import finds it again
 * by these keys; both sides must make them alike. Threads: all functions are pure.
 */
#pragma once

#include "isa/ascend.h"

/* Of a row: kind of its core (enum ascend_core), pc, opcode, and the operands of what synchronises.
 * text is the opcode, a blank and the operands. */
uint64_t ascend_row_key(unsigned kind, uint64_t pc, struct str opcode, struct str text);

struct ascend_slice {
	uint64_t start;
	uint32_t dur, stall;
	code_idx code;
};
/* Of all slices of a pipe in their order: start with 0 and feed one after another. */
uint64_t ascend_slice_hash(uint64_t hash, const struct ascend_slice *s);
