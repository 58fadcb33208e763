/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h: turns op streams into timed slices. Each core has one scalar front end in program order
 * and in-order pipes with queues; flags, barriers, cross-core counters and FIFOs synchronise them.
 * Times are integer cycles; every duration comes from price.h. The streams of a block share one
 * clock that begins at 0; blocks are timed independently.
 *
 * Findings follow from the streams alone, independent of the times: waits without a set, flags left
 * set, deadlock, and races (races.h). Only "double set" looks at the estimated times.
 *
 * Owner: timed_deinit(). The set and the profile must outlive the result. May fail: on memory, and
 * (status 3) on an op the model does not know unless allow_unknown. A deadlock is a result, not a
 * failure: is_complete is false. Threads: pure except for *out.
 */
#pragma once

#include "base/note.h"
#include "model/profile/price.h"
#include "model/stream/opstream.h"

#define ENGINE_PIPES 8 /* by enum op_pipe; OPP_ALL is never used */
#define ENGINE_FINDINGS 1000
#define NO_OP UINT32_MAX
#define NO_SLICE UINT32_MAX

struct engine_options {
	const struct profile *profile;
	bool keep_slices; /* else only sums: faster, no trace */
	bool find_races;
	bool allow_unknown; /* ops that are not in the table get the default price, marked */
	/* Load of the memory in thousandths of a core. active: cores that run this kernel at once,
	 * this one included (0: alone). others: cores of other kernels, counted as cores that
	 * always transfer. */
	uint32_t active_permille, others_permille;
	/* By slot, how much of the data read for the first time comes from HBM (the rest is in L2);
	 * NULL: all. */
	const uint16_t *cold_permille;
};

enum slice_part {
	PART_OP = 0,   /* the op as a whole */
	PART_MOVE = 1, /* the transfer of a PUSH or POP */
	PART_XSET = 2, /* the flags that it implies */
	PART_XWAIT = 3,
	PART_ISSUE = 4, /* scalar: a sequence of ops issued to pipes; no op */
	PART_END = 5,	/* scalar: waiting for all pipes at the end of the kernel; no op */
};

struct timed_slice {
	uint64_t start;
	uint32_t dur;	/* total, stall included; clamped to 32 bits */
	uint32_t stall; /* scalar, at its start: blocked by a full queue */
	uint32_t op;	/* in its stream, or NO_OP */
	uint8_t part;	/* enum slice_part */
	uint8_t is_sync;
	uint8_t reserved[2];
};

struct timed_lane {			/* one pipe of one core instance */
	VEC(struct timed_slice) slices; /* in the order of the queue: starts may be out of order */
	uint64_t busy_cyc;		/* union of its instructions without synchronisation */
	uint64_t wait_cyc;  /* not busy and inside a flag wait, cross-core wait or barrier */
	uint64_t stall_cyc; /* scalar: blocked by a full queue */
	uint64_t n_ops;
	uint64_t busy_end; /* of the last instruction so far */
	uint8_t status;	   /* enum prof_status: worst of the constants used */
};

struct timed_core {
	uint32_t stream; /* in the set */
	uint32_t block;
	uint64_t end_cyc;
	bool is_complete;
	uint64_t memory_cyc; /* HBM time it used: reads that miss L2, and writes */
	struct timed_lane lanes[ENGINE_PIPES];
};

struct timed_link { /* lane = core * ENGINE_PIPES + pipe */
	uint32_t from_lane, from_slice, to_lane, to_slice;
	uint8_t kind; /* enum link_kind of trace.h */
};

enum finding_kind {
	FIND_RACE,
	FIND_DEADLOCK,
	FIND_UNMATCHED_WAIT,
	FIND_DOUBLE_SET,
	FIND_LEFT_SET,
	FIND_BAD_FLAG,
	FIND_COUNTER_FULL,
	FIND_NO_BARRIER,   /* an op of the vector pipe may overtake one it depends on */
	FIND_BLOCKS_SHARE, /* note: blocks touch the same global memory, one writes */
	FIND_COUNT
};
#define FINDING_WORDS                                                                              \
	"race|deadlock|unmatched-wait|double-set|flag-left-set|bad-flag|counter-full|"             \
	"missing-barrier|blocks-share-memory"

struct finding_op {	     /* one side of a finding */
	uint32_t stream, op; /* NO_OP: none */
	uint8_t pipe;	     /* enum op_pipe */
};

struct model_finding {
	enum finding_kind kind;
	struct note note;	/* its code, its weight, the whole finding in one line; the count is
				   how often it occurred at the same places */
	struct finding_op a, b; /* b: the later one in program order, if there are two */
	/* races and shared memory */
	const char *hazard;	       /* "RAW", "WAR", "WAW", or NULL */
	const char *buffer;	       /* "UB of aiv0", "GM slot 2" */
	uint64_t first_byte, end_byte; /* common to both: [first, end) */
	const char *missing;	       /* the edge that would order them, or NULL */
	uint32_t n_lines;
	const char **lines; /* deadlock: who waits for whom, then the cycle */
};

struct timed {
	struct arena arena;	      /* of the findings */
	VEC(struct timed_core) cores; /* in the order of the set */
	VEC(struct timed_link) links;
	VEC(struct model_finding)
	findings; /* in the order they were found; blocks one after the other */
	bool is_complete;
	bool has_load;	    /* other cores share the memory */
	const char *reason; /* why not, or NULL */
	uint64_t n_ops, n_fallback, n_unknown, n_external;
	uint64_t n_unchecked;	   /* operands too fragmented or large for the race check */
	uint64_t n_more;	   /* findings beyond the first ENGINE_FINDINGS */
	struct model_finding more; /* collects them */
	uint64_t n_clamped;	   /* slices longer than 32 bits of cycles */
};

bool engine_run(const struct opstream_set *set, const struct engine_options *o, struct timed *out,
	struct incore_error *e);
void timed_deinit(struct timed *t);
/* "TADD (seq 12, k.cpp:34, V, aiv0)" */
bool finding_put_op(const struct opstream_set *set, const struct finding_op *o, struct strbuf *out);
