/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_internal.h: the machine state that the files of the engine share.
 *
 * The engine does not advance in time order: the time of an event is the maximum over the events it
 * depends on, so an op is timed once, as soon as these are known. A pipe whose head waits for a
 * flag not yet set keeps the entries after it in `pending`.
 */
#pragma once

#include "model/engine/engine.h"
#include "model/engine/races.h"
#include "trace/trace.h"

#define N_FLAG_IDS 8
#define N_XIDS 32
#define NO_FLAG 0xffff
#define BLOCK_CORES 3 /* AIC and two AIVs */

enum act { ACT_OP, ACT_SET, ACT_WAIT, ACT_BAR, ACT_XSET, ACT_XWAIT };

/* A form as the engine sees it, priced once. */
struct step {
	uint8_t kind; /* enum op_kind */
	uint8_t pipe;
	bool is_bad;   /* a flag that cannot exist */
	uint16_t flag; /* NO_FLAG: none */
	uint8_t xid;
	struct op_price price;
	uint64_t cold_cyc, hit_cyc; /* of each transfer that reads: from HBM, from L2 */
};

struct entry { /* something in a pipe's queue */
	uint64_t issue;
	uint64_t version; /* of the scalar clock of races at issue */
	uint32_t op;
	uint32_t slot; /* number in the queue; NO_OP: takes no slot */
	uint16_t flag;
	uint8_t act, part, xid;
};

struct pipe {
	uint64_t free;	    /* next op may start */
	uint64_t last_done; /* everything before it is complete by then */
	uint64_t port_free;
	uint64_t *done; /* of the last `depth` slots, UNKNOWN_CYC while not timed */
	uint32_t n_slots;
	uint32_t last_slice; /* that ended at last_done */
	VEC(struct entry) pending;
	size_t head;	   /* of pending */
	uint64_t wait_end; /* wait_cyc is counted up to here */
};

struct fired { /* a set whose wait has not come yet */
	uint64_t cyc;
	uint32_t lane, slice, op;
	struct race_clock clock;
};

struct flag {
	VEC(struct fired) fired;
	size_t head;
	uint32_t n_set, n_wait;
	uint32_t n_total; /* sets in the whole stream */
	uint64_t last_release;
	uint32_t last_set_op, last_wait_op;
};

struct xflag { /* sets are kept with the core that makes them */
	VEC(struct fired) fired;
	VEC(uint64_t) taken; /* when the waits of this core were released */
	uint32_t n_total[5]; /* sets in the whole stream, by mode */
};

enum block_kind { BLOCK_NONE, BLOCK_QUEUE, BLOCK_FLAG, BLOCK_X, BLOCK_ALL };

struct core {
	const struct opstream *s;
	struct timed_core *out;
	struct step *steps; /* by form */
	uint32_t index;	    /* of timed.cores */
	uint32_t at;	    /* in the block */
	uint32_t pc;
	uint32_t micro;			 /* of a FIFO op */
	const struct op_site *last_site; /* of the last op with a place in the source, or NULL */
	uint32_t last_form, loop_pc;	 /* of that op; the op (+ 1) whose loop is paid */
	bool is_paid;			 /* the issue cost of the current micro op is in t */
	bool is_done;
	uint64_t t;		       /* scalar clock */
	uint64_t run_start, run_stall; /* of the current PART_ISSUE slice; run_start == t: none */
	unsigned ready;		       /* bits: pipes whose flag has arrived */
	struct {
		enum block_kind kind;
		uint32_t pipe, flag, xid, op;
	} block;
	struct pipe pipes[ENGINE_PIPES];
	struct flag *flags;
	struct xflag x[N_XIDS];
	uint8_t *fetched;	  /* by site: its code has been executed */
	struct u64_map read;	  /* global memory read before, so now in L2 */
	unsigned fifo_lanes[256]; /* AIV lanes (bits) that use the FIFO of this flag id */
};

struct engine {
	const struct opstream_set *set;
	const struct engine_options *o;
	struct timed *out;
	struct incore_error *e;
	struct core cores[BLOCK_CORES];
	uint32_t n_cores;
	uint32_t depth;
	uint64_t flag_set, flag_wait, s_sync, s_op, s_loop, s_fetch, launch, hbm_lat;
	uint64_t share_e4;   /* HBM bandwidth per core, B/cyc x 10^4; 0: unlimited */
	bool is_stopped;     /* deadlock */
	struct races *races; /* or NULL */
};

/* --- engine_scalar.c --- */
/* Times what can be timed in all pipes of the core. *moved: set if anything was. */
bool engine_drain(struct engine *g, struct core *c, bool *moved);
/* Runs the front end as far as possible; *moved: set if it advanced. */
bool engine_scalar(struct engine *g, struct core *c, bool *moved);

/* --- engine.c --- */
/* Cost of one execution of a DMA op: latency and cycles of each of its transfers. */
bool memory_cost(struct engine *g, struct core *c, uint32_t op, uint64_t *lat, uint64_t *each);

/* --- findings.c --- */
/* A finding of one occurrence; the caller fills in the message. */
struct model_finding finding_make(
	enum finding_kind kind, const struct finding_op *a, const struct finding_op *b);
/* Adds to a finding of the same kind and places, or makes one (count 1; the caller fills in
 * the message, which is NULL). NULL: out of memory. */
struct model_finding *finding_add(struct timed *t, const struct opstream_set *set,
	enum finding_kind kind, const struct finding_op *a, const struct finding_op *b);
