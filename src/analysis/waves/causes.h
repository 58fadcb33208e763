/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.h: why was each cycle spent? Every piece of the accounting gets exactly one cause, each
 * cause lies in one bucket and one family, so the causes of a bucket add up to the bucket.
 *
 *	issue	issue:<class>
 *	wait	wait:<producer key>, wait:(drained), barrier, sleep
 *	stall	nop-padding, nop-excess, pipe-stall:<class>
 *	idle	launch, gap:cross-pipe, gap:branch, gap:other, tail
 *	drain	drain
 *
 * With a busy union (busy.h) each cause also knows how much of it other waves of the SIMD covered.
 * Owner: causes_new() .. causes_free(); results are valid after walk_tracks() and causes_finish().
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/busy.h"
#include "analysis/waves/waits.h"

enum cause_kind {
	CAUSE_ISSUE,	  /* by class */
	CAUSE_PIPE_STALL, /* by class: pipe busy, register dependency or queue back-pressure */
	CAUSE_WAIT,	  /* by key; 0: (drained) */
	CAUSE_BARRIER,
	CAUSE_SLEEP,
	CAUSE_NOP_PADDING, /* the floor of s_nop: put there by the compiler for a hazard */
	CAUSE_NOP_EXCESS,  /* what an s_nop cost above its floor: contention */
	CAUSE_CROSS_PIPE,  /* gap after VALU before LDS, SALU or vector memory */
	CAUSE_BRANCH,	   /* gap after a taken branch: instruction fetch */
	CAUSE_GAP,	   /* any other gap between two records */
	CAUSE_LAUNCH,	   /* before the first record */
	CAUSE_TAIL,	   /* after the last record */
	CAUSE_DRAIN,	   /* end of program: outstanding stores */
	CAUSE_KINDS
};

enum cause_family {
	FAMILY_USEFUL,
	FAMILY_MEMORY,	   /* vector memory and its queue, LDS, drain */
	FAMILY_CROSS_LANE, /* ds_bpermute and its like */
	FAMILY_SCALAR,	   /* scalar memory, messages */
	FAMILY_SYNC,
	FAMILY_SCHEDULING, /* what the compiler inserted: nops, waits for nothing */
	FAMILY_PIPE,
	FAMILY_DEPENDENCY, /* cross-pipe gaps */
	FAMILY_FETCH,
	FAMILY_ARBITER,
	FAMILY_LAUNCH,
	FAMILY_COUNT
};
const char *family_name(enum cause_family f); /* "memory", "cross-lane", ... */

/* Causes of the gap before record i and of a stall of a class: the basic rules; pure. */
enum cause_kind cause_of_gap(const struct track_data *d, uint32_t i);
enum cause_kind cause_of_stall(enum inst_class c);	    /* NOP: cause of its floor */
enum cause_family cause_family_of_stall(enum inst_class c); /* CAUSE_PIPE_STALL */
/* key: for CAUSE_WAIT, else 0. */
enum cause_family cause_family_of(enum cause_kind kind, uint32_t key);

struct cause {
	enum cause_kind kind;
	enum inst_class inst_class; /* ISSUE, PIPE_STALL */
	uint32_t key;		    /* WAIT: see wait_key_put() */
	enum bucket bucket;
	enum cause_family family;
	const char *name; /* "wait:VMEM-load"; borrowed */
	uint64_t cyc;
	uint64_t hidden_cyc; /* part of cyc while another wave of the SIMD issued; 0 without a
				busy union */
	uint64_t hits;	     /* number of pieces; ISSUE: executed records */
	uint64_t free_hits;  /* WAIT: part of hits that had producers and did not block */
	uint64_t free_cyc;   /* cycles of free_hits: the floor of a wait */
};

struct cause_cell {	/* one cause on one code row */
	code_idx code;	/* NO_CODE: records that name no known row, waves without records */
	uint32_t cause; /* into causes.v */
	uint64_t cyc, hidden_cyc, hits;
};

struct family_sum {
	uint64_t cyc, hidden_cyc;
};

enum causes_want { CAUSES_ROWS = 1 }; /* fill cells */

struct causes {
	struct arena arena;
	const struct trace *trace;
	const struct busy *busy;
	struct wait_tables *tables;
	uint32_t *nop_floor_cyc; /* by code row */
	uint8_t *row_class;	 /* by code row: enum inst_class derived from its text */
	unsigned want;
	struct cause *v; /* descending by cycles, then by name; only those with hits or cycles */
	uint32_t n;
	struct cause_cell *cells; /* by code, then descending by cycles, then by cause */
	uint32_t n_cells;
	struct family_sum family[FAMILY_COUNT];
	uint64_t bucket[BUCKET_COUNT];
	uint64_t duration_cyc;
	int64_t residue_cyc; /* duration minus all causes; must be 0 */
	void *gather;	     /* private */
};

/* `busy` may be NULL; it must be finished before the walk. */
struct causes *causes_new(
	const struct trace *t, const struct busy *busy, unsigned want, struct incore_error *e);
void causes_free(struct causes *c);
struct collector causes_collector(struct causes *c);
bool causes_finish(struct causes *c, struct incore_error *e);

/* Floor of the row's s_nop: its own cost; anything above is nop-excess. */
static inline uint64_t cause_nop_floor(const struct causes *c, code_idx code)
{
	return code != NO_CODE && c->nop_floor_cyc[code] ? c->nop_floor_cyc[code]
							 : c->trace->meta.clock_quantum;
}

/* Cells of one row: *n of them from the pointer returned. */
const struct cause_cell *causes_of_row(const struct causes *c, code_idx code, uint32_t *n);
/* The row's largest cause that is not issue; NULL if it lost nothing. */
const struct cause_cell *causes_main_of_row(const struct causes *c, code_idx code);
