/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_identity.h: keys that identify an instruction or pipe of a trace.json in a table stored
 * elsewhere. The exporter writes code rows into events and the importer finds them again by these
 * keys, so both must compute them alike. Threads: all functions are pure.
 */
#pragma once

#include "isa/ascend.h"

/* Key of a row: from the kind of its core (enum ascend_core), pc, opcode, and for synchronisation
 * the operands. text is the opcode, a blank and the operands. */
uint64_t ascend_row_key(unsigned kind, uint64_t pc, struct str opcode, struct str text);

struct ascend_slice {
	uint64_t start;
	uint32_t dur, stall;
	code_idx code;
};
/* Hash over all slices of a pipe in order: start with 0 and add one slice after another. */
uint64_t ascend_slice_hash(uint64_t hash, const struct ascend_slice *s);
