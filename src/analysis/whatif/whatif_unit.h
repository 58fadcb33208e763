/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_unit.h: the waves of one compute unit as a graph of constraints. Every record keeps its
 * own costs. A wait is an edge if a rule explains it; what no rule explains stays with the record
 * as measured:
 *
 *	ready	= end of the record before + gap
 *	plain	  not before the own record `back` before has held it for `hold`; then `rest` cycles
 *		  in which no other wave has the pipe
 *	wait	  not before each producer's issue + its latency
 *	barrier	  the last arrival of its meeting + `rest`
 *	wave	  the end of the wave before in its slot + the measured delay
 *
 * So an unchanged replay gives the measured times, except where constraints contradict them, and a
 * change moves whatever depends on it. Time is linear in the records, apart from sorting them.
 */
#pragma once

#include "analysis/waves/waits.h"
#include "analysis/whatif/whatif.h"
#include "analysis/why/why_rules.h"

#define NO_RECORD UINT32_MAX
#define DRAIN_FLOOR_CYC 16u /* what s_endpgm takes if nothing is outstanding, about */

enum record_kind { RECORD_PLAIN, RECORD_WAIT, RECORD_BARRIER, RECORD_DRAIN };

/* Pipes of which a SIMD has one each. */
enum unit_port {
	UNIT_VECTOR,
	UNIT_LDS,
	UNIT_VMEM,
	UNIT_SALU,
	UNIT_SMEM,
	UNIT_BRANCH,
	UNIT_MATRIX,
	UNIT_PORTS
};

struct unit_record {
	code_idx code;
	uint8_t inst_class, kind; /* enum record_kind */
	uint8_t port;		  /* enum unit_port; UNIT_PORTS: none */
	uint8_t back;		  /* distance to the earlier own record that holds it; 0: none */
	uint16_t hold_cyc;	  /* measured from the issue of that record */
	uint32_t wave;
	uint32_t gap_cyc, stall_cyc, cost_cyc;
	uint32_t taken_cyc;  /* how long it occupies its port, from its issue */
	uint32_t matrix_cyc; /* how long it occupies UNIT_MATRIX; 0: not used */
	int32_t rest_cyc;    /* plain, wait: unexplained stall; barrier: time after the last
				arrival */
	uint32_t first, n;   /* wait, drain: range in deps; barrier: first is its meeting */
	uint64_t issue, end; /* as measured */
};

struct unit_dep { /* a wait ends when the result of `producer` is there */
	uint32_t producer;
	uint32_t latency_cyc; /* from its issue, best estimate */
	uint32_t least_cyc, most_cyc;
	bool is_shared; /* goes through memory shared by the whole device */
};

struct unit_wave {
	track_idx track;
	uint32_t simd;	     /* within the unit */
	uint32_t first, n;   /* into records */
	uint32_t before;     /* previous wave in its slot, or NO_RECORD */
	uint64_t begin, end; /* as measured */
	int64_t tail_cyc;    /* from the end of its last record to the end of the wave */
};

struct unit {
	const struct trace *trace;
	uint32_t n_simds;
	uint32_t n_unread;	     /* tracks that could not be read */
	VEC(struct unit_wave) waves; /* in track order */
	VEC(struct unit_record) records;
	VEC(struct unit_dep) deps;
	VEC(uint32_t) meetings; /* number of waves that arrive at each */
	VEC(uint32_t) same;	/* by record: previous one of its row in its wave, or NO_RECORD */
	double coupling;	/* how far shared memory is limited by its queues, 0 to 1 */
	double fullness;	/* how far its queue is full: it takes nothing sooner, 0 to 1 */
};

/* Tables borrowed while units are read. */
struct unit_tables {
	const struct trace *trace;
	struct wait_tables *waits;
	struct why_code *code;
	const struct why_chip *chip;
	int simd_level, slot_level; /* indices of levels in the track tree */
};

/* Reads the waves of the tracks [at[0], at[1]). */
bool unit_load(struct unit *u, const struct unit_tables *x, const track_idx at[2], struct waits *w,
	struct incore_error *e);
void unit_deinit(struct unit *u);

/* Busy stretches of one port, in order. */
struct port_span {
	uint64_t start, end;
};
struct port_list {
	VEC(struct port_span) v;
};
/* The first cycle, from `at` on, by which `need` free cycles have passed and at which all ports are
 * free. */
uint64_t ports_place(const struct port_list *const *ports, unsigned n, uint64_t at, uint64_t need);

enum retime_bound {
	RETIME_LIKELY,
	RETIME_MOST,  /* upper bound of the gain: memory returns as early as it is requested */
	RETIME_LEAST, /* lower bound: device-shared memory returns when it did before */
};

struct retime {		       /* a timeline of the unit */
	uint64_t *issue, *end; /* by record */
	uint32_t *by;	       /* the record a wait or barrier waited for, or NO_RECORD */
	uint64_t *begin;       /* by wave */
	uint64_t *wave_end;
	uint32_t *after;	      /* by wave: the wave whose end let it begin, or NO_RECORD */
	uint64_t n_executed;	      /* of changed rows */
	uint64_t first_cyc, last_cyc; /* of all waves */
	struct machine *machine;      /* working memory, kept for the next run */
};
/* Replays the unit from its beginning. Zero *r before the first run; afterwards use it for this
 * unit only. */
bool retime_run(struct retime *r, const struct unit *u, const struct whatif_plan *p,
	enum retime_bound bound, struct incore_error *e);
void retime_deinit(struct retime *r);
static inline uint64_t retime_span(const struct retime *r)
{
	return r->last_cyc - r->first_cyc;
}

static inline const struct whatif_row *plan_row(const struct whatif_plan *p, code_idx code)
{
	return &p->rows[code < p->trace->n_code ? code : p->trace->n_code];
}
/* Cycles left after speeding `cyc` up; a multiple of the clock's quantum. */
uint64_t plan_scaled(const struct whatif_plan *p, uint32_t faster_milli, uint64_t cyc);
static inline uint64_t plan_cycles(const struct whatif_plan *p, code_idx code, uint64_t cyc)
{
	uint32_t k = plan_row(p, code)->faster_milli;

	return k == WHATIF_PLAIN ? cyc : plan_scaled(p, k, cyc);
}
