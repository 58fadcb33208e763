/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_waits.h: which instructions are waited for, from code alone. Every wait of every instruction
 * is resolved to those that can have caused it on some path through the control-flow graph:
 * branches, loops, BSSY/BSYNC, calls and returns (a return goes back to its own call only).
 *
 * A scoreboard is a counter: instructions raise it when they issue, it falls when their result is
 * written (or their sources are read), a wait mask holds until it is zero, DEPBAR.LE until it is
 * small enough. So all that raised it since it was last known to be zero are candidates.
 *
 * Owner: the caller's arena holds all results; code bytes are borrowed only during the call.
 * Threads: pure. May fail: memory. Time and memory grow with the code: a search that would go
 * beyond SASS_MOST_STEPS or SASS_MOST_CANDIDATES stops and says so (SASS_CUT).
 */
#pragma once

#include "base/arena.h"
#include "isa/sass/sass.h"

#define SASS_MOST_CANDIDATES 32u /* per instruction and counter */
#define SASS_MOST_STEPS 512u	 /* blocks looked at per instruction and counter */
#define SASS_NO_INST UINT32_MAX

/* Code of one section. Texts are in order of address and do not overlap; branches from one into
 * another are followed. */
struct sass_text {
	uint64_t address; /* of its first instruction; any base, as long as branches agree */
	const uint8_t *bytes;
	size_t n_bytes; /* a remainder of less than 16 bytes is ignored */
};

/* A jump target that the instruction's own bits do not give: tables of BRX, calls by relocation.
 * One entry per target. */
struct sass_jump {
	uint64_t from, to;
};

enum sass_wait_kind {
	SASS_WAIT_WRITE,    /* scoreboard: the producer's result was not yet there */
	SASS_WAIT_READ,	    /* scoreboard: the producer had not yet read its sources */
	SASS_WAIT_COUNT,    /* DEPBAR.LE on a scoreboard: all but the newest `count` */
	SASS_WAIT_GROUP,    /* DEPBAR.LE or a mask on a group of LDGSTS that LDGDEPBAR closed */
	SASS_WAIT_BULK,	    /* UTMACMDFLUSH and DEPBAR on bulk copies: UTMASTG, UBLKCP */
	SASS_WAIT_WGMMA,    /* WARPGROUP.DEPBAR: asynchronous matrix instructions */
	SASS_WAIT_MBARRIER, /* SYNCS try_wait: whatever arrives at mbarriers in this kernel */
	SASS_WAIT_BARRIER,  /* BAR: those that arrive at the same barrier, itself included */
	SASS_WAIT_STALL,    /* the stall count of the instruction issued before */
	SASS_WAIT_REGISTER, /* fixed latency: who wrote the registers that are read here */
	SASS_WAIT_KINDS
};

struct sass_wait {
	uint32_t waiter, producer; /* indices over the instructions of all texts, in order */
	uint8_t kind;		   /* enum sass_wait_kind */
	uint8_t scoreboard;	   /* 0 to 5, enum sass_counter otherwise */
};

enum sass_wait_flags {
	SASS_CUT = 1, /* more candidates than are listed, or a search ended by its bounds */
	SASS_UNKNOWN_PRODUCER = 2, /* waits for a scoreboard that nothing on any path raised */
};

struct sass_waits {
	uint32_t n_inst;
	const struct sass_inst *inst;
	const uint64_t *address;
	/* waits of instruction i: wait[first[i]] to wait[first[i + 1] - 1], by kind and producer */
	const uint32_t *first;
	const struct sass_wait *wait;
	const uint8_t *flags; /* by instruction: enum sass_wait_flags */
	uint32_t n_masks;     /* scoreboards waited for, counted over all instructions */
	uint32_t n_unknown;   /* part of n_masks without a producer on any path */
	uint32_t n_indirect;  /* indirect branches and calls without a known target */
};

/* `jumps` may be in any order. False on lack of memory. */
bool sass_waits_find(struct arena *a, unsigned sm, const struct sass_text *texts, size_t n_texts,
	const struct sass_jump *jumps, size_t n_jumps, struct sass_waits *out);

/* A sampler's reasons why a warp did not issue, grouped by the kind of producer they imply. */
enum sass_reason {
	SASS_REASON_LONG,  /* long_scoreboard: memory behind L1: global, local, texture, surface */
	SASS_REASON_SHORT, /* short_scoreboard: shared memory, special functions, shuffles */
	/* wait, branch_resolving, sleeping, membar: the instruction issued before */
	SASS_REASON_WAIT,
	SASS_REASON_BARRIER, /* barrier */
	SASS_REASON_GMMA,    /* gmma, warpgroup_arrive */
	SASS_REASON_OTHER,   /* reasons that imply a pipe but no producer */
};

/* Reason of a metric's word, "long_scoreboard" or "long_sb". */
enum sass_reason sass_reason_of(const char *word);

/* Finds what samples with that reason at instruction `inst` wait for. Fills at most `most` entries
 * of out and returns their number; 0: unknown, or a reason without a producer. Candidates that
 * cannot cause the reason are left out if others can. Samplers report a warp that waits in DEPBAR,
 * BAR or a warpgroup's wait at the instruction after it; then the waits of the earlier instruction
 * count. A producer that polls an mbarrier (SASS_TRY_WAIT) has waits of its own: the arrivals
 * there. */
size_t sass_blame(const struct sass_waits *w, uint32_t inst, enum sass_reason reason,
	struct sass_wait *out, size_t most);
