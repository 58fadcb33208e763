/* SPDX-License-Identifier: Apache-2.0 */
/* why_internal.h: shared by the sweep (why_sweep.c), and the sums
 * (why.c). */
#pragma once

#include "analysis/why/why_rules.h"
#include "base/map.h"
#include "trace/account.h"

/* What a worker has gathered: parts by (row, cause, word, certainty) and the row to blame. */
struct why_gather {
	VEC(struct why_cell) cells;
	struct u64_map index; /* (row, row to blame) -> index of its last cell + 1; chained by
				 next */
	bool has_failed;
};
/* Adds to the cell with the same rows, cause and verdict. Latches failure. */
void why_gather_add(struct why_gather *g, const struct why_cell *c);

struct issue { /* a pipe is occupied in [start, end) */
	uint64_t start, end;
	track_idx track;
	code_idx code;
};

struct issue_list { /* sorted by start; entries that no wave can look back to are dropped */
	VEC(struct issue) list;
	uint64_t longest_cyc;
};

/* Pipes of which a SIMD has one each; another wave can keep a wave off one. */
enum why_port {
	PORT_VECTOR, /* VALU, TRANS, MATRIX */
	PORT_LDS,
	PORT_VMEM,
	PORT_SALU,
	PORT_SMEM,
	PORT_BRANCH,
	PORT_MATRIX, /* the matrix pipe behind PORT_VECTOR, busy for the modelled time */
	PORT_COUNT,
	PORT_NONE = PORT_COUNT
};

#define HISTORY                                                                                    \
	32u /* own instructions that can still hold something: about 30 issue within the longest
	       latency of the rules */

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
	struct account account; /* positioned on the record that issues next */
	struct busy_view view;
	struct past past[HISTORY];
	uint32_t n_past; /* total so far; the last HISTORY are kept */
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
	uint64_t *matrix_until;	  /* by SIMD: when its queue of matrix instructions is done */
	uint64_t *first_run;	  /* by code row: when a wave first ran it; UINT64_MAX: not yet */
	uint64_t last_vmem;	  /* issue of the last VMEM instruction; UINT64_MAX: none yet */
	uint64_t outstanding[WHY_QUEUES];
	VEC(struct lane *) alive;  /* a heap with the lane that issues next on top */
	VEC(struct lane *) unused; /* buffers to reuse */
	uint32_t n_since_drop;
};

static inline struct issue_list *sweep_port(
	const struct sweep *s, uint32_t simd, enum why_port port)
{
	return &s->ports[(size_t)simd * PORT_COUNT + port];
}

/* why_sweep.c: one compute unit, whose tracks are [first, end). */
bool why_sweep_unit(struct why *w, const struct selection *selection, const track_idx unit[2],
	struct why_gather *g, struct incore_error *e);
