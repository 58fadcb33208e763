/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass.h: decodes one NVIDIA machine instruction from its 128 bits alone: control codes, opcode,
 * class, guard, registers written and read, branch target. Volta's encoding, sm_75 to sm_120. Text
 * is for display.
 * Threads: pure functions; nothing allocates, nothing fails: unknown bits give SASS_UNKNOWN, with
 * control codes and guard still right, since every instruction has those.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SASS_INST_BYTES 16u
#define SASS_SCOREBOARDS 6u
#define SASS_NO_SCOREBOARD 7u
#define SASS_NO_PRED 7u /* PT: always true when read, dropped when written */
#define SASS_RZ 255u	/* reads as zero, writes are dropped */
#define SASS_NO_BARRIER 255u
#define SASS_MOST_OPERANDS 12u

/* Classes by the unit that does the work and by how its result is waited for. */
enum sass_class {
	SASS_UNKNOWN,	   /* unknown opcode */
	SASS_FMA,	   /* FADD FMUL FFMA, IMAD: fixed latency */
	SASS_ALU,	   /* integer, logic, compare, select, move: fixed latency */
	SASS_HALF,	   /* packed half and bfloat: HADD2 HFMA2 ... */
	SASS_DOUBLE,	   /* DADD DMUL DFMA DSETP */
	SASS_XU,	   /* MUFU, conversions, POPC, FLO: a scoreboard */
	SASS_UNIFORM,	   /* the scalar datapath: UIADD3 UMOV R2UR ... */
	SASS_TENSOR,	   /* HMMA IMMA DMMA QMMA: from registers */
	SASS_TENSOR_ASYNC, /* HGMMA IGMMA QGMMA, UTCHMMA ...: from shared or tensor memory */
	SASS_LOAD_GLOBAL,  /* LDG LD */
	SASS_STORE_GLOBAL, /* STG ST */
	SASS_LOAD_SHARED,  /* LDS LDSM, distributed shared memory */
	SASS_STORE_SHARED, /* STS STSM */
	SASS_LOAD_LOCAL,
	SASS_STORE_LOCAL,
	SASS_LOAD_CONST,    /* LDC ULDC */
	SASS_ATOMIC_GLOBAL, /* ATOM ATOMG RED */
	SASS_ATOMIC_SHARED, /* ATOMS */
	SASS_ASYNC_COPY,    /* LDGSTS: global to shared, closed into groups by LDGDEPBAR */
	SASS_ASYNC_BULK,    /* UTMALDG UTMASTG UBLKCP ...: the copy engine */
	SASS_TENSOR_MEMORY, /* LDTM STTM: tensor memory of sm_100 */
	SASS_TEXTURE,	    /* TEX TLD TLD4 TXQ */
	SASS_SURFACE,	    /* SULD SUST SUATOM SURED */
	SASS_SHUFFLE,	    /* SHFL, VOTE, MATCH, REDUX: across lanes */
	SASS_SPECIAL,	    /* S2R S2UR CS2R: special registers */
	SASS_BARRIER,	    /* BAR B2R: warps of a block, UCGABAR: blocks of a cluster */
	SASS_MBARRIER,	    /* SYNCS, ARRIVES: barriers in shared memory */
	SASS_WARPGROUP,	    /* WARPGROUP: order of asynchronous matrix work */
	SASS_FENCE,	    /* MEMBAR ERRBAR FENCE CCTL */
	SASS_DEPBAR,	    /* DEPBAR, LDGDEPBAR, UTMACMDFLUSH: waits and groups */
	SASS_CONVERGE,	    /* BSSY BSYNC BREAK BMOV WARPSYNC YIELD */
	SASS_BRANCH,	    /* BRA BRX JMP */
	SASS_CALL,
	SASS_RETURN,
	SASS_EXIT,    /* EXIT KILL */
	SASS_CONTROL, /* NOP NANOSLEEP BPT PREEXIT USETMAXREG ... */
	SASS_CLASSES
};

