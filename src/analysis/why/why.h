/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why.h: the second level below a cause. The causes pipe-stall:*, nop-*, gap:*, launch and tail of
 * AMD waves say where a wave lost cycles; this says what it waited for there: a register that
 * another row had not delivered, a pipe held by its own earlier instruction, another wave, a full
 * memory queue, the fetch of the next instruction, or something unknown.
 *
 * Every cycle of such a cause is in exactly one part, so the parts of a cause add up to it, in
 * every wave: why_track.lump_cyc is counted by the accounting, its parts by the sweep.
 *
 * The waves of a compute unit are swept together in the order of time (why_sweep.c); what each rule
 * claims, and how certain it is, is described in why_rules.h and docs/why.md.
 *
 * Owner: why_new() .. why_free(); results are valid after why_run().
 */
#pragma once

#include "analysis/waves/causes.h"

enum why_word {
	WHY_REGISTER,	/* a register that row `of` writes was not ready */
	WHY_OWN_PIPE,	/* row `of` of the same wave still held the pipe or the path to it */
	WHY_OTHER_WAVE, /* row `of` of another wave of the SIMD issued on the pipe */
	WHY_OTHER_SIMD, /* the SIMDs of the compute unit took turns */
	WHY_QUEUE,	/* several memory instructions of this kind were outstanding */
	WHY_WAKE,	/* the memory pipe had been silent for long */
	WHY_FETCH,	/* the instruction had to be fetched */
	WHY_HAZARD,	/* padding that the compiler inserted for a hazard */
	WHY_LAUNCH,	/* from the launch of the wave to its first instruction */
	WHY_TAIL,	/* from its last instruction to its end */
	WHY_UNKNOWN,
	WHY_WORDS
};
#define WHY_WORD_CHOICES                                                                           \
	"register|own-pipe|other-wave|other-simd|queue|wake|fetch|hazard-padding|launch|tail|unknown"

enum why_sure {
	WHY_CERTAIN, /* seen in that cycle, or the loss ended in the cycle the rule predicts */
	WHY_LIKELY,  /* the rule applies, but was not seen to end the loss */
	WHY_WEAK,    /* only the circumstances of the rule hold */
	WHY_NONE,    /* unknown */
	WHY_SURES
};
#define WHY_SURE_CHOICES "certain|likely|weak|none"

const char *why_word_name(enum why_word w);
const char *why_sure_name(enum why_sure s);
/* Is it one of the causes that have parts? */
bool why_splits(enum cause_kind k);

struct why_cell { /* one part of one cause on one row */
	code_idx code;
	code_idx of; /* or NO_CODE */
	uint8_t kind, inst_class, word, sure;
	uint32_t next; /* private */
	uint64_t cyc, hidden_cyc, hits;
	uint64_t
		latency_cyc; /* REGISTER, OWN_PIPE: from the issue of `of` to that of `code`, summed */
};

struct why_track { /* figures of one wave */
	bool is_selected;
	uint64_t lump_cyc; /* cycles of the causes that have parts */
	uint64_t cyc[WHY_WORDS], hidden_cyc[WHY_WORDS];
	track_idx other; /* OTHER_WAVE: the wave that took most cycles, or NO_TRACK */
	uint64_t other_cyc;
};

struct why {
	const struct trace *trace;
	const struct busy *busy;
	const struct causes *causes;
	struct why_code *code;	  /* by code row; one more for unknown rows */
	struct why_track *tracks; /* by track */
	struct why_cell *cells;	  /* by code, cause, then descending by cycles */
	uint32_t n_cells;
	uint64_t lump_cyc, cyc[WHY_WORDS], hidden_cyc[WHY_WORDS];
	int64_t residue_cyc; /* sum over waves of |lump - parts|; must be 0 */
	uint32_t n_waves;
};

/* `busy` and `causes` must be finished and must outlive the result. */
struct why *why_new(const struct trace *t, const struct busy *busy, const struct causes *causes,
	struct incore_error *e);
void why_free(struct why *w);
/* Sweeps the compute units of the selected waves. May fail: memory, cancellation, or a wave that
 * cannot be read although `causes` could read it. Other unreadable waves are left out, as in
 * walk_tracks(), which reports them. */
bool why_run(struct why *w, const struct walk_options *o, struct incore_error *e);
