/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_unit.h: the waves of one compute unit as a graph of constraints. Every record keeps its own
 * costs; what it waited for is an edge where a rule explains it, and what no rule explains stays
 * with it as measured:
 *
 *	ready	= end of the record before + gap
 *	plain	  not before the own record `back` before has held it for `hold`; then `rest` cycles
 *		  in which no other wave has the pipe
 *	wait	  not before each producer's issue + its latency
 *	barrier	  the last arrival of its meeting + `rest`
 *	wave	  the end of the wave before in its slot + the measured delay
 *
 * So nothing changed gives the measured times, except where constraints contradict them, and a
 * change moves what depends on it. Linear in the records, but for sorting them by time.
 */
#pragma once

#include "analysis/waves/waits.h"
#include "analysis/whatif/whatif.h"
#include "analysis/why/why_rules.h"

#define NO_RECORD UINT32_MAX
#define DRAIN_FLOOR_CYC 16u /* s_endpgm takes about so long where nothing is on its way */

enum record_kind { RECORD_PLAIN, RECORD_WAIT, RECORD_BARRIER, RECORD_DRAIN };

/* Pipes that one SIMD has one of. */
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
	uint8_t back;		  /* own record so many before holds it; 0: none */
	uint16_t hold_cyc;	  /* from that one's issue */
	uint32_t wave;
	uint32_t gap_cyc, stall_cyc, cost_cyc;
	uint32_t taken_cyc;  /* its port is taken from its issue on */
	uint32_t matrix_cyc; /* the same of UNIT_MATRIX; 0: it does not use it */
	int32_t rest_cyc;    /* plain, wait: stall that nothing explains; barrier: after the last */
	uint32_t first, n;   /* wait, drain: into deps; barrier: first is its meeting */
	uint64_t issue, end; /* as measured */
};

struct unit_dep { /* a wait ends when the result of `producer` is there */
	uint32_t producer;
	uint32_t latency_cyc; /* from its issue, as likely as we know */
	uint32_t least_cyc, most_cyc;
	bool is_shared; /* through memory that the whole device shares */
};

struct unit_wave {
	track_idx track;
	uint32_t simd;	     /* within the unit */
	uint32_t first, n;   /* into records */
	uint32_t before;     /* the wave before in its slot; NO_RECORD: none */
	uint64_t begin, end; /* as measured */
	int64_t tail_cyc;    /* from the end of its last record to its own */
};

struct unit {
	const struct trace *trace;
	uint32_t n_simds;
	uint32_t n_unread;	     /* tracks that could not be read */
	VEC(struct unit_wave) waves; /* in track order */
	VEC(struct unit_record) records;
	VEC(struct unit_dep) deps;
	VEC(uint32_t) meetings; /* how many come to each */
	VEC(uint32_t) same;	/* by record: the last of its row in its wave before; NO_RECORD */
	double coupling;	/* how far shared memory is bound by its queues: 0 to 1 */
};

/* What is borrowed while units are read. */
struct unit_tables {
	const struct trace *trace;
	struct wait_tables *waits;
	struct why_code *code;
	const struct why_chip *chip;
	int simd_level, slot_level; /* of the track tree */
};

/* Reads the waves [first, end). */
bool unit_load(struct unit *u, const struct unit_tables *x, const track_idx at[2], struct waits *w,
	struct incore_error *e);
void unit_deinit(struct unit *u);
/* whatif_edges.c: ports, holds and rests of the records; meetings; slots. */
bool unit_link(struct unit *u, const struct unit_tables *x, struct incore_error *e);

/* Busy stretches of one port, in order. */
struct port_span {
	uint64_t start, end;
};
struct port_list {
	VEC(struct port_span) v;
};
/* The first cycle from `at` on where `need` free cycles have passed and all ports are free. */
uint64_t ports_place(const struct port_list *const *ports, unsigned n, uint64_t at, uint64_t need);

enum retime_bound {
	RETIME_LIKELY,
	RETIME_MOST,  /* the most that can be gained: memory comes as early as it is asked */
	RETIME_LEAST, /* memory that the device shares comes when it came */
};

struct retime {		       /* a timeline of the unit */
	uint64_t *issue, *end; /* by record */
	uint32_t *by;	       /* the record that a wait or barrier was for; NO_RECORD: none */
	uint64_t *begin;       /* by wave */
	uint64_t *wave_end;
	uint32_t *after;	      /* by wave: the wave whose end it began after; NO_RECORD */
	uint64_t n_executed;	      /* of changed rows */
	uint64_t first_cyc, last_cyc; /* of all waves */
	struct machine *machine;      /* what a run needs, kept for the next */
};
/* Runs the unit from its beginning. *r is zeroed before the first run, and belongs to the unit then. */
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
/* Cycles that are left of a change; kept to the clock's quantum. */
uint64_t plan_scaled(const struct whatif_plan *p, uint32_t faster_milli, uint64_t cyc);
static inline uint64_t plan_cycles(const struct whatif_plan *p, code_idx code, uint64_t cyc)
{
	uint32_t k = plan_row(p, code)->faster_milli;

	return k == WHATIF_PLAIN ? cyc : plan_scaled(p, k, cyc);
}
