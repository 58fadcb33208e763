/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h: small AMD programs for tests, as the machine words of each generation. Only what an
 * encoder needs: one or two instructions of each class, branches with targets, waits, ends.
 * Owner: the caller's storage, no heap.
 */
#ifndef TESTS_SQTT_PROGRAM_H
#define TESTS_SQTT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sq_gen { SQ_GFX9, SQ_GFX10, SQ_GFX11, SQ_GFX12, SQ_GENS };

enum sq_op {
	SQ_OP_SMEM,
	SQ_OP_SALU,
	SQ_OP_SADD,
	SQ_OP_BUFFER,
	SQ_OP_LOAD,  /* global */
	SQ_OP_STORE, /* global */
	SQ_OP_FLAT,
	SQ_OP_LDS,
	SQ_OP_LDS_WRITE,
	SQ_OP_VALU,
	SQ_OP_FMA,
	SQ_OP_WAIT_SMEM,
	SQ_OP_WAIT_VMEM,
	SQ_OP_WAIT_LDS,
	SQ_OP_NOP,
	SQ_OP_BRANCH,
	SQ_OP_CBRANCH,
	SQ_OP_SETPC, /* goes to `target` */
	SQ_OP_BARRIER,
	SQ_OP_SIGNAL,  /* gfx12 s_barrier_signal */
	SQ_OP_BARWAIT, /* gfx12 s_barrier_wait */
	SQ_OP_MESSAGE,
	SQ_OP_SKIP, /* gfx11+: never traced */
	SQ_OP_END,
	SQ_OPS
};

struct sq_line {
	enum sq_op op;
	uint32_t target; /* line of a branch */
	uint64_t vaddr;
	uint32_t offset; /* in bytes of the program */
	uint8_t n_words;
};

#define SQ_MAX_LINES 256u

struct sq_program {
	enum sq_gen gen;
	uint64_t vaddr; /* of its first word; a multiple of 256 */
	uint32_t n;
	struct sq_line lines[SQ_MAX_LINES];
	uint8_t bytes[SQ_MAX_LINES * 12];
	uint32_t size;
};

/* Has this generation such an instruction? */
bool sq_has_op(enum sq_gen gen, enum sq_op op);
/* Appends a line; branches get their target here, by line (also one still to come). */
void sq_add_line(struct sq_program *p, enum sq_op op, uint32_t target);
/* Lays out addresses and words. */
void sq_assemble(struct sq_program *p);
enum sq_program_flags {
	SQ_PROGRAM_SETPC = 1,	 /* with indirect jumps */
	SQ_PROGRAM_MESSAGES = 2, /* with messages and barriers before the end */
};
/* Straight code with loops and skips; ends with s_endpgm. */
void sq_random_program(struct sq_program *p, enum sq_gen gen, uint64_t *state, unsigned flags);

const char *sq_gpu_name(enum sq_gen gen); /* "gfx950", "gfx1030", "gfx1100", "gfx1200" */
uint32_t sq_elf_flags(enum sq_gen gen);	  /* e_flags of a code object */
unsigned sq_gfx_major(enum sq_gen gen);

#endif
