/* SPDX-License-Identifier: Apache-2.0 */
/* why_internal.h: what the sweep (why_sweep.c), its verdicts (why_piece.c) and the sums (why.c)
 * share. */
#pragma once

#include "analysis/why/why_rules.h"
#include "base/map.h"
#include "trace/account.h"

/* What a worker has gathered: parts by (row, cause, word, sureness) and the row to blame. */
struct why_gather {
	VEC(struct why_cell) cells;
	struct u64_map index; /* (row, row to blame) -> number of its last cell + 1; see next */
	bool has_failed;
};
/* Adds to the part of the same place and verdict. Latches failure. */
void why_gather_add(struct why_gather *g, const struct why_cell *c);

struct issue { /* a pipe is taken in [start, end) */
	uint64_t start, end;
	track_idx track;
	code_idx code;
};

struct issue_list { /* by start; what no wave can look back to is dropped */
	VEC(struct issue) list;
	uint64_t longest_cyc;
};

/* Pipes that one SIMD has one of; a wave that needs one can be kept off by another wave. */
enum why_port {
	PORT_VECTOR, /* VALU, TRANS, MATRIX */
	PORT_LDS,
	PORT_VMEM,
	PORT_SALU,
	PORT_SMEM,
	PORT_BRANCH,
	PORT_MATRIX, /* the matrix pipe behind PORT_VECTOR, for as long as it is modelled */
	PORT_COUNT,
	PORT_NONE = PORT_COUNT
};
enum why_port why_port_of(enum inst_class c);

#define HISTORY                                                                                    \
	32u /* own instructions that can still hold something: some 30 are issued in the
		       longest latency of the rules */

struct past { /* an instruction of the wave itself */
	uint64_t issue;
	code_idx code;
	uint8_t inst_class;
};

struct neighbour { /* how much another wave took from this one */
	track_idx track;
	uint64_t cyc;
};

struct lane { /* a wave that is being swept */
	track_idx track;
	uint32_t simd; /* within the compute unit */
	bool is_selected;
	struct track_data data;
	struct account account; /* stands on the record that issues next */
	struct busy_view view;
	struct past past[HISTORY];
	uint32_t n_past; /* ever; the last HISTORY are kept */
	uint32_t outstanding[WHY_QUEUES];
	struct why_track sums;
	VEC(struct neighbour) neighbours;
};

struct sweep { /* one compute unit */
	struct why *why;
	const struct why_chip *chip;
	struct why_gather *gather;
	uint32_t n_simds;
	struct issue_list *ports; /* n_simds x PORT_COUNT */
	uint64_t *matrix_until;	  /* by SIMD: when its line of matrix instructions is through */
	uint64_t *first_run;	  /* by code row: when a wave first ran it; UINT64_MAX: not yet */
	uint64_t last_vmem;	  /* issue of the last one; UINT64_MAX: none yet */
	uint64_t outstanding[WHY_QUEUES];
	VEC(struct lane *) alive;  /* a heap: the lane that issues next is the first */
	VEC(struct lane *) unused; /* buffers to use again */
	uint32_t n_since_drop;
};

static inline struct issue_list *sweep_port(
	const struct sweep *s, uint32_t simd, enum why_port port)
{
	return &s->ports[(size_t)simd * PORT_COUNT + port];
}

/* why_piece.c: the pieces of the record that the lane stands on become parts. */
void why_take_record(struct sweep *s, struct lane *l);
/* The one piece of a wave without records. */
void why_take_empty(struct sweep *s, struct lane *l);
/* why_sweep.c: one compute unit, whose tracks are [first, end). */
bool why_sweep_unit(struct why *w, const struct selection *selection, const track_idx unit[2],
	struct why_gather *g, struct incore_error *e);
