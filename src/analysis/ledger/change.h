/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h: what a change takes away: a factor on each unit, on the queue and on the latency that
 * is left, for the favourable and for the unfavourable case; and what it would bring (ledger.h).
 */
#pragma once

#include "isa/rates.h"
#include "trace/trace.h"

#define LEDGER_PLACES 16u

enum ledger_change_id {
	CHANGE_COALESCE,
	CHANGE_GRID,
	CHANGE_TAIL,
	CHANGE_BANKS,
	CHANGE_SHARED_ATOMICS,
	CHANGE_CONSTANTS,
	CHANGE_LOCAL,
	CHANGE_ATOMICS,
	CHANGE_LANES,
	CHANGE_FP64,
	CHANGE_SPECIAL,
	CHANGE_INT_DIVISION,
	CHANGE_DIVISION,
	CHANGE_POWER,
	CHANGE_TREE,
	CHANGE_NEIGHBOURS,
	CHANGE_BARRIER,
	CHANGE_REUSE,
	CHANGE_TILE,
	CHANGE_TENSOR,
	CHANGE_RELOAD,
	CHANGE_NARROW,
	CHANGE_SMALL_BLOCKS,
	CHANGE_IN_FLIGHT,
	CHANGE_AHEAD,
	CHANGE_CHAIN,
	CHANGE_FENCE,
	CHANGE_FETCH,
	CHANGE_IDS
};

enum ledger_evidence {	    /* how sure a change's cause is; the surest first */
	LEDGER_CAUSE,	    /* a cause of its own: counted, nothing else explains it */
	LEDGER_WASTE,	    /* the waste is counted */
	LEDGER_PARALLELISM, /* work in parallel that the algorithm may not have */
};
#define LEDGER_EVIDENCE_CHOICES "cause|waste|parallelism"

struct ledger_effect { /* factors on what stands; 1: unchanged */
	double unit[MACHINE_UNITS];
	double queue, latency;
	double added_cyc; /* of work that moves to another unit */
};

struct ledger_change {
	enum ledger_change_id id;
	enum ledger_evidence evidence;
	const char *counted; /* the figures it rests on */
	const char *step;    /* the step that the figures are for: "4x4"; NULL: all of the waste */
	struct ledger_effect best, worst;
	code_idx rows[LEDGER_PLACES]; /* costliest first */
	uint32_t n_rows, n_found;
	bool is_of_waits;	/* its rows wait; the instruction to change is what they wait for */
	double gain;		/* share of the elapsed time saved, 0..1 */
	double least, most;	/* its interval; least may be below 0 */
	enum machine_unit next; /* the fullest unit afterwards; MACHINE_UNITS: none is known */
};

const char *ledger_change_code(enum ledger_change_id id);  /* a rule of advise: "bank-conflicts" */
const char *ledger_change_words(enum ledger_change_id id); /* what to do */
const char *ledger_evidence_name(enum ledger_evidence e);
