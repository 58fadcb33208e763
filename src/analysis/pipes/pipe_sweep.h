/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe_sweep.h: the conserved accounting of one pipe (a lane whose instructions may be in flight
 * together), the counterpart of account.h. Each cycle of the pipe's span, cut to the window, is in
 * exactly one piece, the first that applies:
 *
 *	issue	inside an instruction's slice; where several are in flight, the oldest owns it
 *	wait	inside a flag wait, buffer wait or barrier; of several, the one that ends last
 *	stall	inside the head cost of an instruction or wait (cache miss, issue queue)
 *	idle	the rest before the end of the last slice; like drain it has no owner
 *	drain	after that
 *
 * The cycle of a flag set is idle, and so is a barrier of one or two cycles, which is all that
 * trace.json shows of it.
 * Owner: the caller zeroes a struct pipe_sweep, uses it for any number of pipes, frees it.
 */
#pragma once

#include "analysis/walk.h"
#include "base/vec.h"

/* Length that trace.json shows for a barrier, however long it really took. */
#define PIPE_BARRIER_SHOWN_CYC 2u

enum pipe_kind { /* what a slice means to its pipe */
	KIND_WORK,
	KIND_CONFIG, /* work that only sets registers up */
	KIND_SET,
	KIND_WAIT,
	KIND_BUFFER,
	KIND_BARRIER,
	KIND_NOTHING, /* released buffers, no-operations: neither work nor wait */
};

static inline bool pipe_kind_is_work(enum pipe_kind k)
{
	return k <= KIND_CONFIG;
}

static inline bool pipe_kind_is_wait(enum pipe_kind k)
{
	return k == KIND_WAIT || k == KIND_BUFFER || k == KIND_BARRIER;
}

enum pipe_role {      /* what a lane is for */
	ROLE_COMPUTE, /* cube, vector units */
	ROLE_MOVE,    /* transfer engines */
	ROLE_OTHER,   /* an unknown lane: treated as work */
	ROLE_CONTROL, /* scalar unit, flow control */
	ROLE_MARK,    /* cache misses, user ranges: not a unit of the machine */
};

/* Lanes that do the kernel's work. */
static inline bool pipe_role_is_work(enum pipe_role r)
{
	return r <= ROLE_OTHER;
}

/* Lane name of a track: "MTE2" of "core0.veccore1/MTE2"; core name: the part before the slash. */
const char *pipe_lane_name(const struct track *k);
struct str pipe_core_name(const struct track *k);
enum pipe_role pipe_role(const struct track *k);
/* Kinds by code row, with one more entry for unknown rows; NULL on lack of memory. Free with
 * mem_free(). */
uint8_t *pipe_kinds_new(const struct trace *t);
/* The kind of slice i. */
static inline enum pipe_kind pipe_kind_of(
	const uint8_t *kinds, const struct trace *t, const struct track_data *d, uint32_t i)
{
	return (enum pipe_kind)kinds[d->code[i] < t->n_code ? d->code[i] : t->n_code];
}

#define NO_SLICE UINT32_MAX

struct pipe_piece {
	enum bucket bucket;
	uint32_t slice; /* its owner, or NO_SLICE */
	uint64_t from_cyc, to_cyc;
};

typedef bool (*pipe_piece_fn)(void *ctx, const struct pipe_piece *p);

struct pipe_span {
	uint64_t from_cyc, to_cyc;
	uint32_t slice;
};

struct pipe_sweep {
	VEC(struct pipe_span) work, wait, head; /* disjoint, in order of time, after the sweep */
	uint64_t lo, hi;			/* the pipe's span inside the window */
	uint64_t last_cyc;			/* end of the last slice, at most hi */
};

/* Calls fn for each piece in order of time; fn returns false on lack of memory. */
bool pipe_sweep_track(struct pipe_sweep *s, const struct walk_track *w, const uint8_t *kinds,
	pipe_piece_fn fn, void *ctx, struct incore_error *e);
void pipe_sweep_deinit(struct pipe_sweep *s);