/* Properties that the analysis of waits needs; one bit each. */
enum sass_flags {
	SASS_GUARDED = 1 << 0,	    /* may not execute: a guard other than PT */
	SASS_NEVER = 1 << 1,	    /* guard is !PT: never executes */
	SASS_INDIRECT = 1 << 2,	    /* a branch, call or return to an address in a register */
	SASS_COUNTER_WAIT = 1 << 3, /* DEPBAR.LE: until at most `count` are left on `counter` */
	SASS_GROUP_CLOSE = 1 << 4,  /* LDGDEPBAR, or the matrix instruction that ends its group */
	SASS_TRY_WAIT = 1 << 5,	    /* SYNCS try_wait, test_wait: polls an mbarrier */
	SASS_ARRIVES = 1 << 6,	    /* brings an mbarrier or named barrier nearer to completion */
	SASS_BLOCKS = 1 << 7,	    /* BAR.SYNC and kin: stops until others arrive */
	SASS_CONDITIONAL = 1 << 8,  /* a branch or exit that may fall through */
};

/* Counters that work like scoreboards; 0 to 5 are the hardware's six scoreboards. */
enum sass_counter {
	SASS_COUNTER_WGMMA = 6, /* gsb0: groups of asynchronous matrix work */
	SASS_COUNTER_NONE = 7,
};

enum sass_file {
	SASS_FILE_R,  /* 0 to 254 */
	SASS_FILE_UR, /* 0 to 254; sm_75 to sm_90: 0 to 62 */
	SASS_FILE_P,  /* 0 to 6 */
	SASS_FILE_UP, /* 0 to 6 */
};

/* Consecutive registers of one file, `n` of them from `first`. RZ, URZ, PT and UPT never appear. */
struct sass_operand {
	uint8_t file; /* enum sass_file */
	uint8_t first;
	uint8_t n; /* 1 to 128 */
	bool is_write;
};

struct sass_inst {
	uint16_t opcode;    /* the low 12 bits, including the operand form */
	uint8_t inst_class; /* enum sass_class */
	uint16_t flags;	    /* enum sass_flags */

	/* control codes */
	uint8_t stall;	   /* cycles before the next instruction of this warp may issue, 0 to 15 */
	bool yield;	   /* as encoded: 0 requests a switch to another warp */
	uint8_t set_write; /* scoreboard raised until results are written; SASS_NO_SCOREBOARD */
	uint8_t set_read;  /* scoreboard raised until sources are read; SASS_NO_SCOREBOARD */
	uint8_t wait_mask; /* bit per scoreboard that must be zero before issue */
	uint8_t reuse;	   /* bit per source slot kept in the operand cache */

	uint8_t guard;	       /* predicate register; SASS_NO_PRED with !is_guard_negated: always */
	bool is_guard_negated; /* @!P0 */
	bool is_guard_uniform; /* @UP0 */

	uint8_t counter; /* COUNTER_WAIT, GROUP_CLOSE: scoreboard or enum sass_counter */
	uint8_t count;	 /* COUNTER_WAIT: how many may be left */
	uint8_t barrier; /* SASS_BARRIER: its number; SASS_NO_BARRIER: in a register, or no
			    barrier */

	uint8_t n_operands;
	/* writes first; the guard is not among them */
	struct sass_operand operand[SASS_MOST_OPERANDS];

	/* Branch, call, BSSY: target minus own address, in bytes; 0: none or indirect. */
	int64_t branch;
};

/* Decodes 16 bytes at p. `sm` is 75 to 120 (100 for sm_100a): a few opcodes changed their meaning. */
struct sass_inst sass_decode(unsigned sm, const uint8_t *p);
/* Writes a decoded instruction with its guard, the modifiers that affect its cost, and its operands
 * in the vendor's syntax: "@!P0 LDG.128 R4, desc[UR4][R2.64+0x10]". Branches show their distance in
 * bytes. An operand that is not understood is written as "?", and false is returned. Writes at most
 * n bytes, including the final NUL. */
bool sass_text(unsigned sm, const uint8_t *p, const struct sass_inst *inst, char *buf, size_t n);

static inline bool sass_is_always(const struct sass_inst *i)
{
	return i->guard == SASS_NO_PRED && !i->is_guard_negated;
}
